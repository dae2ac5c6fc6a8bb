import { z } from "zod";
import { named } from "./base/shape.ts";
import { NonprofitDetail } from "./nonprofit.ts";
import { cleaned, parameter } from "./operations/query.ts";

/** Organisations side by side at most. */
export const comparedMax = 4;

/** GET /api/compare. */
export const Comparison = named("Comparison", {
  nonprofits: z
    .array(NonprofitDetail)
    .describe(
      "As at /api/nonprofits/{slug}, in the order of orgs; of a merged profile the one that it went into",
    ),
  not_found: z
    .array(
      z.object({
        slug: z.string(),
        nearest: z.array(z.object({ slug: z.string(), name: z.string() })),
      }),
    )
    .describe("Slugs that no nonprofit has, with the nearest names"),
});
export type Comparison = z.infer<typeof Comparison>;

/** The slugs in a text, each once: between commas or spaces, alone or as addresses of profiles. At most 50 are read. */
export const slugsIn = (orgs: string): string[] => {
  const names = orgs
    .split(/[\s,]+/, 50)
    .map((one) => /([^/?#]*)\/?(?:[?#].*)?$/.exec(one)?.[1] ?? "");
  return [...new Set(names.filter((name) => name !== ""))];
};

const error = `orgs names one to ${comparedMax} organisations: slugs with commas between them.`;
const isComparable = (orgs: string) =>
  slugsIn(orgs).length > 0 && slugsIn(orgs).length <= comparedMax;

/** What is compared, for programs; a page says itself what is wrong. */
export const comparedOrgs = parameter(
  (given) => cleaned(given),
  z.string({ error }).refine(isComparable, { error }),
  `Slugs of one to ${comparedMax} organisations, with commas between them`,
  "hope-kitchen,water-for-all",
);
