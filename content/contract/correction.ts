import { z } from "zod";
import { countedText, optionalText, sourceUrlLengthMax, lengthMax } from "./enrichment.ts";
import { fieldsWhere } from "./fields.ts";
import { onboardingStates } from "./onboarding.ts";
import { named } from "./base/shape.ts";

/** Fields that an accepted correction sets, by their names in a profile. */
export const settableByCorrection = fieldsWhere("corrected");
export type SettableByCorrection = (typeof settableByCorrection)[number];

/** What anyone may say is wrong. The last ones have no single value: an operator puts them right by hand. */
export const correctionFields = [
  ...settableByCorrection,
  "programs",
  "impact_metrics",
  "registrations",
  "usdc_wallet",
  "other",
] as const;
export type CorrectionField = (typeof correctionFields)[number];

/** Longest texts in characters. */
export const correctionLengthMax = {
  what_is_wrong: 1_000,
  suggested_value: lengthMax.description,
  source_url: sourceUrlLengthMax,
  contact_email: lengthMax.contact_email,
} as const;

const optional = (field: keyof typeof correctionLengthMax, description: string) => {
  const most = correctionLengthMax[field];
  return optionalText(most, countedText(most)).describe(description);
};

const whichField = `field is what is wrong: one of ${correctionFields.join(", ")}.`;

/** The body of POST /api/corrections/{slug}. Private but for what an operator makes of it. */
export const CorrectionBody = named(
  "CorrectionBody",
  {
    field: z
      .enum(correctionFields, { error: whichField })
      .describe(
        "The field of the profile that is wrong. other: anything else, for example a fact of a register, or that the organisation no longer exists",
      ),
    what_is_wrong: countedText(
      correctionLengthMax.what_is_wrong,
      "what_is_wrong says what is wrong, in a sentence or two.",
    ).describe("What is wrong, and how one can tell. Never public"),
    suggested_value: optional(
      "suggested_value",
      "What would be right, as the field holds it: a number, an address, ids of causes with commas. Absent: you know only that it is wrong",
    ),
    source_url: optional("source_url", "Where one can see it"),
    contact_email: optional(
      "contact_email",
      "Where the operator can ask you. Never public; erased 90 days after the decision",
    ),
  },
  {
    examples: [
      {
        field: "city",
        what_is_wrong: "They moved in 2024; the register still has the old office.",
        suggested_value: "Kisumu",
        source_url: "https://hope-kitchen.example/contact",
      },
    ],
  },
);
export type CorrectionBody = z.infer<typeof CorrectionBody>;

const status = z.enum(onboardingStates);

/** 200 of POST /api/corrections/{slug}. */
export const CorrectionAnswer = named("CorrectionAnswer", {
  success: z.literal(true),
  correction_id: z.string(),
  slug: z.string(),
  field: z.enum(correctionFields),
  status,
  message: z.string(),
  status_url: z
    .string()
    .nullable()
    .describe(
      "A private page that shows what became of it: do not share the link. Null when the same correction waits already, unless it came with the same Idempotency-Key",
    ),
});
export type CorrectionAnswer = z.infer<typeof CorrectionAnswer>;

/** 200 of GET /api/corrections/status: what the sender may know. */
export const CorrectionStatus = named("CorrectionStatus", {
  correction_id: z.string(),
  slug: z.string(),
  field: z.enum(correctionFields),
  status,
  reason: z.string().nullable().describe("What the operator says, above all why it was rejected"),
  submitted_at: z.string().describe("ISO 8601, UTC"),
  reviewed_at: z.string().nullable().describe("ISO 8601, UTC"),
  profile_url: z.string(),
  history_url: z.string().describe("The history of the profile, which shows accepted corrections"),
  message: z.string(),
});
export type CorrectionStatus = z.infer<typeof CorrectionStatus>;
