import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { OnboardingOutcome } from "./outcome.ts";
import type { Onboarding } from "./store.ts";
import { closeHold, heldOf, holdWallet, logWallet } from "./wallet-hold-store.ts";
import type { WriteTransaction } from "#content/store/open.ts";

export type WalletChange = {
  one: Onboarding;
  before: NonprofitRecord | null;
  saved: NonprofitRecord;
  outcome: OnboardingOutcome;
  by: string;
  now: Date;
  effectiveAt: number;
};

/**
 * Holds an approved wallet, or logs the one that was set at once. What was held before
 * is replaced, also by the wallet in effect: the newest request that an operator approved is what the organisation wants.
 */
export async function changeWallet(tx: WriteTransaction, change: WalletChange): Promise<void> {
  const { one, before, saved, by } = change;
  const { wallet } = change.outcome;
  if (wallet === null) return;
  const at = change.now.getTime();
  const held = before === null ? null : await heldOf(tx, before.id);
  if (held !== null) {
    await closeHold(tx, held, { status: "replaced", reason: null, slug: saved.slug, by, at });
  }
  const wallet_before = before?.usdc_wallet ?? null;
  if (wallet.held === null) {
    if (wallet_before === wallet.address) return;
    const set = { submission_id: one.id, wallet_before, wallet: wallet.address };
    await logWallet(tx, "set", set, { slug: saved.slug, by, at });
    return;
  }
  await holdWallet(tx, saved.slug, {
    submission_id: one.id,
    nonprofit_id: saved.id,
    wallet_before,
    wallet: wallet.address,
    wallet_challenge: one.wallet_challenge,
    wallet_signature: one.wallet_signature,
    approved_by: by,
    approved_at: at,
    effective_at: change.effectiveAt,
  });
}
