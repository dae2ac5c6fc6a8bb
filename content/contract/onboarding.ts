import { z } from "zod";
import says from "#content/editorial/onboarding-fields.json";
import { named, reason, textOrNull, texts } from "#content/contract/base/json.ts";
import {
  countedText,
  lengthMax,
  optionalText as optional,
  sourceUrlLengthMax,
} from "./enrichment.ts";
import { NonprofitStatus } from "./nonprofit.ts";
import { textAsItCame } from "./operations/query.ts";

export const onboardingTypes = ["claim", "registration", "change"] as const;
export type OnboardingType = (typeof onboardingTypes)[number];

/** The states of requests with a table of their own: claims, registrations, changes and corrections. */
export const requestStates = ["pending_review", "approved", "rejected"] as const;
export type RequestState = (typeof requestStates)[number];

/** How control of a host was proven: by a file on it, a DNS record, or a link sent to a mailbox at it. */
export const provenBy = ["file", "dns", "email"] as const;
export type ProvenBy = (typeof provenBy)[number];

/** The live values that a claim replaces when it is approved. */
export const correctable = [
  "mission",
  "website",
  "city",
  "country",
  "tagline",
  "donation_url",
  "logo_url",
  "programs",
] as const;

/** The greatest lengths in characters, for fields whose length is not set elsewhere. */
export const onboardingLengthMax = {
  claim_slug: 200,
  name: 200,
  contact_name: 128,
  country: 100,
  registration_number: 64,
  programs: 5_000,
  wallet_challenge: 1_000,
} as const;

const optionalText = (most: number, description: string) =>
  optional(most, countedText(most)).describe(description);

const namesInText = z.string().transform((text) =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== ""),
);

/** A valid body, shown in the API's description and to anyone who sent an invalid one. */
export const claimExample = {
  claim_slug: "hope-kitchen",
  contact_email: "office@hope-kitchen.example",
  contact_name: "Ada Okello",
  website: "https://hope-kitchen.example",
} as const;

export const registrationExample = {
  name: "Lantern School Trust",
  country: "Kenya",
  city: "Kisumu",
  contact_email: "office@lantern-school.example",
  mission: "We teach children to read.",
} as const;

/** The error for a body that names no organisation. */
export const whatToOnboard =
  "Send an object with claim_slug and contact_email, or with name, country and contact_email.";

/** The body of POST /api/onboard. With claim_slug it claims or changes a listing, otherwise it registers a profile. */
export const OnboardingBody = z
  .object(
    {
      claim_slug: optionalText(sourceUrlLengthMax, says.claim_slug),
      name: optionalText(onboardingLengthMax.name, says.name),
      contact_email: optionalText(lengthMax.contact_email, says.contact_email),
      contact_name: optionalText(onboardingLengthMax.contact_name, says.contact_name),
      usdc_wallet: optionalText(44, says.usdc_wallet),
      mission: optionalText(lengthMax.mission, says.mission),
      website: optionalText(lengthMax.website, says.website),
      tagline: optionalText(lengthMax.tagline, says.tagline),
      donation_url: optionalText(lengthMax.website, says.donation_url),
      logo_url: optionalText(lengthMax.website, says.logo_url),
      programs: optionalText(onboardingLengthMax.programs, says.programs),
      country: optionalText(onboardingLengthMax.country, says.country),
      city: optionalText(lengthMax.city, says.city),
      registration_number: optionalText(
        onboardingLengthMax.registration_number,
        says.registration_number,
      ),
      corrects: z
        .union([z.array(z.enum(correctable)), namesInText.pipe(z.array(z.enum(correctable)))])
        .nullish()
        .transform((fields) => fields ?? [])
        .describe(says.corrects),
      wallet_challenge: optionalText(onboardingLengthMax.wallet_challenge, says.wallet_challenge),
      wallet_signature: optionalText(88, says.wallet_signature),
    },
    { error: whatToOnboard },
  )
  .meta({
    id: "OnboardingBody",
    examples: [claimExample, registrationExample],
    required: ["contact_email"],
    anyOf: [{ required: ["claim_slug"] }, { required: ["name", "country"] }],
  });
export type OnboardingBody = z.infer<typeof OnboardingBody>;

export const hostProofStates = ["proven", "not_proven", "nothing_to_prove_against"] as const;

/** How the sender can prove control of the organisation's host, and whether that is done. */
export const HostProof = named("HostProof", {
  state: z.enum(hostProofStates),
  host: textOrNull.describe("The host to prove; null: there is none"),
  token: textOrNull.describe(
    "Publish it as a line of `file_url`, or as a TXT record at `dns_name`",
  ),
  file_url: textOrNull,
  dns_name: textOrNull,
  email: z
    .boolean()
    .describe("Whether the directory can send a link to `contact_email`, which proves it, too"),
  by: z.enum(provenBy).nullable().describe("How it was proven"),
  proven_at: textOrNull.describe("ISO 8601, UTC"),
  valid_until: textOrNull.describe("ISO 8601, UTC: a proof counts for 30 days"),
  message: z.string(),
});
export type HostProof = z.infer<typeof HostProof>;

/** The body of POST /api/onboard/host-proof; a missing body counts as an empty one. */
export const HostProofBody = named("HostProofRequest", {
  email: z
    .boolean()
    .nullish()
    .describe("true: send a link to `contact_email` instead of looking for the token"),
  code: z.string().max(200).nullish().describe("What such a link carries behind the secret"),
});

/** 200 of POST /api/onboard. */
export const OnboardingAnswer = named("OnboardingAnswer", {
  success: z.literal(true),
  type: z
    .enum(onboardingTypes)
    .describe("change: the profile is claimed already, and the request asks to change it"),
  submission_id: z.string(),
  slug: z
    .string()
    .describe("Of the profile; of a registration the one it will have unless it is taken by then"),
  status: z.enum(requestStates),
  message: z.string(),
  status_url: textOrNull.describe(
    "A private page that shows the status of the request: do not share the link. Null when the same request came before, unless it came with the same Idempotency-Key",
  ),
  host_proof: HostProof.nullable().describe("Null where status_url is"),
});
export type OnboardingAnswer = z.infer<typeof OnboardingAnswer>;

/** 200 of GET /api/onboard/challenge. */
export const WalletChallenge = named("WalletChallenge", {
  wallet: z.string(),
  challenge: z.string().describe("Sign exactly these bytes (UTF-8), line breaks included"),
  issued_at: z.string().describe("ISO 8601, UTC"),
  expires_at: z.string().describe("ISO 8601, UTC"),
  message: z.string(),
});
export type WalletChallenge = z.infer<typeof WalletChallenge>;

/** Query of GET /api/onboard/challenge. */
export const ChallengeParameters = z.object({
  wallet: textAsItCame(
    "The Solana address whose control is to be proved",
    "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
  ),
});

export const walletStates = [
  "none",
  "in_review",
  "held",
  "in_effect",
  "stopped",
  "replaced",
  "rejected",
] as const;

/** 200 of GET /api/onboard/status: what the person who sent it may know. */
export const OnboardingStatus = named("OnboardingStatus", {
  submission_id: z.string(),
  type: z.enum(onboardingTypes),
  status: z.enum(requestStates),
  slug: textOrNull.describe("Null for a registration that is not approved"),
  name: textOrNull.describe("Name of the organisation"),
  reason: textOrNull.describe("What the reviewer says, above all why it was rejected"),
  wallet: z
    .object({
      state: z.enum(walletStates),
      address: textOrNull.describe("The first and last four characters"),
      proven: z.boolean().describe("Whether its control was proved by a signature"),
      takes_effect_at: textOrNull.describe("ISO 8601, UTC; while it is held"),
      reason: textOrNull.describe("Why the change was stopped"),
    })
    .describe("Status of the wallet that was sent"),
  host_proof: HostProof.nullable().describe("Null once it is decided"),
  other_wallet_at: textOrNull.describe(
    "When a wallet from another request for this profile takes effect; ISO 8601, UTC. If that request is not yours, contact the directory's operator before then: the change can be stopped",
  ),
  submitted_at: z.string().describe("ISO 8601, UTC"),
  reviewed_at: textOrNull.describe("ISO 8601, UTC"),
  profile_url: textOrNull,
  message: z.string(),
});
export type OnboardingStatus = z.infer<typeof OnboardingStatus>;

/** A profile that may be the same organisation as the applicant. Shown to reviewers only. */
export const Duplicate = z.object({
  slug: z.string(),
  name: z.string(),
  city: textOrNull,
  status: NonprofitStatus,
  reasons: z.array(z.enum(["same_registration", "same_site", "near_name"])),
  name_similarity: z.number().describe("Sørensen–Dice of letter pairs, 0 to 1"),
});
export type Duplicate = z.infer<typeof Duplicate>;

/** The body of POST /api/admin/nonprofits/{slug}/revoke. */
export const RevokeBody = named("Revocation", {
  reason: reason.describe("Why, for the audit log"),
  take_back_values: z
    .boolean()
    .nullish()
    .describe(
      "false: mission, website, city and country stay where the organisation set them; they are emptied unless given",
    ),
});

/** 200 of POST /api/admin/nonprofits/{slug}/revoke. */
export const RevokeAnswer = named("RevocationResult", {
  slug: z.string(),
  taken_back: texts.describe("Fields that the organisation had set, empty now unless put back"),
  put_back: texts.describe("Of these, the ones that hold again what it had replaced"),
  stopped_hold: z.boolean().describe("Whether a held wallet was stopped"),
  live: z.boolean().nullable().describe("Whether the published profile shows it already"),
});
export type RevokeAnswer = z.infer<typeof RevokeAnswer>;

/** The body of POST /api/admin/contacts/erase: a review, or an address. */
export const ErasureBody = z
  .object({
    review: z
      .string()
      .regex(/^(?:onboarding|correction)-[\da-f]{1,64}$/)
      .nullish()
      .describe("Id of a request or a correction, for example onboarding-4f1c9a0b"),
    email: z.email().max(254).nullish().describe("All requests and corrections from this address"),
  })
  .refine((body) => (body.review == null) !== (body.email == null), "Send review or email.")
  .meta({ id: "ContactErasure", examples: [{ review: "onboarding-4f1c9a0b" }] });

/** 200 of POST /api/admin/contacts/erase. */
export const ErasureAnswer = named("ContactErased", {
  erased: texts.describe(
    "Requests, corrections and submissions of agents whose contact is erased now; at most 500 of each of the former at once",
  ),
  waiting: texts.describe("Those that wait for a decision and keep it until then"),
  profiles: texts.describe(
    "Slugs of profiles that have the address as their contact: edit them to remove it",
  ),
});
export type ErasureAnswer = z.infer<typeof ErasureAnswer>;
