import bands from "#content/editorial/income-bands.json";
import causes from "#content/editorial/causes.json";
import { z } from "zod";
import { count, named, textOrNull } from "#content/contract/base/json.ts";

/** The sort orders of lists. */
export const listSorts = ["relevance", "income", "completeness", "name"] as const;
export type ListSort = (typeof listSorts)[number];

/**
 * Bands of the yearly income in a register, in its own currency: amounts are not converted. `below` is the first amount of
 * the next band; the last band is for organisations without an income in any register.
 */
export const incomeBands: readonly { id: string; name: string; below: number | null }[] = bands;
export const incomeBandIds = bands.map(({ id }) => id) as [string, ...string[]];

/** The facets for which answers count matches per value, in this order. */
export const facetNames = [
  "cause",
  "country",
  "region",
  "city",
  "claimed",
  "accepts",
  "has_website",
  "income",
] as const;
export type FacetName = (typeof facetNames)[number];

/** The filters of lists, searches, recommendations and their pages. */
export const filterNames = [...facetNames, "ghd_aligned"] as const;
export type FilterName = (typeof filterNames)[number];

/** Filter values as typed; null for an absent filter. Filters combine. */
export type Filters = Readonly<Record<FilterName, string | null>>;

/** Filters as parameters of a query string. */
export type FilterParameters = { readonly [Name in FilterName]?: string | null | undefined };

export const filtersOf = (parameters: FilterParameters): Filters =>
  Object.fromEntries(filterNames.map((name) => [name, parameters[name] ?? null])) as Filters;
export const noFilters: Filters = filtersOf({});

export const givenFilters = (filters: FilterParameters): [FilterName, string][] =>
  filterNames.flatMap((name) => {
    const value = filters[name] ?? "";
    return value === "" ? [] : [[name, value]];
  });

/** A note in answers that filters narrow. */
export const unknownNote = textOrNull.describe("What values are near an unknown one");

/** The number of nonprofits with each value, by facet, most frequent first. */
export type FacetCounts = Record<FacetName, { value: string; count: number }[]>;

/** A query for part of the directory. `fields`: the members of the items; `include`: what to add beside them. */
export type BrowseQuery = {
  filters: Filters;
  sort: ListSort;
  limit: number;
  offset: number;
  fields?: readonly string[] | undefined;
  include?: readonly string[] | undefined;
};

type BrowseParameters = FilterParameters &
  Omit<BrowseQuery, "filters" | "sort"> & { sort?: ListSort | undefined };

/** A query from checked parameters. */
export const browseQuery = (parameters: BrowseParameters): BrowseQuery => {
  const { sort = "relevance", limit, offset, fields, include } = parameters;
  return { filters: filtersOf(parameters), sort, limit, offset, fields, include };
};

/** The parameters of this query except its page; none for the whole directory in default order. */
export function browseParams(query: Omit<BrowseQuery, "limit" | "offset">) {
  const params = new URLSearchParams(givenFilters(query.filters));
  if (query.sort !== "relevance") params.set("sort", query.sort);
  for (const name of ["fields", "include"] as const) {
    if (query[name] !== undefined) params.set(name, query[name].join(","));
  }
  return params;
}

/** Entries on one page of a list for people. */
export const entriesPerPage = 100;
/** How many pages of a list are files; the service has the rest (docs/decisions/21-lists.md). */
export const staticPagesMax = 10;
/** Higher page numbers count as this one. */
export const pagesMax = 1_000_000;

/** The most values of one facet in an answer; the most frequent are kept. */
export const facetValuesMax = 100;

const FacetValue = named("FacetValue", {
  value: z.string().describe("What to send as the parameter"),
  name: z.string().describe("The value in words"),
  count: z
    .int()
    .min(1)
    .describe("Nonprofits that match with this value in place of the facet's own filter, exactly"),
});

const values = (what: string) => z.array(FacetValue).describe(what);

export const Facets = named("Facets", {
  cause: values("Causes; a nonprofit may have several"),
  country: values("Countries by ISO 3166 code"),
  region: values(`States, provinces or regions; the ${facetValuesMax} most frequent`),
  city: values(`Cities; the ${facetValuesMax} most frequent`),
  claimed: values("true: the organisation has claimed its profile"),
  accepts: values("usdc: it has a wallet for gifts in USDC"),
  has_website: values("true: a website is known"),
  income: values("Yearly income by its register, in the register's own currency, in rising order"),
} satisfies Record<FacetName, z.ZodType>);
export type Facets = z.infer<typeof Facets>;

/** The 29 cause areas, in fixed order. Stored data uses only these; a query may name any text. */
export const causeIds = causes.map((cause) => cause.id);

/** The value of filters and counts for profiles without a cause: no code in their registers matches one. */
export const noCause = "none";

const names = new Map(causes.map(({ id, name }) => [id, name]));

/** The English name of a cause area; any other text unchanged. */
export const causeName = (id: string): string => names.get(id) ?? id;

export const CauseId = z.enum(causeIds).meta({ id: "CauseId" });

/** The count has two names (`nonprofit_count` and `count`); both are served. */
export const Cause = named("Cause", {
  id: z.string().describe("Used as the `cause` parameter"),
  name: z.string(),
  description: z.string(),
  nonprofit_count: count.describe("Nonprofits listed under this cause"),
  count: count.describe("The same number as nonprofit_count"),
});
export type Cause = z.infer<typeof Cause>;

export const CauseList = named("CauseList", { causes: z.array(Cause) });
export type CauseList = z.infer<typeof CauseList>;
