import { randomBytes } from "node:crypto";
import { isUsableKey } from "#api/http/client.ts";
import { type OnboardingRequest, readOnboarding } from "#content/onboarding/read.ts";
import { readRegistrationNumber } from "#content/register/registration-number.ts";
import type { Clock } from "#content/contract/time.ts";
import { readWallet } from "#content/donation/wallet.ts";
import {
  checkProof,
  type Issuer,
  type ProofFailure,
} from "#content/onboarding/wallet-challenge.ts";
import type { OnboardingAnswer, OnboardingType } from "#content/contract/onboarding.ts";
import type { Wrong } from "#content/contract/problem.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { findDuplicates, type Sought } from "#content/onboarding/duplicate-store.ts";
import { requestDigest } from "#content/operation/idempotency-store.ts";
import { giveSlugs } from "#content/register/slug-store.ts";
import type { Store } from "#content/store/open.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import {
  digestOf,
  type OnboardingStored,
  type StoreOnboardingFailure,
  storeOnboarding,
} from "./store-onboarding.ts";

export type OnboardContext = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  /** Makes and knows challenges. */
  issuer: Issuer;
  /** The secret of the link to a submission's status page, always the same for the same id. */
  statusToken: (submissionId: string) => string;
};

export type OnboardCall = { body: unknown; idempotencyKey: string | null };

export type OnboardFailure =
  | StoreOnboardingFailure
  | ProofFailure
  | { kind: "invalid_onboarding"; errors: Wrong[] }
  | { kind: "invalid_idempotency_key" };

/**
 * Takes a claim of a listing, a registration, or a change of a claimed profile. It is stored for review, and nothing of it
 * is public before an operator approves it. A refused request stores nothing. Source: spec, "Onboarding"; its decisions.
 */
export async function onboard(
  context: OnboardContext,
  call: OnboardCall,
): Promise<Result<OnboardingAnswer, OnboardFailure>> {
  const now = context.clock();
  const read = readOnboarding(call.body, { thisYear: now.getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_onboarding", errors: read.failure });
  const { request, proof } = read.value;
  const { idempotencyKey } = call;
  if (idempotencyKey !== null && !isUsableKey(idempotencyKey)) {
    return fail({ kind: "invalid_idempotency_key" });
  }
  const wallet = request.usdc_wallet === null ? null : readWallet(request.usdc_wallet);
  const { issuer } = context;
  // An old request is answered as it was, although its challenge has expired by now: so this is judged inside.
  const proven =
    proof === null || wallet?.ok !== true
      ? ok(null)
      : checkProof(wallet.value, proof, { now, issuer });
  const profile = await profileOf(context, request);
  const duplicates = await findDuplicates(context.store, soughtFor(request, profile));
  const id = randomBytes(10).toString("hex");
  const stored = await context.store.write((tx) =>
    storeOnboarding(tx, {
      id,
      request,
      proof: proven,
      duplicates,
      digest: requestDigest([request, proof?.signature ?? null]),
      statusDigest: digestOf(context.statusToken(id)),
      idempotencyKey,
      now,
    }),
  );
  return stored.ok ? ok(await answerOf(context, request, stored.value)) : stored;
}

const profileOf = ({ store }: OnboardContext, { claim_slug }: OnboardingRequest) =>
  claim_slug === null ? Promise.resolve(null) : recordBySlug(store, claim_slug);

/** What to look for among the other profiles: of a claim, what its listing says, and else what was sent. */
export function soughtFor(request: OnboardingRequest, profile: NonprofitRecord | null): Sought {
  const said = (field: "name" | "country_code" | "city" | "website") =>
    profile?.[field] ?? request[field];
  const country_code = said("country_code");
  const number = request.registration_number;
  return {
    id: profile?.id ?? null,
    name: said("name") ?? "",
    country_code,
    city: said("city"),
    website: said("website"),
    registration:
      number === null || country_code === null
        ? null
        : readRegistrationNumber(number, country_code),
  };
}

/** The address that a new profile gets unless somebody else takes it before. */
export const slugFor = async (
  asked: Parameters<ReturnType<typeof giveSlugs>>[0],
  { name, city }: { name: string; city: string | null },
): Promise<string> => {
  const [slug] = await giveSlugs()(asked, [
    { slug_name: name, org_id: "nonprofit", city, region: null },
  ]);
  if (slug === undefined) throw new Error("no slug was given");
  return slug;
};

async function answerOf(
  { store, baseUrl, statusToken }: OnboardContext,
  { name, city }: OnboardingRequest,
  { id, type, slug, status, status_digest }: OnboardingStored,
): Promise<OnboardingAnswer> {
  const token = statusToken(id);
  const link = digestOf(token) === status_digest ? `${baseUrl}/onboard/status#${token}` : null;
  return {
    success: true,
    type,
    submission_id: id,
    slug: slug ?? (await slugFor(store, { name: name ?? "", city })),
    status,
    message: link === null ? waitsAlready : messages[type],
    status_url: link,
  };
}

const waitsAlready =
  "The same request waits for review already. Its status_url was shown to the first sender, and is shown again only with the same Idempotency-Key.";
const waits = "Nothing is public before a reviewer approves it; status_url shows its status.";
const messages: Record<OnboardingType, string> = {
  claim: `Your claim waits for review. ${waits}`,
  registration: `Your registration waits for review. The slug is the one it gets unless another takes it before. ${waits}`,
  change: `This profile is claimed already, so this asks to change it. ${waits} A changed wallet takes effect some days after approval.`,
};
