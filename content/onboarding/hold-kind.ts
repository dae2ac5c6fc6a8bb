import { ok } from "#content/contract/base/result.ts";
import { noted, passed } from "#content/contract/review.ts";
import { hourMs, isoTime } from "#content/contract/base/time.ts";
import {
  applyDueHolds,
  closeHold,
  holdById,
  holdQueue,
  holdsWaiting,
  type WalletHold,
} from "./wallet-hold-store.ts";
import { planned } from "#content/operation/plan.ts";
import { conflict, hexKey, instantAt, requestKind } from "#content/requests/kind.ts";

/**
 * Approved wallets that wait before they take effect. Rejecting one stops it; otherwise it takes effect with time. A hold
 * that ends at this instant has ended: due wallets take effect before anyone can stop them.
 */
export const holdRequests = requestKind<WalletHold>({
  kind: "hold",
  key: hexKey,
  count: holdsWaiting,
  page: (store, { after, limit }) => holdQueue(store, { after: instantAt(after), limit }),
  byKey: holdById,
  prepare: (tx, { nonprofit_id, now }) => applyDueHolds(tx, now, nonprofit_id),

  item: (_, { row: hold }, now) => ({
    key: hold.submission_id,
    place: `${hold.effective_at}.${hold.submission_id}`,
    summary: `${hold.wallet_before === null ? "A first" : "A changed"} wallet takes effect at ${isoTime(hold.effective_at)} by itself. Rejecting stops it; approving does nothing.`,
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
        ? noted("signature", "Nothing proves that the organisation controls the new wallet.")
        : passed("signature", "The new wallet signed our challenge."),
    ],
    created_at: hold.approved_at,
  }),

  approve: (_, { row }) =>
    conflict(
      `A hold cannot be shortened: this wallet takes effect at ${isoTime(row.effective_at)} by itself. Rejecting stops it.`,
    ),

  reject: (_, { row: hold, record: { slug } }, { reason, operator: by, now }) => {
    const closure = { status: "stopped", reason, slug, by, at: now.getTime() } as const;
    return planned(
      ok({ message: "The change is stopped: the wallet stays as it is." }),
      ...closeHold(hold, closure),
    );
  },
});
