import messages from "#content/editorial/request-messages.json";
import { secretDigest, sha256Of } from "#content/runtime/digest.ts";
import type {
  Duplicate,
  OnboardingAnswer,
  RequestState,
  OnboardingType,
} from "#content/contract/onboarding.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { type Result, fail, ok } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { readWallet } from "#content/giving/wallet.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { type Sought, findDuplicates } from "./duplicate-store.ts";
import { type OnboardingRequest, onboardingType, readOnboarding } from "./read.ts";
import {
  queueMail,
  type Onboarding,
  challengeIsUsed,
  giveUpPlace,
  onboardingStore,
} from "./store.ts";
import { type WalletProofFailure, type WalletProof, checkWalletProof } from "./wallet-challenge.ts";
import { type HostProofContext, describeHostProof } from "./prove-host.ts";
import type { OnboardingKeys } from "./keys.ts";
import {
  keyRefusal,
  type NewRequest,
  type ReceiveFailure,
  type RequestCall,
  receive,
} from "#content/requests/receive.ts";
import { readRegistrationNumber } from "#content/register/org-id.ts";
import { giveSlugs } from "#content/register/import-store.ts";
import { standingFields } from "./outcome.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { type Plan, planned } from "#content/operation/plan.ts";
import { waitingOfNetworkMax } from "#content/requests/quota.ts";

export type OnboardWorld = OnboardingKeys &
  HostProofContext & {
    store: Store;
    clock: Clock;
    /** Without a trailing slash. */
    baseUrl: string;
  };

export type OnboardFailure =
  | WalletProofFailure
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; merged_into: string | null }
  | { kind: "wallet_challenge_used" }
  | { kind: "invalid_onboarding"; errors: Wrong[] }
  | ReceiveFailure;

/**
 * Accepts a claim of a listing, a registration, or a change of a claimed profile. It is stored for review, and nothing is
 * public before an operator approves it. A refused request stores nothing. A repeated request is answered with the waiting
 * one, with its link only under the first one's Idempotency-Key (docs/decisions/30-claims.md).
 */
export async function onboard(
  world: OnboardWorld,
  call: RequestCall,
): Promise<Result<OnboardingAnswer, OnboardFailure>> {
  const { store, issuer, statusToken } = world;
  const now = world.clock();
  const result = readOnboarding(call.body, { thisYear: now.getUTCFullYear() });
  if (!result.ok) return fail({ kind: "invalid_onboarding", errors: result.failure });
  const refusal = keyRefusal(call.idempotencyKey);
  if (refusal !== null) return fail(refusal);
  const { request, proof } = result.value;
  const wallet = request.usdc_wallet === null ? null : readWallet(request.usdc_wallet);
  const walletProof =
    proof === null || wallet?.ok !== true
      ? ok(null)
      : checkWalletProof(wallet.value, proof, { now, issuer });
  const profile =
    request.claim_slug === null ? null : await recordBySlug(store, request.claim_slug);
  const duplicates = await findDuplicates(store, soughtFor(request, profile));
  const receipt = await receive({ store, now }, call, {
    route: "onboard",
    sender: sha256Of(request.contact_email.toLowerCase(), "base64url"),
    request,
    sameness: [request, proof?.signature ?? null],
    statusToken,
    waitingTwin: onboardingStore.waitingTwin,
    again: described,
    plan: (tx, row) => planNew(tx, world, { request, walletProof, duplicates, row }),
  });
  return receipt.ok ? ok(await answerOf(world, request, profile, receipt.value)) : receipt;
}

/** What is stored of this request, or of an equal one that came before. */
type StoredRequest = {
  id: string;
  type: OnboardingType;
  /** The profile's slug; null for a registration. */
  slug: string | null;
  status: RequestState;
  /** Digest of the secret in the link to its status page. Null: the sender may not be the first one, and gets no link. */
  status_digest: string | null;
};

type Job = {
  request: OnboardingRequest;
  /** Null without a proof; a failure says why the proof does not count. */
  walletProof: Result<WalletProof | null, WalletProofFailure>;
  duplicates: Duplicate[];
  row: NewRequest;
};

async function planNew(
  store: Queryable,
  world: OnboardWorld,
  { request, walletProof, duplicates, row }: Job,
): Promise<Plan<StoredRequest, OnboardFailure>> {
  const slug = request.claim_slug;
  const claimTarget = await claimable(store, slug);
  if (!claimTarget.ok) return claimTarget;
  // Checked here, so that a repeated request gets its first answer even though its challenge has expired by now.
  const usable = await ofNewChallenge(store, walletProof);
  if (!usable.ok) return usable;
  const proof = usable.value;
  // If no more requests for a profile may wait, the one that the rules choose makes room for the new one.
  const waitingPlaces =
    claimTarget.value === null ? [] : await onboardingStore.waitingFor(store, claimTarget.value.id);
  const givenUp = placeGivenUp(waitingPlaces, row.network);
  const type = onboardingType(request, claimTarget.value);
  const onboarding = {
    ...row,
    type,
    nonprofit_id: claimTarget.value?.id ?? null,
    request,
    duplicates,
    wallet_challenge: proof?.challenge ?? null,
    wallet_signature: proof?.signature ?? null,
  };
  const seals = world.config.mail === null ? [] : [world.addressSeal(request.contact_email)];
  const toTell = seals.map((seal) => queueMail(onboarding, seal));
  const makeRoom = givenUp === null ? [] : [giveUpPlace(givenUp, row.created_at)];
  const { id, status_digest } = row;
  const answer = { id, type, slug, status: "pending_review", status_digest } as const;
  return planned(ok(answer), ...makeRoom, onboardingStore.add(onboarding), ...toTell);
}

/** The proof of a wallet; fails if another request used its challenge. */
async function ofNewChallenge(
  store: Queryable,
  walletProof: Job["walletProof"],
): Promise<Result<WalletProof | null, OnboardFailure>> {
  if (!walletProof.ok || walletProof.value === null) return walletProof;
  const isUsed = await challengeIsUsed(store, walletProof.value.challenge);
  return isUsed ? fail({ kind: "wallet_challenge_used" }) : walletProof;
}

/** The listing to claim; null for a registration. */
async function claimable(
  store: Queryable,
  slug: string | null,
): Promise<Result<NonprofitRecord | null, OnboardFailure>> {
  if (slug === null) return ok(null);
  const profile = await recordBySlug(store, slug);
  if (profile === null) return fail({ kind: "nonprofit_not_found", slug });
  const { status, merged_into } = profile;
  return status === "withdrawn" ? fail({ kind: "nonprofit_withdrawn", merged_into }) : ok(profile);
}

async function described(store: Queryable, submission: Onboarding): Promise<StoredRequest> {
  const { id, type, nonprofit_id, status } = submission;
  const [record] =
    nonprofit_id === null ? [] : await recordsById(store, [nonprofit_id], { summaries: true });
  return { id, type, slug: record?.slug ?? null, status, status_digest: null };
}

/**
 * The values by which to look for duplicates: the listing's for a claim, else the request's. What a change leaves out stays
 * as the profile has it.
 */
export function soughtFor(request: OnboardingRequest, profile: NonprofitRecord | null): Sought {
  const isChange = onboardingType(request, profile) === "change";
  const [first, second] = isChange ? [request, profile] : [profile, request];
  const valueOf = (field: "name" | "country_code" | "city" | "website") =>
    first?.[field] ?? second?.[field] ?? null;
  const country_code = valueOf("country_code");
  const number = request.registration_number;
  return {
    id: profile?.id ?? null,
    name: valueOf("name") ?? "",
    country_code,
    city: valueOf("city"),
    website: valueOf("website"),
    registration:
      number === null || country_code === null
        ? null
        : readRegistrationNumber(number, country_code),
  };
}

/** The slug that a new profile gets unless someone else takes it first. */
export const slugFor = async (
  store: Queryable,
  { name, city }: { name: string; city: string | null },
): Promise<string> => {
  const [slug] = await giveSlugs()(store, [
    { slug_name: name, org_id: "nonprofit", city, region: null },
  ]);
  if (slug === undefined) throw new Error("no slug was given");
  return slug;
};

async function answerOf(
  world: OnboardWorld,
  request: OnboardingRequest,
  profile: NonprofitRecord | null,
  { id, type, slug, status, status_digest }: StoredRequest,
): Promise<OnboardingAnswer> {
  const { store, baseUrl, statusToken, clock } = world;
  const token = statusToken(id);
  const link = secretDigest(token) === status_digest ? `${baseUrl}/onboard/status#${token}` : null;
  const submission = link === null ? null : await onboardingStore.byId(store, id);
  return {
    success: true,
    type,
    submission_id: id,
    slug: slug ?? (await slugFor(store, { name: request.name ?? "", city: request.city })),
    status,
    message:
      link === null
        ? waitsAlready
        : messages.onboarding[type] + liveValuesSaid(request, profile, type),
    status_url: link,
    host_proof: submission && describeHostProof(world, { submission, profile, now: clock() }),
  };
}

/** For a claim: which live values it corrects, and which stay although it sent others. */
function liveValuesSaid(
  request: OnboardingRequest,
  profile: NonprofitRecord | null,
  type: OnboardingType,
): string {
  const { keptFields, correctedFields } = standingFields(profile, { type, request, edits: {} });
  const fieldNames = (fields: readonly string[]) =>
    fields.join(", ").replace("country_code", "country");
  const corrects =
    correctedFields.length === 0
      ? ""
      : ` Approved, it replaces the profile's ${fieldNames(correctedFields)}.`;
  const keeps =
    keptFields.length === 0
      ? ""
      : ` The profile keeps its ${fieldNames(keptFields)}: to correct a wrong value, name its field in corrects.`;
  return corrects + keeps;
}

const waitsAlready =
  "The same request waits for review already. Its status_url was shown to the first sender, and is shown again only with the same Idempotency-Key.";

type WaitingPlace = Pick<
  Onboarding,
  "id" | "network" | "proven_host" | "first_approved_by" | "created_at"
>;

/** The most requests that wait for one profile; at most 5 are from one network. */
const waitingForProfileMax = 50;

/**
 * The request that makes room for one more from this network; null if there is room. It is the oldest of the network's own
 * if that has its share, else of the network with the most, so that a new request is never refused. Requests with a proven
 * host, or approved by one operator, are not counted and never make room.
 */
export function placeGivenUp(
  places: readonly WaitingPlace[],
  network: string | null,
): string | null {
  const unprovenPlaces = places
    .filter((place) => place.proven_host === null && place.first_approved_by === null)
    .toSorted((a, b) => a.created_at - b.created_at);
  const byNetwork = Map.groupBy(unprovenPlaces, (place) => place.network);
  const ofNetwork = byNetwork.get(network) ?? [];
  if (ofNetwork.length >= waitingOfNetworkMax) return ofNetwork[0]?.id ?? null;
  if (unprovenPlaces.length < waitingForProfileMax) return null;
  const [most] = [...byNetwork.values()].toSorted((a, b) => b.length - a.length);
  return most?.[0]?.id ?? null;
}
