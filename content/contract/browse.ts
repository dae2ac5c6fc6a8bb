import bands from "#content/editorial/income-bands.json";
import causes from "#content/editorial/causes.json";
import { z } from "zod";
import { named } from "#content/contract/base/json.ts";

/** What a list can be sorted by. */
export const listSorts = ["relevance", "income", "completeness", "name"] as const;
export type ListSort = (typeof listSorts)[number];

/**
 * Bands of the yearly income that a register gives, in the register's own currency: amounts are not converted. `below` is
 * the first amount that belongs to the next band; the last band is for those of whom no register gives an income.
 */
export const incomeBands: readonly { id: string; name: string; below: number | null }[] = bands;
export const incomeBandIds = bands.map(({ id }) => id) as [string, ...string[]];

/** What answers count: how many match with each value, in this order. */
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

/** By what the directory is narrowed, everywhere: in lists, searches, recommendations and on their pages. */
export const filterNames = [...facetNames, "ghd_aligned"] as const;
export type FilterName = (typeof filterNames)[number];

/** The values that are asked for, as they were typed; null for a filter that is not there. They combine. */
export type Filters = Readonly<Record<FilterName, string | null>>;

/** Filters as the parameters of a query string name them. */
export type FilterParameters = { readonly [Name in FilterName]?: string | null | undefined };

export const filtersOf = (parameters: FilterParameters): Filters =>
  Object.fromEntries(filterNames.map((name) => [name, parameters[name] ?? null])) as Filters;
export const noFilters: Filters = filtersOf({});

/** The filters that are there, with their values. */
export const givenFilters = (filters: FilterParameters): [FilterName, string][] =>
  filterNames.flatMap((name) => {
    const value = filters[name] ?? "";
    return value === "" ? [] : [[name, value]];
  });

/** In answers that filters narrow. */
export const unknownNote = z.string().nullable().describe("What values are near an unknown one");

/** How many have each value, by facet: the most frequent first. */
export type FacetCounts = Record<FacetName, { value: string; count: number }[]>;

/** What a part of the directory is asked for by. `fields` and `include`: what of the items, and what beside them, is answered. */
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

/** A question as its parameters put it, once they are checked. */
export const browseQuery = (parameters: BrowseParameters): BrowseQuery => {
  const { sort = "relevance", limit, offset, fields, include } = parameters;
  return { filters: filtersOf(parameters), sort, limit, offset, fields, include };
};

/** The parameters that put this question, but for its page; none for the whole directory in its usual order. */
export function browseParams(query: Omit<BrowseQuery, "limit" | "offset">) {
  const params = new URLSearchParams(givenFilters(query.filters));
  if (query.sort !== "relevance") params.set("sort", query.sort);
  for (const name of ["fields", "include"] as const) {
    if (query[name] !== undefined) params.set(name, query[name].join(","));
  }
  return params;
}

/** Entries of a page of a list for people. */
export const entriesPerPage = 100;
/** Pages of a list that are files; the service has the others. Source: docs/decisions/21. */
export const staticPagesMax = 10;
/** A greater number of a page counts as this one. */
export const pagesMax = 1_000_000;

/** Values of one facet in an answer: the most frequent ones. */
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

/** The 29 cause areas, in the contract's order. Stored data uses this closed list; a query may name any text. */
export const causeIds = causes.map((cause) => cause.id);

/** What filters and counts call profiles without a cause: no code of their registers fits one. */
export const noCause = "none";

const names = new Map(causes.map(({ id, name }) => [id, name]));

/** The English name of a cause area; any other text as it is. */
export const causeName = (id: string): string => names.get(id) ?? id;

export const CauseId = z.enum(causeIds).meta({ id: "CauseId" });
export type CauseId = z.infer<typeof CauseId>;

/** The spec names the number twice (`nonprofit_count` and `count`); both are served. */
export const Cause = named("Cause", {
  id: z.string().describe("Used as the `cause` parameter"),
  name: z.string(),
  description: z.string(),
  nonprofit_count: z.int().min(0).describe("Nonprofits listed under this cause"),
  count: z.int().min(0).describe("The same number as nonprofit_count"),
});
export type Cause = z.infer<typeof Cause>;

export const CauseList = named("CauseList", { causes: z.array(Cause) });
export type CauseList = z.infer<typeof CauseList>;
