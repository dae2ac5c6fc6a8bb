import { expireCorrections } from "#content/correction/store.ts";
import { expireSubmissions } from "#content/enrichment/review-store.ts";
import { expireOnboardings } from "#content/onboarding/store.ts";
import { expireDrafts } from "#content/recommendation/draft-store.ts";
import type { OperatorWorld } from "./world.ts";

export const waitingDaysMax = 180;
const dayMs = 86_400_000;
/** A short transaction, so that requests go on being answered. */
const perTransaction = 200;

/**
 * Rejects what has waited for 180 days, with the reason "expired": submissions, drafts, requests of organisations and corrections. Answers
 * how many these were. Safe to repeat; called every hour.
 */
export async function expireWaiting({
  store,
  clock,
}: Pick<OperatorWorld, "store" | "clock">): Promise<number> {
  let expired = 0;
  for (const expire of [expireSubmissions, expireDrafts, expireOnboardings, expireCorrections]) {
    let count = perTransaction;
    while (count === perTransaction) {
      const at = clock().getTime();
      const old = { before: at - waitingDaysMax * dayMs, at, limit: perTransaction };
      count = await store.write((tx) => expire(tx, old));
      expired += count;
    }
  }
  return expired;
}
