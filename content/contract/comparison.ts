import { z } from "zod";
import { named } from "#content/contract/base/json.ts";
import { NonprofitDetail } from "./nonprofit.ts";
import { cleanText, parameter } from "./operations/query.ts";

/** The most organisations in one comparison. */
export const comparedMax = 4;

const Nearest = z.object({ slug: z.string(), name: z.string() });

/** GET /api/compare. */
export const Comparison = named("Comparison", {
  nonprofits: z.array(NonprofitDetail).describe("In the order of orgs; merged ones are followed"),
  not_found: z
    .array(z.object({ slug: z.string(), nearest: z.array(Nearest) }))
    .describe("Slugs that no nonprofit has, with the nearest names"),
});
export type Comparison = z.infer<typeof Comparison>;

/** The slugs in a text separated by commas or spaces, each once, at most 50; addresses of profiles count as slugs. */
export const slugsIn = (orgs: string): string[] => {
  const words = orgs.split(/[\s,]+/, 50);
  const slugs = words.map((word) => /([^/?#]*)\/?(?:[?#].*)?$/.exec(word)?.[1] ?? "");
  return [...new Set(slugs)].filter((slug) => slug !== "");
};

const error = `orgs names one to ${comparedMax} organisations: slugs with commas between them.`;

/** The organisations to compare, as programs send them; the page reports errors itself. */
export const comparedOrgs = parameter(
  (text) => cleanText(text),
  z
    .string({ error })
    .refine((orgs) => slugsIn(orgs).length > 0 && slugsIn(orgs).length <= comparedMax, { error }),
  `Slugs of one to ${comparedMax} organisations, with commas between them`,
  "hope-kitchen,water-for-all",
);
