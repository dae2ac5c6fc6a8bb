import { z } from "zod";
import { type FilterParameters, type Filters, noFilters } from "./browse.ts";
import { count, named, textOrNull, texts } from "#content/contract/base/json.ts";
import { NonprofitSummary } from "./nonprofit.ts";

/** A search query. An unknown cause or country is no error: nothing matches it. */
export type SearchQuery = {
  q: string | null;
  filters: Filters;
  /** A postal code or a town; results are at most `within_km` away. */
  near?: string | undefined;
  within_km?: number | undefined;
  /** The filters that tell places of the same name apart; absent: `filters`. */
  placeFilters?: Filters;
  /** Take the words literally: read no number, place or other spelling in them. */
  literal: boolean;
  /** 1 to 50. */
  limit: number;
  /** From 0. */
  offset: number;
  /** Filters narrow the matches but do not change how the words are read, so that facet counts stay valid. */
  steady?: true;
  /** Members of the items; absent: all. */
  fields?: readonly string[] | undefined;
  /** Which of the two arrays to leave out; absent: none. */
  shape?: string | undefined;
  /** Whether to return the ids of all matches, unordered, up to `matchesMax`. */
  matches?: true;
};

/** The radius of a search around a place, in km. */
export const withinKm = { default: 25, max: 100 } as const;

/** A search without filters, as people type one. */
export const unfiltered = { filters: noFilters, literal: false } as const;

/** With more matches than this, values are not counted. */
export const matchesMax = 200_000;

/** The query string of /search; each parameter may be absent. */
export type SearchInput = FilterParameters & {
  q?: string | undefined;
  near?: string | undefined;
  within_km?: number | undefined;
  literal?: string | undefined;
  page?: number | undefined;
};

export const searchLimitMax = 50;
export const searchLimitDefault = 20;

export const SearchEcho = named("SearchEcho", {
  q: textOrNull.describe("Words looked for in name, tagline, mission and description"),
  cause: textOrNull.describe("Cause id, as given"),
  country: textOrNull.describe("Country name or code, as given"),
  region: textOrNull.describe("State, province or region, as given"),
  city: textOrNull.describe("City, as given"),
  claimed: z.boolean().nullable().describe("Whether the organisation has claimed its profile"),
  ghd_aligned: z.boolean().describe("True: only profiles aligned with global health"),
  accepts: z.enum(["usdc"]).nullable().describe("usdc: only those that take gifts so"),
  has_website: z.boolean().nullable().describe("Whether a website has to be known, or must not be"),
  income: textOrNull.describe("Band of the yearly income"),
  near: textOrNull.describe("Postal code or town, as given"),
  within_km: z.int().nullable().describe("As given"),
  literal: z.boolean().describe("True: the words were taken as they stand"),
});

/** How `q` was read. */
export const Understood = named("SearchUnderstood", {
  number: textOrNull.describe("The register number that q is, in org-id form (US-EIN-990305781)"),
  place: z
    .object({
      name: z.string().describe("The place in which results have to be, for example Honolulu"),
      shown: z
        .string()
        .describe("Where the results are: the same, or what was shown when nothing in it matches"),
    })
    .nullable()
    .describe("The place that q names. Names with all of the words match wherever they are"),
  near: z
    .object({
      name: z.string().describe("For example Leeds, West Yorkshire; distances are from its centre"),
      within_km: z.int(),
      choices: texts.optional().describe("Only where no one place is known by it"),
    })
    .optional()
    .describe("What results have to be near, where near or q says so"),
  words: texts.describe("The words that were looked for, in the place if there is one"),
  corrections: z
    .array(z.object({ typed: z.string(), meant: z.string() }))
    .describe("Words that were taken for others, because no profile has them"),
});

export const FoundNonprofit = NonprofitSummary.extend({
  match: z
    .enum(["all", "some"])
    .describe("all: it has every word, in the place that q names; some: it is only related"),
  distance_km: z.number().optional().describe("Only with near: about, from centre to centre"),
}).meta({ id: "FoundNonprofit" });
export type FoundNonprofit = z.infer<typeof FoundNonprofit>;

/** The answer has the same array as `nonprofits` and as `results`, because clients use either name. */
export const SearchAnswer = named("SearchAnswer", {
  query: SearchEcho,
  understood: Understood,
  exact: z
    .boolean()
    .describe(
      "Whether the whole result is what was asked for: false as soon as one profile is only related, or only of the kind that the words name; `note` says why",
    ),
  note: textOrNull.describe("What was looked for instead, or what nothing is known of"),
  count: count.describe("Items in this page"),
  total: count.describe("The whole result, counted exactly: matching + related"),
  matching: count.describe(
    "Profiles with every word, or of the kind that words name, in the place; these come first",
  ),
  related: count.describe(
    "Profiles with some of the words, or near the place; after the matching ones",
  ),
  limit: z.int().min(1).max(searchLimitMax),
  offset: count,
  next: textOrNull.describe("Absolute URL of the next page"),
  prev: textOrNull.describe("Absolute URL of the page before"),
  nonprofits: z.array(FoundNonprofit),
  results: z.array(FoundNonprofit).describe("The same array as nonprofits"),
});
export type SearchAnswer = z.infer<typeof SearchAnswer>;
