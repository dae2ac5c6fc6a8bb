import type { OnboardingType } from "#content/contract/onboarding.ts";
import { type NonprofitRecord, emptyRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import type { OnboardingEdits } from "./edits.ts";
import type { OnboardingRequest } from "./read.ts";
import type { WalletProof } from "./wallet-challenge.ts";
import { readRegistrationNumber } from "#content/register/registration-number.ts";

/** What an approval would write. */
export type OnboardingOutcome = {
  after: NonprofitRecord;
  /** Fields that keep their value although another one was sent. */
  kept: ProfileField[];
  /** The wallet that the profile gets; `held`: it has another one, which stays for the time of the hold. */
  wallet: { address: string; held: boolean } | null;
};

/** Fields of a profile that a request may fill, beside contact and wallet. */
export const profileFields = ["mission", "website", "city", "country_code"] as const;
export type ProfileField = (typeof profileFields)[number];

export type Approving = {
  type: OnboardingType;
  request: OnboardingRequest;
  proof: WalletProof | null;
  /** What the operator changed of it. */
  edits: OnboardingEdits;
  /** For a registration; of others the profile has one. */
  slug: string;
  nowMs: number;
};

/**
 * The profile as it is after approval. A claim fills what is empty; a change of a claimed profile also replaces what
 * stands; a registration makes a profile. A wallet takes effect at once only where there is none. Source: the decisions of the spec,
 * "Onboarding"; docs/decisions/0063.
 */
export function onboardingOutcome(
  before: NonprofitRecord | null,
  approving: Approving,
): OnboardingOutcome {
  const { type, request, nowMs } = approving;
  const after =
    before === null ? registered(approving) : { ...before, provenance: { ...before.provenance } };
  const kept: ProfileField[] = [];
  for (const field of profileFields) {
    const edited = approving.edits[field];
    const value = edited === undefined ? request[field] : edited;
    const held = after[field];
    if (value === null || sameValue(field, value, held)) continue;
    if (held !== null && held !== "" && type !== "change") kept.push(field);
    else set(after, field, value, edited === undefined ? "organisation" : "operator", nowMs);
  }
  const { causes } = approving.edits;
  if (causes !== undefined) set(after, "causes", causes, "operator", nowMs);
  if (request.contact_email !== after.contact_email) {
    set(after, "contact_email", request.contact_email, "organisation", nowMs);
  }
  after.verified = 1;
  after.status = "claimed";
  return { after, kept, wallet: walletAfter(after, approving) };
}

type Settable =
  | ProfileField
  | "causes"
  | "contact_email"
  | "usdc_wallet"
  | "name"
  | "registrations";

function set(
  after: NonprofitRecord,
  field: Settable,
  value: NonprofitRecord[Settable],
  by: "organisation" | "operator",
  applied_at: number,
): void {
  Object.assign(after, { [field]: value });
  after.provenance[field] = sourceFrom(by, applied_at);
}

function registered({ request, edits, slug, nowMs }: Approving): NonprofitRecord {
  const after: NonprofitRecord = {
    ...structuredClone(emptyRecord),
    slug,
  };
  const name = edits.name ?? request.name ?? "";
  set(after, "name", name, edits.name === undefined ? "organisation" : "operator", nowMs);
  const { registration_number: number } = request;
  const country_code = edits.country_code ?? request.country_code;
  if (number !== null && country_code !== null) {
    const registration = { country_code, ...readRegistrationNumber(number, country_code) };
    set(after, "registrations", [registration], "organisation", nowMs);
  }
  return after;
}

/** Sets the wallet where there is none, or the proof of the one that is there; says what remains to be held. */
function walletAfter(
  after: NonprofitRecord,
  { request, proof, nowMs }: Approving,
): OnboardingOutcome["wallet"] {
  const address = request.usdc_wallet;
  if (address === null) return null;
  if (after.usdc_wallet !== null && after.usdc_wallet !== address) return { address, held: true };
  if (after.usdc_wallet === null) set(after, "usdc_wallet", address, "organisation", nowMs);
  if (proof !== null) {
    after.wallet_challenge = proof.challenge;
    after.wallet_signature = proof.signature;
  }
  return { address, held: false };
}

/** Whether two values are one for the reader: a website that differs only in a slash needs no decision. */
export function sameValue(field: ProfileField, one: string, other: string | null): boolean {
  if (other === null || other === "") return false;
  if (field === "country_code") return one === other;
  return comparedValue(field, one) === comparedValue(field, other);
}
