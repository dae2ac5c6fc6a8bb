import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { objectIn } from "#content/contract/base/json.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { fitted, wrongsInWords } from "#content/contract/problem.ts";
import { CauseId } from "#content/contract/browse.ts";
import type { EnrichableField } from "#content/contract/enrichment.ts";
import { correctable, type OnboardingType } from "#content/contract/onboarding.ts";
import { countryName } from "#content/nonprofit/country.ts";
import {
  emptyRecord,
  type NonprofitRecord,
  sourceFrom,
  type StoredProvenance,
} from "#content/nonprofit/record.ts";
import { operatorProvenance, type SourcedValue } from "#content/nonprofit/provenance.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import type { HostControl } from "./host-proof.ts";
import type { Program } from "#content/contract/nonprofit.ts";
import { type OnboardingRequest, programsIn, readField } from "./read.ts";
import type { WalletProof } from "./wallet-challenge.ts";
import { readRegistrationNumber } from "#content/register/org-id.ts";

export type OnboardingOutcome = {
  after: NonprofitRecord;
  /** Fields that keep their value although the request has another one. */
  keptFields: ClaimedField[];
  /** Fields whose live value the claim replaces because it says that the value is wrong. */
  correctedFields: ClaimedField[];
  /** The wallet that the profile gets. `holdReason` says why it waits; null if it takes effect at once. */
  wallet: { address: string; holdReason: string | null } | null;
};

/** Fields of a profile that a request may fill, besides contact and wallet. */
export const profileFields = [
  "mission",
  "website",
  "city",
  "country_code",
  "tagline",
  "donation_url",
  "logo_url",
] as const;
export type ProfileField = (typeof profileFields)[number];
type ClaimedField = ProfileField | "programs";

export type ApprovalCase = {
  type: OnboardingType;
  request: OnboardingRequest;
  proof: WalletProof | null;
  edits: OnboardingEdits;
  /** For a registration; otherwise the profile already has a slug. */
  slug: string;
  host: HostControl;
  /** Whether a verification of this profile was ever revoked. */
  revokedBefore: boolean;
  nowMs: number;
};

/**
 * The profile after approval. A claim fills empty fields and replaces those that it says are wrong; a change of a claimed
 * profile replaces values; a registration makes a profile (docs/decisions/30-claims.md).
 */
export function onboardingOutcome(
  before: NonprofitRecord | null,
  approval: ApprovalCase,
): OnboardingOutcome {
  const { request, nowMs } = approval;
  const after =
    before === null ? registered(approval) : { ...before, provenance: { ...before.provenance } };
  if (approval.type !== "claim") setName(after, approval);
  const { keptFields, correctedFields } = standingFields(before, approval);
  for (const field of profileFields) {
    const editedValue = approval.edits[field];
    const value = editedValue === undefined ? request[field] : editedValue;
    if (value === null || sameValue(field, value, after[field]) || keptFields.includes(field))
      continue;
    const live = { value: after[field], source: after.provenance[field] };
    set(
      after,
      field,
      value,
      provenanceFor(field, { editedValue, sentValue: request[field], live }, nowMs),
    );
  }
  if (!keptFields.includes("programs")) setPrograms(after, approval);
  const { causes } = approval.edits;
  if (causes !== undefined) set(after, "causes", causes, sourceFrom("operator", nowMs));
  if (request.contact_email !== after.contact_email) {
    const live = { value: after.contact_email, source: after.provenance["contact_email"] };
    const source = sourceFrom("organisation", nowMs, replacing(live));
    set(after, "contact_email", request.contact_email, source);
  }
  after.verified = 1;
  after.status = "claimed";
  return { after, keptFields, correctedFields, wallet: walletAfter(after, approval) };
}

/** A claim keeps the listing's name; a registration gives the profile one, and a change may rename it. */
function setName(after: NonprofitRecord, { request, edits, nowMs }: ApprovalCase): void {
  const name = edits.name ?? request.name ?? after.name;
  if (name === after.name) return;
  const live = { value: after.name, source: after.provenance["name"] };
  const values = { editedValue: edits.name, sentValue: request.name, live };
  set(after, "name", name, provenanceFor("name", values, nowMs));
}

function setPrograms(after: NonprofitRecord, { request, edits, nowMs }: ApprovalCase): void {
  const { programs = request.programs } = edits;
  const programList = otherPrograms(programs, after.programs);
  if (programList === null) return;
  set(after, "programs", programList, sourceFrom("organisation", nowMs));
}

/** The programmes of a request; null if it has none, or those that the profile has. */
function otherPrograms(text: string | null, live: readonly Program[]): Program[] | null {
  const programList = programsIn(text ?? "");
  if (!programList.ok || programList.value.length === 0) return null;
  return isDeepStrictEqual(programList.value, live) ? null : programList.value;
}

/** Fields whose live value differs from a claim's: those that stay, and those that it says are wrong. */
export function standingFields(
  before: NonprofitRecord | null,
  { type, request, edits }: Pick<ApprovalCase, "type" | "request" | "edits">,
): Pick<OnboardingOutcome, "keptFields" | "correctedFields"> {
  const standing = ([...profileFields, "programs"] as const).filter((field) => {
    const value = edits[field] === undefined ? request[field] : edits[field];
    return type === "claim" && before !== null && value !== null && differs(field, value, before);
  });
  const isWrong = (field: ClaimedField) =>
    request.corrects.includes(field === "country_code" ? "country" : field);
  return {
    keptFields: standing.filter((field) => !isWrong(field)),
    correctedFields: standing.filter(isWrong),
  };
}

/** Whether a profile has another value. */
function differs(field: ClaimedField, value: string, before: NonprofitRecord): boolean {
  if (field === "programs") {
    return before.programs.length > 0 && otherPrograms(value, before.programs) !== null;
  }
  const live = before[field] ?? "";
  return live !== "" && !sameValue(field, value, live);
}

/** The source is the operator only if the operator changed the value: the desk sends all fields when one was edited. */
function provenanceFor(
  field: ProfileField | "name",
  {
    editedValue,
    sentValue,
    live,
  }: { editedValue: string | null | undefined; sentValue: string | null; live: SourcedValue },
  nowMs: number,
): StoredProvenance {
  const source = sourceFrom("organisation", nowMs, replacing(live));
  if (editedValue == null || editedValue === sentValue) return source;
  if (field !== "name" && sameValue(field, editedValue, sentValue)) return source;
  const statements = [live, { value: sentValue, source }];
  return operatorProvenance(field, editedValue, statements, nowMs);
}

/** What returns if the organisation's value is revoked; for an earlier value of its own, what that had replaced. */
function replacing({ value, source }: SourcedValue): Pick<StoredProvenance, "replaced"> {
  const { replaced, ...from } = source ?? sourceFrom("operator", 0);
  if (source?.set_by === "organisation") return replaced === undefined ? {} : { replaced };
  if (typeof value !== "string" || value === "") return {};
  return { replaced: { value, source: source === undefined ? null : from } };
}

type Settable =
  | ProfileField
  | "causes"
  | "programs"
  | "contact_email"
  | "usdc_wallet"
  | "name"
  | "registrations";

function set(
  after: NonprofitRecord,
  field: Settable,
  value: NonprofitRecord[Settable],
  source: StoredProvenance,
): void {
  Object.assign(after, { [field]: value });
  after.provenance[field] = source;
}

function registered({ request, edits, slug, nowMs }: ApprovalCase): NonprofitRecord {
  const after: NonprofitRecord = {
    ...structuredClone(emptyRecord),
    slug,
  };
  const { registration_number: number } = request;
  const country_code = edits.country_code ?? request.country_code;
  if (number !== null && country_code !== null) {
    const registration = readRegistrationNumber(number, country_code);
    set(after, "registrations", [registration], sourceFrom("organisation", nowMs));
  }
  return after;
}

/** Sets a wallet that takes effect at once, or the proof of the existing one. */
function walletAfter(after: NonprofitRecord, approval: ApprovalCase): OnboardingOutcome["wallet"] {
  const { request, proof, nowMs } = approval;
  const address = request.usdc_wallet;
  if (address === null) return null;
  const holdReason = address === after.usdc_wallet ? null : whyHeld(after.usdc_wallet, approval);
  if (holdReason !== null) return { address, holdReason };
  if (after.usdc_wallet !== address) {
    set(after, "usdc_wallet", address, sourceFrom("organisation", nowMs));
  }
  if (proof !== null) {
    after.wallet_challenge = proof.challenge;
    after.wallet_signature = proof.signature;
  }
  return { address, holdReason: null };
}

/**
 * Why an approved wallet waits; null if there was none before, and control is proven of the wallet and of a host that
 * someone else named.
 */
function whyHeld(live: string | null, { host, proof, revokedBefore }: ApprovalCase): string | null {
  if (live !== null) return "it replaces another wallet";
  if (revokedBefore) return "a verification of this profile was taken back before";
  if (host.state !== "proven") return "control of the organisation's host is not proven";
  if (host.ownWord) return "only the organisation itself says that the host is its own";
  return proof === null ? "control of the wallet is not proven" : null;
}

/** Whether two values are the same to readers: a website that differs only by a slash needs no decision. */
export function sameValue(field: ProfileField, first: string, second: string | null): boolean {
  if (second === null || second === "") return false;
  if (["country_code", "donation_url", "logo_url"].includes(field)) return first === second;
  const column = field as EnrichableField;
  return comparedValue(column, first) === comparedValue(column, second);
}

/** Texts of a request that an operator may edit while approving it. */
const editableTexts = correctable.filter((field) => field !== "country");

/** An operator's edits of a request on approval. Null: do not use the value. */
export type OnboardingEdits = { name?: string; causes?: string[] } & {
  [Field in (typeof editableTexts)[number] | "country_code"]?: string | null;
};

const text = z.string().nullable().optional();

/** The `value` of an approval: never a wallet or contact, which only the organisation can vouch for. */
const EditBody = z.strictObject({
  name: z.string().optional(),
  ...(Object.fromEntries(editableTexts.map((field) => [field, text])) as Record<
    (typeof editableTexts)[number],
    typeof text
  >),
  country: text,
  causes: z.array(CauseId).max(8).optional(),
});

/** The editable values as JSON text, in which they come back; `approvedValue` holds a first operator's edits. */
export const editable = (request: OnboardingRequest, approvedValue: string | null): string =>
  JSON.stringify({
    ...(request.claim_slug === null ? { name: request.name, causes: [] } : {}),
    ...Object.fromEntries(editableTexts.map((field) => [field, request[field]])),
    country: countryName(request.country_code),
    ...objectIn(approvedValue ?? ""),
  });

type EditsResult = Result<OnboardingEdits, string>;

/** Reads the edits of a request: a JSON object as text, null for none. Checked like the organisation's own values. */
export function readEdits(value: string | null, { thisYear }: { thisYear: number }): EditsResult {
  if (value === null || value.trim() === "") return ok({});
  const sent = objectIn(value);
  if (sent === null) return fail(howToEdit);
  const editBody = fitted(EditBody, sent);
  if (!editBody.ok) return fail(wrongsInWords(editBody.failure));
  const { causes, ...texts } = editBody.value;
  const edits: OnboardingEdits = causes === undefined ? {} : { causes: [...new Set(causes)] };
  for (const [field, given] of Object.entries(texts)) {
    const isGiven = typeof given === "string";
    const fieldValue = isGiven ? readField(field as keyof typeof texts, given, thisYear) : ok(null);
    if (!fieldValue.ok) return fieldValue;
    Object.assign(edits, { [field === "country" ? "country_code" : field]: fieldValue.value });
  }
  return ok(edits);
}

const howToEdit =
  'To edit while approving, send value as a JSON object with any of name (registrations, changes), mission, website, city, country, tagline, donation_url, logo_url, programs and causes, for example {"city": "Kisumu", "causes": ["education"]}. null leaves a value out.';
