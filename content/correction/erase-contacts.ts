import type { z } from "zod";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { eraseSentContact, waitingContacts } from "#content/enrichment/erase-store.ts";
import { profilesWithContact } from "#content/onboarding/store.ts";
import { clockName } from "#content/onboarding/wallet-hold-store.ts";
import type { Store } from "#content/store/open.ts";
import {
  eraseContacts,
  isOldContact,
  isSentAs,
  isSentFrom,
  sentKinds,
  statusOfSent,
  waitingSent,
} from "./retention-store.ts";

/** Erases the contacts of requests that were rejected, and of corrections that were decided, 90 days ago. Answers how many, at most 1,000. */
export async function eraseOldContacts(store: Store, now: Date): Promise<number> {
  const erasing = { by: clockName, at: now.getTime() };
  let erased = 0;
  for (const kind of sentKinds) {
    const isOld = isOldContact(kind, now);
    // Nearly always there is none: then no one waits for the write lock.
    if ((await statusOfSent(store, kind, isOld)) === null) continue;
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
      for (const kind of sentKinds) {
        names.push(...(await eraseContacts(tx, kind, isSentFrom(kind, email), erasing)));
      }
      return [...names, ...(await eraseSentContact(tx, email))];
    });
    const waiting: string[] = [];
    for (const kind of sentKinds) {
      waiting.push(...(await waitingSent(store, kind, isSentFrom(kind, email))));
    }
    waiting.push(...(await waitingContacts(store, email)));
    return ok({ erased, waiting, profiles: await profilesWithContact(store, email) });
  }
  const [, name, id = ""] = /^([a-z]+)-(.+)$/.exec(review ?? "") ?? [];
  const kind = name === "onboarding" ? name : "correction";
  const which = isSentAs(kind, id);
  const status = await statusOfSent(store, kind, which);
  if (status === null) return fail({ kind: "review_not_found", id: review ?? "" });
  const erased = await store.write((tx) => eraseContacts(tx, kind, which, erasing));
  return ok({ erased, waiting: status === "pending_review" ? [review ?? ""] : [], profiles: [] });
}
