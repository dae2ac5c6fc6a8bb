import { z } from "zod";
import { correctionFields } from "./correction.ts";
import { countedText, optionalText } from "./enrichment.ts";
import { named } from "./base/shape.ts";

/** Gaps are kept so long; one network (a /24 or /48) and all together are counted so often in a UTC day. */
export const gapLimits = { characters: 300, keptDays: 90, ofNetwork: 50, ofAll: 1_000 } as const;

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

/** 200 of GET /api/gaps: no sentence is among it. */
export const GapCounts = named("GapCounts", {
  days: count.describe("Of so many days"),
  total: count,
  by_field: z.array(z.object({ field: z.string(), count })),
  by_cause: z.array(z.object({ cause: z.string(), count })),
  by_country: z.array(
    z.object({ country: z.string().nullable(), country_code: z.string(), count }),
  ),
});
export type GapCounts = z.infer<typeof GapCounts>;

const text = z.string().nullable();
const gap = { day: z.string(), field: text, cause: text, country_code: text, slug: text };

/** 200 of GET /api/admin/gaps, the newest first. */
export const GapList = named("GapList", {
  gaps: z.array(z.object({ looked_for: z.string(), ...gap })),
});
export type GapList = z.infer<typeof GapList>;
