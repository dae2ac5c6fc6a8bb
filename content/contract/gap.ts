import { z } from "zod";
import { correctionFields } from "./correction.ts";
import { countedText, optionalText } from "./enrichment.ts";
import { named } from "./base/shape.ts";

/**
 * Gaps are kept so long, the newest of them: whoever asks has them counted. One network (a /24 or /48) and all together
 * are taken so many of in a UTC day.
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

const count = z.int().min(0);

/** 200 of POST /api/gaps. */
export const GapAnswer = named("GapAnswer", {
  success: z.literal(true),
  counted: z.boolean().describe("False: your network reported the same today, which counts once"),
  message: z.string(),
  counts_url: z.string().describe("What is counted, for everyone"),
});
export type GapAnswer = z.infer<typeof GapAnswer>;

const text = z.string().nullable();
const about = { field: text, cause: text, country_code: text };

/** 200 of GET /api/gaps: no sentence is among it. */
export const GapCounts = named("GapCounts", {
  days: count.describe("Of so many days, at most the newest 10,000"),
  total: count,
  gaps: z.array(z.object({ ...about, count })).describe("The most frequent first, at most 1,000"),
});
export type GapCounts = z.infer<typeof GapCounts>;

/** 200 of GET /api/admin/gaps, the newest first. */
export const GapList = named("GapList", {
  gaps: z.array(z.object({ looked_for: z.string(), day: z.string(), ...about, slug: text })),
});
export type GapList = z.infer<typeof GapList>;
