import { isoTime } from "#content/contract/time.ts";
import type { FoundReview } from "#content/contract/review.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Queryable } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import {
  closeHold,
  holdById,
  holdQueue,
  holdsWaiting,
  logWallet,
  applyDueHolds,
  type WalletHold,
} from "#content/onboarding/wallet-hold-store.ts";
import { type ReviewQueue, type ReviewFailure, placeIn, placeOf } from "./review-queue.ts";

/** Approved changes of a wallet that wait before they take effect: rejecting one stops it, time alone lets it pass. */
export const holdReviews: ReviewQueue = {
  list: async (store, { after, limit, now }) => {
    const found = await holdQueue(store, { after: placeIn(after), limit });
    return found.map((hold) => itemOf(hold, now));
  },

  find: async (store, key, now) => {
    const waiting = await waitingHold(store, key);
    return waiting.ok ? itemOf(waiting.value, now) : null;
  },

  count: holdsWaiting,

  approve: async (tx, { key, now }) => {
    const waiting = await settledHold(tx, key, now);
    if (!waiting.ok) return waiting;
    const message = `A hold cannot be shortened: this wallet takes effect at ${isoTime(waiting.value.effective_at)} by itself. Rejecting stops it.`;
    return fail({ kind: "review_conflict", message });
  },

  reject: async (tx, { key, reason, operator: by, now }) => {
    const waiting = await settledHold(tx, key, now);
    if (!waiting.ok) return waiting;
    const hold = waiting.value;
    const at = now.getTime();
    await closeHold(tx, hold, { status: "stopped", reason, by, at });
    await logWallet(tx, "wallet.stopped", hold, { slug: hold.slug, by, at });
    return ok({
      slug: hold.slug,
      sequence: null,
      message: "The change is stopped: the wallet stays as it is.",
    });
  },
};

type Named = WalletHold & { slug: string; name: string };

/** A hold that ends at this instant has ended: what is due takes effect before anybody can stop it. */
async function settledHold(tx: Parameters<ReviewQueue["approve"]>[0], key: string, now: Date) {
  const waiting = await waitingHold(tx, key);
  if (!waiting.ok || waiting.value.effective_at > now.getTime()) return waiting;
  await applyDueHolds(tx, now, waiting.value.nonprofit_id);
  return waitingHold(tx, key);
}

async function waitingHold(store: Queryable, key: string): Promise<Result<Named, ReviewFailure>> {
  const notFound = fail({ kind: "review_not_found", id: `hold-${key}` } as const);
  const hold = /^[\da-f]{1,64}$/.test(key) ? await holdById(store, key) : null;
  if (hold === null) return notFound;
  if (hold.status !== "held") {
    return fail({ kind: "review_decided", status: hold.status.replace("_", " ") });
  }
  const [record] = await recordsById(store, [hold.nonprofit_id], { summaries: true });
  return record === undefined ? notFound : ok({ ...hold, slug: record.slug, name: record.name });
}

const itemOf = (hold: Named, now: Date): FoundReview => ({
  id: `hold-${hold.submission_id}`,
  kind: "hold",
  slug: hold.slug,
  name: hold.name,
  summary: `A changed wallet takes effect at ${isoTime(hold.effective_at)} by itself. Rejecting stops it; approving does nothing.`,
  detail: {
    wallet_before: hold.wallet_before,
    wallet: hold.wallet,
    wallet_proof:
      hold.wallet_challenge === null
        ? null
        : { challenge: hold.wallet_challenge, signature: hold.wallet_signature },
    submission_id: hold.submission_id,
    approved_by: hold.approved_by,
    approved_at: isoTime(hold.approved_at),
    takes_effect_at: isoTime(hold.effective_at),
    hours_left: Math.max(0, Math.ceil((hold.effective_at - now.getTime()) / hourMs)),
  },
  comparison: [{ field: "usdc_wallet", before: hold.wallet_before, after: hold.wallet }],
  checks: [
    hold.wallet_signature === null
      ? {
          name: "signature",
          outcome: "noted",
          message: "Nothing proves that the organisation controls the new wallet.",
        }
      : {
          name: "signature",
          outcome: "passed",
          message: "The new wallet signed our challenge.",
        },
  ],
  cursor: placeOf(hold.effective_at, hold.submission_id),
  created_at: isoTime(hold.approved_at),
});

const hourMs = 3_600_000;
