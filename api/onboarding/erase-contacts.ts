import type { z } from "zod";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Clock } from "#content/contract/time.ts";
import {
  eraseContacts,
  erasableBy,
  hasRequest,
  isFrom,
  isRequest,
  onboardingById,
  profilesWithContact,
  waitingFrom,
} from "#content/onboarding/store.ts";
import { clockName } from "#content/onboarding/wallet-hold-store.ts";
import type { Store } from "#content/store/open.ts";

/** Erases the contacts of requests that were rejected 90 days ago. Answers how many, at most 500. */
export async function eraseOldContacts(store: Store, now: Date): Promise<number> {
  const erasable = erasableBy(now);
  // Nearly always there is none: then no one waits for the write lock.
  if (!(await hasRequest(store, erasable))) return 0;
  const erasing = { by: clockName, at: now.getTime() };
  return (await store.write((tx) => eraseContacts(tx, erasable, erasing))).length;
}

/** Erases the contact of one request, or of all from an address, at once; requests that wait keep theirs. */
export async function eraseContactsOf(
  { store, clock }: { store: Store; clock: Clock },
  { review, email, operator }: z.output<typeof ErasureBody> & { operator: string },
): Promise<Result<ErasureAnswer, { kind: "review_not_found"; id: string }>> {
  const erasing = { by: operator, at: clock().getTime() };
  if (typeof email === "string") {
    const erased = await store.write((tx) => eraseContacts(tx, isFrom(email), erasing));
    const waiting = (await waitingFrom(store, email)).map(named);
    return ok({
      erased: erased.map(named),
      waiting,
      profiles: await profilesWithContact(store, email),
    });
  }
  const id = review ?? "";
  const one = await onboardingById(store, id.replace("onboarding-", ""));
  if (one === null) return fail({ kind: "review_not_found", id });
  const erased = await store.write((tx) => eraseContacts(tx, isRequest(one.id), erasing));
  const waiting = one.status === "pending_review" ? [id] : [];
  return ok({ erased: erased.map(named), waiting, profiles: [] });
}

const named = (id: string): string => `onboarding-${id}`;
