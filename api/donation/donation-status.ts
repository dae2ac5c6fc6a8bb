import type { ChainUnclear } from "#api/chain/chain.ts";
import { readMemo } from "#content/donation/memo.ts";
import type { DonationStatus } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { DonateTarget } from "#content/donation/target.ts";
import { intentOf, keepIntent } from "#content/donation/intents.ts";
import { donationsFor } from "#content/donation/store.ts";
import { inTime, patience } from "./chain-calls.ts";
import type { DonateContext } from "./donate-context.ts";
import { openTarget, type TargetFailure } from "./donate.ts";
import { writeTogether } from "./donation-writes.ts";
import { settled } from "./record-donation.ts";
import { findByMemo } from "./sweep-donations.ts";

export type StatusFailure = TargetFailure | { kind: "memo_unknown" } | ChainUnclear;

const askAgainSeconds = { pending: 3, received: 60 } as const;
/** The page asks while somebody looks at it; the sweep begins when they may have gone. */
const firstSweepMs = 30_000;

/**
 * Whether the transfer with a memo has arrived. Looks on chain, and records what it finds, so that nobody has to tell us
 * of a transfer; a memo that was asked for once is looked for from then on, at most two hours.
 */
export async function donationStatus(
  context: DonateContext,
  { slug, memo }: { slug: string; memo: string },
): Promise<Result<DonationStatus, StatusFailure>> {
  const found = await openTarget(context, slug);
  if (!found.ok) return found;
  const target = found.value;
  const read = readMemo(memo, context.seal);
  if (read?.nonprofit_id !== target.id) return fail({ kind: "memo_unknown" });
  const given = await donationsFor(context.store, memo);
  const mine = given.find(({ nonprofit_id }) => nonprofit_id === target.id);
  if (mine !== undefined) return ok(received(memo, settled(context, target, mine).settlement));
  await watch(context, target, { memo, amount: read.amount });
  const outcome = await inTime(patience(), findByMemo(context, target, memo));
  if (!outcome.ok) return outcome;
  if (outcome.value !== null) return ok(received(memo, outcome.value.settlement));
  return ok({ status: "pending", memo, retry_after_s: askAgainSeconds.pending, settlement: null });
}

const received = (memo: string, settlement: DonationStatus["settlement"]): DonationStatus => ({
  status: "received",
  memo,
  retry_after_s: askAgainSeconds.received,
  settlement,
});

async function watch(
  { store, clock }: DonateContext,
  { id, usdc_wallet }: DonateTarget,
  { memo, amount }: { memo: string; amount: NonNullable<ReturnType<typeof readMemo>>["amount"] },
): Promise<void> {
  if ((await intentOf(store, id, memo)) !== null) return;
  const now = clock();
  await writeTogether(store, (tx) =>
    keepIntent(tx, {
      kind: "watch",
      nonprofit_id: id,
      proof: memo,
      recipient: usdc_wallet,
      amount_micro_usdc: amount,
      payment: null,
      blockhash: null,
      now,
      check_at: now.getTime() + firstSweepMs,
    }),
  );
}
