import messages from "#content/editorial/request-messages.json";
import { slugFor, soughtFor } from "./onboard.ts";
import { ok } from "#content/contract/base/result.ts";
import type { ReviewCheck, ReviewComparison } from "#content/contract/review.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import { wasRevoked } from "#content/operation/audit-store.ts";
import { countryName } from "#content/nonprofit/country.ts";
import { onboardingChecks } from "./review-checks.ts";
import { findDuplicates } from "./duplicate-store.ts";
import { hostControl } from "./host-proof.ts";
import {
  type ApprovalCase,
  editable,
  type OnboardingEdits,
  onboardingOutcome,
  type OnboardingOutcome,
  readEdits,
} from "./outcome.ts";
import {
  keepDuplicates,
  type Onboarding,
  onboardingLeftOut,
  onboardingStore,
  otherOwnersOf,
  placeInQueue,
  standingVerification,
} from "./store.ts";
import { applyDueHolds, changeWallet, heldOf, stoppedFrom } from "./wallet-hold-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { planned } from "#content/operation/plan.ts";
import {
  conflict,
  type Ruling,
  requestKind,
  type PlannedDecision,
  unusable,
  type WaitingRequest,
} from "#content/requests/kind.ts";

/** Settings for wallets: how long one waits, and how many operators must approve it. */
type WalletWorld = { config: { walletHoldMs: number; walletApprovals: 1 | 2 } };
type WalletRuling = Ruling<WalletWorld>;

type Request = WaitingRequest<Onboarding, NonprofitRecord | null>;

/** Claims, registrations and changes from organisations: nothing is public before it is approved here. */
export const onboardingRequests = requestKind<Onboarding, NonprofitRecord | null, WalletWorld>({
  ...onboardingStore.steps,
  leftOut: onboardingLeftOut,
  prepare: async (tx, { nonprofit_id, decision, now }) =>
    decision === "approved" && applyDueHolds(tx, now, nonprofit_id),

  refresh: async (store, { row: submission, record }) => {
    const duplicates = await findDuplicates(store, soughtFor(submission.request, record));
    return { ...submission, duplicates };
  },

  item: async (store, request, now) => {
    const { first_approved_value: value } = request.row;
    const first = readEdits(value, { thisYear: now.getUTCFullYear() });
    const approvalCase = await approvingOf(store, request, first.ok ? first.value : {}, now);
    const outcome = onboardingOutcome(request.record, approvalCase);
    return itemOf(request, outcome, await checksFor(store, request, outcome, now));
  },

  approve: async (store, { row: submission, record }, ruling) => {
    const value = ruling.value?.trim() || submission.first_approved_value;
    const edits = readEdits(value, { thisYear: ruling.now.getUTCFullYear() });
    if (!edits.ok) return unusable(edits.failure);
    const obstacle = await obstacleOf(store, submission, record);
    if (obstacle !== null) return conflict(obstacle);
    const duplicateConflict = await unseenDuplicate(
      store,
      { row: submission, record },
      edits.value,
    );
    if (duplicateConflict !== null) return duplicateConflict;
    const request = { row: submission, record };
    const approvalCase = await approvingOf(store, request, edits.value, ruling.now);
    const outcome = onboardingOutcome(record, approvalCase);
    const setsWallet = outcome.wallet !== null && outcome.wallet.address !== record?.usdc_wallet;
    const approval = { first_approved_value: value, first_approved_held: isHeld(outcome) };
    const first = setsWallet ? firstOfTwo(submission, approval, ruling) : null;
    return first ?? planApproval(store, { ...request, outcome }, ruling);
  },

  reject: (_, { row: { id, nonprofit_id } }, { reason, operator, now }) => {
    const reviewStamp = { reviewed_by: operator, reviewed_at: now.getTime() };
    return planned(
      ok({ message: "It is rejected; the sender sees the reason." }),
      onboardingStore.close({ id, status: "rejected", nonprofit_id, reason, ...reviewStamp }),
    );
  },
});

/** Why approval has become impossible since the request came, as a sentence for the operator; null if it has not. */
async function obstacleOf(store: Queryable, submission: Onboarding, record: Request["record"]) {
  if (submission.type === "registration") return null;
  if (record === null || record.status === "withdrawn") {
    return "The profile is withdrawn. Reject this with that reason.";
  }
  const isClaimed = record.verified === 1 || record.status === "claimed";
  if (submission.type === "change") {
    return isClaimed
      ? null
      : "The verification of this profile was taken back since: its organisation has to claim it again. Reject this.";
  }
  if (isClaimed) {
    return "Another claim of this profile was approved since. Reject this, or ask for a change of the profile.";
  }
  return (await standingVerification(store, record.id)) === null
    ? null
    : "An earlier claim of this profile is in effect although it is not verified. Revoke its verification first.";
}

/**
 * Stops the approval of a new profile or of a change once when a possible duplicate came up since the reviewer looked: the
 * refusal stores it, and the next look shows it. A registration number of another profile stops a new one for good.
 * Compares the request as the operator edited it.
 */
async function unseenDuplicate(
  store: Queryable,
  { row: submission, record }: Request,
  edits: OnboardingEdits,
): Promise<PlannedDecision | null> {
  if (submission.type === "claim") return null;
  // If the operator gives no country, the number is read as one of the request's country.
  const country_code = edits.country_code ?? submission.request.country_code;
  const duplicates = await findDuplicates(
    store,
    soughtFor({ ...submission.request, ...edits, country_code }, record),
  );
  const sameNumber = duplicates.find(({ reasons }) => reasons.includes("same_registration"));
  if (record === null && sameNumber !== undefined) {
    return conflict(
      `The registration number is that of ${sameNumber.slug}. Reject this, and ask to claim that profile.`,
    );
  }
  const seenSlugs = new Set(submission.duplicates.map(({ slug }) => slug));
  const newDuplicate = duplicates.find(({ slug }) => !seenSlugs.has(slug));
  if (newDuplicate === undefined) return null;
  const message = `${newDuplicate.slug} may be the same organisation and came up since this was looked at. Look again. If they are two organisations, approve once more.`;
  return planned(conflict(message), keepDuplicates(submission.id, duplicates));
}

/** What an approval with these edits depends on. */
async function approvingOf(
  store: Queryable,
  { row: submission, record }: Request,
  edits: OnboardingEdits,
  now: Date,
): Promise<ApprovalCase> {
  const { type, request } = submission;
  const name = edits.name ?? request.name ?? "";
  const nowMs = now.getTime();
  return {
    type,
    request,
    proof: proofOf(submission),
    edits,
    slug: record?.slug ?? (await slugFor(store, { name, city: edits.city ?? request.city })),
    host: hostControl(
      { profile: record, website: { ...request, ...edits }.website },
      submission,
      nowMs,
    ),
    revokedBefore: record !== null && (await wasRevoked(store, record.slug)),
    nowMs,
  };
}

const isHeld = ({ wallet }: OnboardingOutcome): boolean =>
  wallet !== null && wallet.holdReason !== null;

/**
 * The first of the two approvals that a wallet needs; null when this is the second, or when one is enough. The count
 * starts again when the edits differ, or when the wallet would now be held and was not, or the reverse.
 */
function firstOfTwo(
  { id, first_approved_by: first, ...before }: Onboarding,
  approval: Pick<Onboarding, "first_approved_value" | "first_approved_held">,
  { operator: by, world }: WalletRuling,
): PlannedDecision | null {
  if (world.config.walletApprovals === 1) return null;
  const isSame =
    first !== null &&
    before.first_approved_value === approval.first_approved_value &&
    before.first_approved_held === approval.first_approved_held;
  if (isSame && first !== by) return null;
  if (isSame) {
    return conflict("You approved this already; another operator has to approve it, too.");
  }
  const when = approval.first_approved_held ? "after a hold" : "at once";
  const message = `1 of 2, by ${by}: it sets a wallet ${when}, so another operator has to approve the same.`;
  return planned(
    ok({ complete: false, message }),
    onboardingStore.changeWaiting(id, { first_approved_by: by, ...approval }),
  );
}

/** The writes of an approval: profile, wallet or its hold, and the end of the review. */
async function planApproval(
  store: Queryable,
  { row: submission, record, outcome }: Request & { outcome: OnboardingOutcome },
  { operator: by, now, world }: WalletRuling,
): Promise<PlannedDecision> {
  const nowMs = now.getTime();
  const effectiveAt = nowMs + world.config.walletHoldMs;
  const earlierHold =
    record === null || outcome.wallet === null ? null : await heldOf(store, record.id);
  const saves = [{ before: record, after: outcome.after }];
  const reviewStamp = { reason: null, reviewed_by: by, reviewed_at: nowMs };
  const closure = { id: submission.id, status: "approved" as const, ...reviewStamp };
  const { slug } = outcome.after;
  const { records, statements } = await planSaves(store, saves, { origin: "onboarding", now });
  // From here on a new profile has its id.
  const [saved] = records;
  if (saved === undefined) throw new Error(`nothing is saved for ${submission.id}`);
  return planned(
    ok({ slug, message: messageOf(outcome, effectiveAt) }),
    ...statements,
    ...changeWallet({
      submission,
      before: record,
      saved,
      outcome,
      earlierHold,
      by,
      now,
      effectiveAt,
    }),
    onboardingStore.close({ ...closure, nonprofit_id: saved.id }),
  );
}

function messageOf(
  { keptFields, correctedFields, wallet }: OnboardingOutcome,
  effectiveAt: number,
): string {
  const sentences = ["It is approved."];
  if (correctedFields.length > 0)
    sentences.push(`The profile's ${correctedFields.join(", ")} is corrected.`);
  if (keptFields.length > 0) sentences.push(`The profile keeps its ${keptFields.join(", ")}.`);
  if (wallet !== null && wallet.holdReason !== null) {
    sentences.push(
      `The wallet takes effect at ${isoTime(effectiveAt)} unless its hold is rejected before, because ${wallet.holdReason}.`,
    );
  }
  return sentences.join(" ");
}

async function checksFor(
  store: Queryable,
  { row: submission, record: profile }: Request,
  outcome: OnboardingOutcome,
  now: Date,
): Promise<ReviewCheck[]> {
  const { type, request, duplicates, nonprofit_id, wallet_signature } = submission;
  const { contact_email: contactEmail, usdc_wallet: wallet } = request;
  const profileContact = profile === null ? null : { nonprofitId: profile.id, contactEmail };
  const hold = wallet === null || profile === null ? null : await heldOf(store, profile.id);
  return onboardingChecks({
    type,
    request,
    profile,
    isProven: wallet_signature !== null,
    host: hostControl({ profile, website: request.website }, submission, now.getTime()),
    whyHeld: outcome.wallet?.holdReason ?? null,
    duplicates,
    otherOwners: wallet === null ? [] : await otherOwnersOf(store, wallet, nonprofit_id),
    // The number of other requests for the same profile.
    rivals:
      nonprofit_id === null
        ? 0
        : (await onboardingStore.waitingFor(store, nonprofit_id)).length - 1,
    stoppedFor: profileContact === null ? null : await stoppedFrom(store, profileContact),
    heldUntil: hold === null ? null : isoTime(hold.effective_at),
  });
}

/** The live values beside the proposed ones, and the checks. */
function itemOf(
  { row: submission, record }: Request,
  outcome: OnboardingOutcome,
  checks: ReviewCheck[],
) {
  const { request, type, first_approved_by: first, first_approved_value } = submission;
  const { at, id } = placeInQueue(submission);
  return {
    key: submission.id,
    place: `${at}.${id}`,
    name: record?.name ?? request.name,
    summary: `${messages.onboarding_review[type]}${first === null ? "" : ` 1 of 2 approvals, by ${first}: what you see has the edits of that one.`}`,
    detail: {
      type,
      contact_name: request.contact_name,
      contact_email: request.contact_email,
      name: request.name,
      registration_number: request.registration_number,
      usdc_wallet: request.usdc_wallet,
      wallet_proof: proofOf(submission),
      first_approval: first === null ? null : { by: first, value: first_approved_value },
      corrects: outcome.correctedFields,
      stays_as_it_is: Object.fromEntries(
        outcome.keptFields.map((field) => [field, request[field]]),
      ),
      duplicates: submission.duplicates,
    },
    comparison: comparisonOf(record, outcome),
    checks,
    sources: request.website === null ? [] : [request.website],
    editing: {
      field: "profile",
      required: false,
      current: editable(request, first_approved_value),
      choices: [],
    },
    created_at: submission.created_at,
  };
}

/** The verified signature in the request; null if there is none. */
const proofOf = ({ wallet_challenge: challenge, wallet_signature: signature }: Onboarding) =>
  challenge === null || signature === null ? null : { challenge, signature };

/** The fields that approval would change, including a wallet that would be held. */
function comparisonOf(
  before: NonprofitRecord | null,
  { after, wallet }: OnboardingOutcome,
): ReviewComparison[] {
  const from = before === null ? {} : shownValues(before);
  const to = shownValues(after);
  if (wallet !== null) to["usdc_wallet"] = wallet.address;
  return Object.keys(to)
    .map((field) => ({ field, before: from[field] ?? null, after: to[field] ?? null }))
    .filter((row) => row.before !== row.after);
}

const shownValues = (record: NonprofitRecord): Record<string, string | null> => ({
  name: record.name,
  mission: record.mission,
  website: record.website,
  city: record.city,
  country: countryName(record.country_code),
  tagline: record.tagline,
  donation_url: record.donation_url,
  logo_url: record.logo_url,
  programs:
    record.programs.map(({ name, description }) => `${name}: ${description ?? ""}`).join("\n") ||
    null,
  registration: record.registrations[0]?.registration_number ?? null,
  contact_email: record.contact_email,
  usdc_wallet: record.usdc_wallet,
  verified: record.verified === 1 ? "yes" : "no",
});
