import type { z } from "zod";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { profilesWithContact } from "#content/onboarding/store.ts";
import { clockName } from "#content/onboarding/wallet-hold-store.ts";
import type { Store } from "#content/store/open.ts";
import {
  eraseContacts,
  eraseSentContact,
  isOldContact,
  isRequest,
  isRequestFrom,
  requestKinds,
  statusOf,
  waitingContacts,
  waitingRequests,
} from "./request-store.ts";

/** Erases the contacts of requests that were rejected, and of corrections that were decided, 90 days ago. Answers how many, at most 1,000. */
export async function eraseOldContacts(store: Store, now: Date): Promise<number> {
  const erasing = { by: clockName, at: now.getTime() };
  let erased = 0;
  for (const kind of requestKinds) {
    const isOld = isOldContact(kind, now);
    // Nearly always there is none: then no one waits for the write lock.
    if ((await statusOf(store, kind, isOld)) === null) continue;
    erased += (await store.write((tx) => eraseContacts(tx, kind, isOld, erasing))).length;
  }
  return erased;
}

/** Erases the contact of one request or correction, or of all from an address, at once; those that wait keep theirs. */
export async function eraseContactsOf(
  { store, clock }: { store: Store; clock: Clock },
  { review, email, operator }: z.output<typeof ErasureBody> & { operator: string },
): Promise<Result<ErasureAnswer, { kind: "review_not_found"; id: string }>> {
  const erasing = { by: operator, at: clock().getTime() };
  if (typeof email === "string") {
    const erased = await store.write(async (tx) => {
      const names: string[] = [];
      for (const kind of requestKinds) {
        names.push(...(await eraseContacts(tx, kind, isRequestFrom(kind, email), erasing)));
      }
      return [...names, ...(await eraseSentContact(tx, email))];
    });
    const waiting: string[] = [];
    for (const kind of requestKinds) {
      waiting.push(...(await waitingRequests(store, kind, isRequestFrom(kind, email))));
    }
    waiting.push(...(await waitingContacts(store, email)));
    return ok({ erased, waiting, profiles: await profilesWithContact(store, email) });
  }
  const [, name, id = ""] = /^([a-z]+)-(.+)$/.exec(review ?? "") ?? [];
  const kind = name === "onboarding" ? name : "correction";
  const which = isRequest(kind, id);
  const status = await statusOf(store, kind, which);
  if (status === null) return fail({ kind: "review_not_found", id: review ?? "" });
  const erased = await store.write((tx) => eraseContacts(tx, kind, which, erasing));
  return ok({ erased, waiting: status === "pending_review" ? [review ?? ""] : [], profiles: [] });
}
