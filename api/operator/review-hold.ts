import { fail, ok } from "#content/contract/result.ts";
import { isoTime } from "#content/contract/time.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import {
  applyDueHolds,
  closeHold,
  holdById,
  holdQueue,
  holdsWaiting,
  logWallet,
  type WalletHold,
} from "#content/onboarding/wallet-hold-store.ts";
import { hexKey, instantAt, openQueue } from "./open-queue.ts";

const hourMs = 3_600_000;

/** Approved changes of a wallet that wait before they take effect: rejecting one stops it, time alone lets it pass. */
export const holdReviews = openQueue<WalletHold & { slug: string; name: string }>({
  kind: "hold",
  key: hexKey,
  count: holdsWaiting,
  page: (store, { after, limit }) => holdQueue(store, { after: instantAt(after), limit }),

  find: async (store, key) => {
    const hold = await holdById(store, key);
    if (hold === null) return null;
    if (hold.status !== "held") {
      return fail({ kind: "review_decided", status: hold.status.replace("_", " ") });
    }
    const [record] = await recordsById(store, [hold.nonprofit_id], { summaries: true });
    return record === undefined ? null : ok({ ...hold, slug: record.slug, name: record.name });
  },

  item: (_, hold, now) => ({
    key: hold.submission_id,
    place: `${hold.effective_at}.${hold.submission_id}`,
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
        : { name: "signature", outcome: "passed", message: "The new wallet signed our challenge." },
    ],
    created_at: hold.approved_at,
  }),

  /** A hold that ends at this instant has ended: what is due takes effect before anyone can stop it. */
  applyDue: async (tx, _, { key, now }) => {
    const hold = await holdById(tx, key);
    if (hold?.status === "held") await applyDueHolds(tx, now, hold.nonprofit_id);
  },

  approve: async (_, { effective_at }) =>
    fail({
      kind: "review_conflict",
      message: `A hold cannot be shortened: this wallet takes effect at ${isoTime(effective_at)} by itself. Rejecting stops it.`,
    }),

  reject: async (tx, hold, { reason, operator: by, now }) => {
    const { slug } = hold;
    const at = now.getTime();
    await closeHold(tx, hold, { status: "stopped", reason, by, at });
    await logWallet(tx, "wallet.stopped", hold, { slug, by, at });
    const message = "The change is stopped: the wallet stays as it is.";
    return ok({ slug, sequence: null, message });
  },
});
