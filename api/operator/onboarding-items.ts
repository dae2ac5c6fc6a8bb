import { onboardingChecks } from "#content/onboarding/checks.ts";
import { editable } from "#content/onboarding/edits.ts";
import { onboardingOutcome, type OnboardingOutcome } from "#content/onboarding/outcome.ts";
import { isoTime } from "#content/contract/time.ts";
import { countryName } from "#content/nonprofit/wire.ts";
import type { OnboardingType } from "#content/contract/onboarding.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { FoundReview, ReviewCheck, ReviewComparison } from "#content/contract/review.ts";
import { type Onboarding, otherOwnersOf, pendingByNonprofit } from "#content/onboarding/store.ts";
import type { Queryable } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/records.ts";
import { heldOf, stoppedFrom } from "#content/onboarding/wallet-holds.ts";
import { placeOf } from "./queue-place.ts";

/** Requests of organisations as an operator sees them: what is live beside what would be, and what was checked. */
export async function onboardingItems(
  store: Queryable,
  found: readonly Onboarding[],
): Promise<FoundReview[]> {
  const ids = [...new Set(found.flatMap(({ nonprofit_id }) => nonprofit_id ?? []))];
  const records = new Map((await recordsById(store, ids)).map((record) => [record.id, record]));
  const waiting = await pendingByNonprofit(store, ids);
  const items: FoundReview[] = [];
  for (const one of found) {
    const record = records.get(one.nonprofit_id ?? 0) ?? null;
    const rivals = Math.max(0, (waiting.get(one.nonprofit_id ?? 0) ?? 1) - 1);
    items.push(itemOf(one, record, await checksFor(store, one, record, rivals)));
  }
  return items;
}

async function checksFor(
  store: Queryable,
  one: Onboarding,
  profile: NonprofitRecord | null,
  rivals: number,
): Promise<ReviewCheck[]> {
  const { type, request, duplicates } = one;
  const contactEmail = request.contact_email;
  const wallet = request.usdc_wallet;
  const held = wallet === null || profile === null ? null : await heldOf(store, profile.id);
  return onboardingChecks({
    type,
    request,
    profile,
    proven: one.wallet_signature !== null,
    duplicates,
    otherOwners: wallet === null ? [] : await otherOwnersOf(store, wallet, one.nonprofit_id),
    rivals,
    stoppedFor:
      profile === null ? null : await stoppedFrom(store, { nonprofitId: profile.id, contactEmail }),
    heldUntil: held === null ? null : isoTime(held.effective_at),
  });
}

function itemOf(
  one: Onboarding,
  record: NonprofitRecord | null,
  checks: ReviewCheck[],
): FoundReview {
  const { request, type } = one;
  const proof = proofOf(one);
  const outcome = onboardingOutcome(record, {
    type,
    request,
    proof,
    edits: {},
    slug: "",
    nowMs: one.created_at,
  });
  return {
    id: `onboarding-${one.id}`,
    kind: "onboarding",
    slug: record?.slug ?? null,
    name: record?.name ?? request.name,
    summary: summaries[type],
    detail: {
      type,
      contact_name: request.contact_name,
      contact_email: request.contact_email,
      name: request.name,
      registration_number: request.registration_number,
      usdc_wallet: request.usdc_wallet,
      wallet_proof: proof,
      stays_as_it_is: Object.fromEntries(outcome.kept.map((field) => [field, request[field]])),
      duplicates: one.duplicates,
    },
    comparison: comparisonOf(record, outcome),
    checks,
    sources: request.website === null ? [] : [request.website],
    flags: checks.filter(({ outcome: result }) => result === "failed").map(({ name }) => name),
    editing: { field: "profile", required: false, current: editable(request), choices: [] },
    cursor: placeOf(one.created_at, one.id),
    created_at: isoTime(one.created_at),
  };
}

const summaries: Record<OnboardingType, string> = {
  claim:
    "An organisation claims this listing. Approving verifies it and fills what is empty; rejecting tells the sender the reason.",
  registration:
    "An organisation asks for a profile. Approving publishes it, verified; rejecting tells the sender the reason.",
  change:
    "A change of a claimed profile. Approving replaces what stands; a new wallet is held first. Rejecting tells the sender the reason.",
};

/** The verified signature that came with it, null without one. */
export const proofOf = ({ wallet_challenge: challenge, wallet_signature: signature }: Onboarding) =>
  challenge === null || signature === null ? null : { challenge, signature };

/** The fields that approval would change. A wallet that would be held stands here, too. */
function comparisonOf(
  before: NonprofitRecord | null,
  { after, wallet }: OnboardingOutcome,
): ReviewComparison[] {
  const values = (record: NonprofitRecord | null): Record<string, string | null> => ({
    name: record?.name ?? null,
    mission: record?.mission ?? null,
    website: record?.website ?? null,
    city: record?.city ?? null,
    country: countryName(record?.country_code ?? null),
    registration: record?.registrations[0]?.registration_number ?? null,
    contact_email: record?.contact_email ?? null,
    usdc_wallet: record?.usdc_wallet ?? null,
    verified: record === null ? null : record.verified === 1 ? "yes" : "no",
  });
  const [from, to] = [values(before), values(after)];
  if (wallet !== null) to["usdc_wallet"] = wallet.address;
  return Object.keys(to)
    .filter((field) => from[field] !== to[field])
    .map((field) => ({ field, before: from[field] ?? null, after: to[field] ?? null }));
}
