import messages from "#content/editorial/request-messages.json";
import { type Clock, isoTime } from "#content/contract/base/time.ts";
import type { OnboardingStatus } from "#content/contract/onboarding.ts";
import { type Onboarding, onboardingStore } from "./store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { doAll } from "#content/store/query.ts";
import { heldOf, holdById, type WalletHold } from "./wallet-hold-store.ts";
import { describeHostProof, type HostProofContext, profileOf } from "./prove-host.ts";

type StatusWorld = HostProofContext & { store: Store; baseUrl: string; clock: Clock };

/** The status of a submission, for anyone who has its link; null if there is none. Only the link's digest is stored. */
export async function onboardingStatus(
  world: StatusWorld,
  digest: string,
): Promise<OnboardingStatus | null> {
  const { store, baseUrl } = world;
  const now = world.clock();
  const submission = await onboardingStore.byToken(store, digest);
  if (submission === null) return null;
  const record = await profileOf(store, submission);
  const hold = await holdById(store, submission.id);
  const wallet = walletStatus(submission, hold, { now, current: record?.usdc_wallet ?? null });
  const slug = record?.slug ?? null;
  return {
    submission_id: submission.id,
    type: submission.type,
    status: submission.status,
    slug,
    name: record?.name ?? submission.request.name,
    reason: submission.reason,
    wallet,
    host_proof:
      submission.status === "pending_review"
        ? describeHostProof(world, { submission, profile: record, now })
        : null,
    other_wallet_at: await otherWalletAt(store, submission, now),
    submitted_at: isoTime(submission.created_at),
    reviewed_at: submission.reviewed_at === null ? null : isoTime(submission.reviewed_at),
    profile_url: slug === null ? null : `${baseUrl}/nonprofits/${slug}`,
    message: messageOf(submission, wallet),
  };
}

export const withdrawn = "Withdrawn by its sender.";

/** Withdraws a waiting request, for anyone who has its link; a decided one stays. Returns its status. */
export async function withdrawOnboarding(
  world: StatusWorld,
  digest: string,
): Promise<OnboardingStatus | null> {
  await world.store.write(async (tx) => {
    const submission = await onboardingStore.byToken(tx, digest);
    if (submission?.status !== "pending_review") return;
    const { id, nonprofit_id } = submission;
    const reviewStamp = { reviewed_by: null, reviewed_at: world.clock().getTime() };
    const rejection = { status: "rejected", reason: withdrawn, ...reviewStamp } as const;
    await doAll(tx, [onboardingStore.close({ id, nonprofit_id, ...rejection })]);
  });
  return onboardingStatus(world, digest);
}

/** When another request's wallet takes effect, so that an organisation notices a change that it did not request. */
async function otherWalletAt(
  store: Queryable,
  { id, nonprofit_id, status, revoked_at }: Onboarding,
  now: Date,
): Promise<string | null> {
  if (status !== "approved" || nonprofit_id === null || revoked_at !== null) return null;
  const hold = await heldOf(store, nonprofit_id);
  const isOther = hold !== null && hold.submission_id !== id && hold.effective_at > now.getTime();
  return isOther ? isoTime(hold.effective_at) : null;
}

function walletStatus(
  { request, status, wallet_signature }: Onboarding,
  hold: WalletHold | null,
  { now, current }: { now: Date; current: string | null },
): OnboardingStatus["wallet"] {
  const wallet = request.usdc_wallet;
  const none = { takes_effect_at: null, reason: null };
  if (wallet === null) return { ...none, state: "none", address: null, proven: false };
  const walletView = {
    address: `${wallet.slice(0, 4)}…${wallet.slice(-4)}`,
    proven: wallet_signature !== null,
  };
  if (status !== "approved") {
    return { ...none, ...walletView, state: status === "rejected" ? "rejected" : "in_review" };
  }
  const otherwise = current === wallet ? "in_effect" : "replaced";
  if (hold === null) return { ...none, ...walletView, state: otherwise };
  // A due hold counts as done, although the sweep may come a moment later.
  const due = hold.status === "held" && hold.effective_at <= now.getTime();
  const state = due ? "in_effect" : hold.status === "in_effect" ? otherwise : hold.status;
  return {
    ...walletView,
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
  return messages.wallet[wallet.state];
}
