import { z } from "zod";
import { countedText, lengthMax, optionalText, sourceUrlLengthMax } from "./enrichment.ts";
import { fieldsWhere } from "./fields.ts";
import { requestStates } from "./onboarding.ts";
import { count, named, textOrNull } from "#content/contract/base/json.ts";

/** Fields that an accepted correction sets, by their names in a profile. */
export const settableByCorrection = fieldsWhere("corrected");
export type SettableByCorrection = (typeof settableByCorrection)[number];

/** What anyone may report as wrong. The last ones have no single value: an operator corrects them by hand. */
export const correctionFields = [
  ...settableByCorrection,
  "programs",
  "impact_metrics",
  "registrations",
  "usdc_wallet",
  "other",
] as const;
export type CorrectionField = (typeof correctionFields)[number];

/** The greatest lengths of texts, in characters. */
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

/** The body of POST /api/corrections/{slug}. Private except for what an operator makes of it. */
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

const status = z.enum(requestStates);

/** 200 of POST /api/corrections/{slug}. */
export const CorrectionAnswer = named("CorrectionAnswer", {
  success: z.literal(true),
  correction_id: z.string(),
  slug: z.string(),
  field: z.enum(correctionFields),
  status,
  message: z.string(),
  status_url: textOrNull.describe(
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
  reason: textOrNull.describe("What the operator says, above all why it was rejected"),
  submitted_at: z.string().describe("ISO 8601, UTC"),
  reviewed_at: textOrNull.describe("ISO 8601, UTC"),
  profile_url: z.string(),
  history_url: z.string().describe("The history of the profile, which shows accepted corrections"),
  message: z.string(),
});
export type CorrectionStatus = z.infer<typeof CorrectionStatus>;

/**
 * Limits of reported gaps: how long and how many are kept (the newest), and how many are accepted per UTC day from one
 * network (a /24 or /48) and in all. Anyone may ask for the counts.
 */
export const gapLimits = {
  characters: 300,
  keptDays: 90,
  kept: 10_000,
  ofNetwork: 50,
  ofAll: 1_000,
} as const;

const whatIsMissing = "looked_for says in one sentence what you looked for and did not find.";
const looked_for = "How many people the water points of this charity serve.";

/** The body of POST /api/gaps. */
export const GapBody = named(
  "GapBody",
  {
    looked_for: countedText(gapLimits.characters, whatIsMissing).describe(
      "What you looked for and did not find, in one sentence. Seen by operators alone",
    ),
    field: z.enum(correctionFields).nullish().describe("The field of a profile it would stand in"),
    cause: optionalText(100).describe("Id of the cause, as GET /api/causes has it"),
    country: optionalText(100).describe("English name or ISO 3166 code of the country"),
    slug: optionalText(200).describe(
      "Slug of the profile that lacks it; absent when none was found",
    ),
  },
  { examples: [{ looked_for, field: "beneficiaries_per_year", slug: "hope-kitchen" }] },
);

/** 200 of POST /api/gaps. */
export const GapAnswer = named("GapAnswer", {
  success: z.literal(true),
  counted: z.boolean().describe("False: your network reported the same today, which counts once"),
  message: z.string(),
  counts_url: z.string().describe("What is counted, for everyone"),
});
export type GapAnswer = z.infer<typeof GapAnswer>;

const about = { field: textOrNull, cause: textOrNull, country_code: textOrNull };

/** 200 of GET /api/gaps; it contains no sentences of senders. */
export const GapCounts = named("GapCounts", {
  days: count.describe("Of so many days, at most the newest 10,000"),
  total: count,
  gaps: z.array(z.object({ ...about, count })).describe("The most frequent first, at most 1,000"),
});
export type GapCounts = z.infer<typeof GapCounts>;

/** 200 of GET /api/admin/gaps: newest first. */
export const GapList = named("GapList", {
  gaps: z.array(z.object({ looked_for: z.string(), day: z.string(), ...about, slug: textOrNull })),
});
export type GapList = z.infer<typeof GapList>;
