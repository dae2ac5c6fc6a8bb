import type { z } from "zod";
import type { ErasureAnswer, ErasureBody } from "#content/contract/onboarding.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import {
  correctionById,
  decidedBy,
  eraseCorrectionContacts,
  hasCorrection,
  isCorrection,
  isCorrectionFrom,
  waitingCorrectionsFrom,
} from "./store.ts";
import { eraseSentContact, waitingContacts } from "#content/enrichment/erase-store.ts";
import {
  contactKeptMs,
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

/** Erases the contacts of requests that were rejected, and of corrections that were decided, 90 days ago. Answers how many, at most 1,000. */
export async function eraseOldContacts(store: Store, now: Date): Promise<number> {
  const erasing = { by: clockName, at: now.getTime() };
  const requests = erasableBy(now);
  const corrections = decidedBy(now.getTime() - contactKeptMs);
  let erased = 0;
  // Nearly always there is none: then no one waits for the write lock.
  if (await hasRequest(store, requests)) {
    erased += (await store.write((tx) => eraseContacts(tx, requests, erasing))).length;
  }
  if (await hasCorrection(store, corrections)) {
    erased += (await store.write((tx) => eraseCorrectionContacts(tx, corrections, erasing))).length;
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
    const erased = await store.write(async (tx) => [
      ...(await eraseContacts(tx, isFrom(email), erasing)).map(named),
      ...(await eraseCorrectionContacts(tx, isCorrectionFrom(email), erasing)).map(namedCorrection),
      ...(await eraseSentContact(tx, email)),
    ]);
    const waiting = [
      ...(await waitingFrom(store, email)).map(named),
      ...(await waitingCorrectionsFrom(store, email)).map(namedCorrection),
      ...(await waitingContacts(store, email)),
    ];
    return ok({ erased, waiting, profiles: await profilesWithContact(store, email) });
  }
  const [, kind = "", id = ""] = /^([a-z]+)-(.+)$/.exec(review ?? "") ?? [];
  const ofRequest = kind === "onboarding";
  const one = ofRequest ? await onboardingById(store, id) : await correctionById(store, id);
  if (one === null) return fail({ kind: "review_not_found", id: review ?? "" });
  const erased = await store.write((tx) =>
    ofRequest
      ? eraseContacts(tx, isRequest(id), erasing)
      : eraseCorrectionContacts(tx, isCorrection(id), erasing),
  );
  const waiting = one.status === "pending_review" ? [review ?? ""] : [];
  return ok({ erased: erased.map(ofRequest ? named : namedCorrection), waiting, profiles: [] });
}

const named = (id: string): string => `onboarding-${id}`;
const namedCorrection = (id: string): string => `correction-${id}`;
