import { z } from "zod";
import { correctionFields } from "./correction.ts";
import { countedText, optionalText } from "./enrichment.ts";
import { named } from "./base/shape.ts";

/** Gaps are kept so long; one network (a /24 or /48) and all together are counted so often in a UTC day. */
export const gapLimits = { characters: 300, keptDays: 90, ofNetwork: 50, ofAll: 1_000 } as const;

const name = (what: string) => optionalText(100).describe(what);

/** The body of POST /api/gaps. */
export const GapBody = named(
  "GapBody",
  {
    looked_for: countedText(
      gapLimits.characters,
      "looked_for says in one sentence what you looked for and did not find.",
    ).describe("What you looked for and did not find, in one sentence. Seen by operators alone"),
    field: z.enum(correctionFields).nullish().describe("The field of a profile it would stand in"),
    cause: name("Id of the cause, as GET /api/causes has it"),
    country: name("English name or ISO 3166 code of the country"),
    slug: name("Slug of the profile that lacks it; absent when you found none"),
  },
  {
    examples: [
      {
        looked_for: "How many people the water points of this charity serve.",
        field: "beneficiaries_per_year",
        slug: "hope-kitchen",
      },
    ],
  },
);

const count = z.int().min(0);

/** 200 of GET /api/admin/gaps. */
export const GapList = named("GapList", {
  count,
  gaps: z.array(
    z.object({
      id: z.int(),
      day: z.string().describe("YYYY-MM-DD, UTC"),
      looked_for: z.string(),
      field: z.string().nullable(),
      cause: z.string().nullable(),
      country_code: z.string().nullable(),
      slug: z.string().nullable(),
    }),
  ),
  next: z.int().nullable().describe("`before` of the next page"),
});
export type GapList = z.infer<typeof GapList>;

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
  by_country: z.array(z.object({ country: z.string(), country_code: z.string(), count })),
});
export type GapCounts = z.infer<typeof GapCounts>;
