import { isoTime } from "#content/contract/time.ts";
import type { OnboardingStatus } from "#content/contract/onboarding.ts";
import { type Onboarding, onboardingByToken } from "#content/onboarding/store.ts";
import type { Queryable } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { heldOf, holdById, type WalletHold } from "#content/onboarding/wallet-hold-store.ts";
import { digestOf } from "./onboard.ts";

type StatusContext = { store: Queryable; baseUrl: string; now: Date };

/** The outcome of a submission, for anyone who holds its link: null for no submission. The token is known by its digest only. */
export async function onboardingStatus(
  { store, baseUrl, now }: StatusContext,
  token: string,
): Promise<OnboardingStatus | null> {
  const one = await onboardingByToken(store, digestOf(token));
  if (one === null) return null;
  const [record] =
    one.nonprofit_id === null
      ? []
      : await recordsById(store, [one.nonprofit_id], { summaries: true });
  const hold = await holdById(store, one.id);
  const wallet = walletStatus(one, hold, { now, current: record?.usdc_wallet ?? null });
  const slug = record?.slug ?? null;
  return {
    submission_id: one.id,
    type: one.type,
    status: one.status,
    slug,
    name: record?.name ?? one.request.name,
    reason: one.reason,
    wallet,
    other_wallet_at: await otherWalletAt(store, one, now),
    submitted_at: isoTime(one.created_at),
    reviewed_at: one.reviewed_at === null ? null : isoTime(one.reviewed_at),
    profile_url: slug === null ? null : `${baseUrl}/nonprofits/${slug}`,
    message: messageOf(one, wallet),
  };
}

/** When another's wallet takes effect: so that an organisation notices a change that it did not ask for. */
async function otherWalletAt(
  store: Queryable,
  { id, nonprofit_id, status, revoked_at }: Onboarding,
  now: Date,
): Promise<string | null> {
  if (status !== "approved" || nonprofit_id === null || revoked_at !== null) return null;
  const held = await heldOf(store, nonprofit_id);
  const others = held !== null && held.submission_id !== id && held.effective_at > now.getTime();
  return others ? isoTime(held.effective_at) : null;
}

function walletStatus(
  { request, status, wallet_signature }: Onboarding,
  hold: WalletHold | null,
  { now, current }: { now: Date; current: string | null },
): OnboardingStatus["wallet"] {
  const wallet = request.usdc_wallet;
  const none = { takes_effect_at: null, reason: null };
  if (wallet === null) return { ...none, state: "none", address: null, proven: false };
  const shown = {
    address: `${wallet.slice(0, 4)}…${wallet.slice(-4)}`,
    proven: wallet_signature !== null,
  };
  if (status !== "approved") {
    return { ...none, ...shown, state: status === "rejected" ? "rejected" : "in_review" };
  }
  const otherwise = current === wallet ? "in_effect" : "replaced";
  if (hold === null) return { ...none, ...shown, state: otherwise };
  // Due counts as done, though the sweep may come a moment later.
  const due = hold.status === "held" && hold.effective_at <= now.getTime();
  const state = due ? "in_effect" : hold.status === "in_effect" ? otherwise : hold.status;
  return {
    ...shown,
    state,
    takes_effect_at: state === "held" ? isoTime(hold.effective_at) : null,
    reason: hold.reason,
  };
}

function messageOf({ status }: Onboarding, wallet: OnboardingStatus["wallet"]): string {
  if (status === "pending_review")
    return "A reviewer has not decided yet. Nothing of it is public.";
  if (status === "rejected") {
    return "It was rejected; the reason is beside this. You can send another request.";
  }
  return walletMessages[wallet.state];
}

const walletMessages: Record<OnboardingStatus["wallet"]["state"], string> = {
  none: "It is approved, and the profile shows it.",
  in_review: "It is approved, and the profile shows it.",
  in_effect: "It is approved, and the profile shows it with its wallet.",
  held: "It is approved. The wallet takes effect when its hold ends; until then gifts go to the one before, if there is one.",
  stopped:
    "It is approved, but the wallet was stopped: gifts go to the one before, if there is one.",
  replaced: "It is approved; another wallet has taken its place since, or it was taken back.",
  rejected: "It was rejected.",
};
