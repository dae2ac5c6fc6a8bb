import {
  type FacetName,
  facetNames,
  facetValuesMax,
  type Filters,
  incomeBands,
  noFilters,
} from "#content/contract/browse.ts";
import { countryCode } from "./country.ts";
import { fold } from "./text.ts";

/** What lists are narrowed, counted and sorted by, of one nonprofit. */
export type BrowseRow = {
  id: number;
  /** A withdrawn one stands in no list. */
  listed: boolean;
  causes: readonly string[];
  country_code: string | null;
  region: string | null;
  city: string | null;
  claimed: boolean;
  has_wallet: boolean;
  has_website: boolean;
  /** By its register, in the register's currency; null for not known. */
  income: number | null;
  /** Completeness, then size, as six digits: smaller for more. */
  standing: number;
};

/** How many have each value, by facet: the most frequent first. */
export type FacetCounts = Record<FacetName, { value: string; count: number }[]>;

/** The band that an income falls into. */
export function incomeBand(income: number | null): string {
  if (income === null) return "unknown";
  return incomeBands.find(({ below }) => below === null || income < below)?.id ?? "unknown";
}

/** Between the causes of one nonprofit, whose set is one value of its column. */
const between = " ";

const valuesOf = (row: BrowseRow): Record<FacetName, string | null> => ({
  cause: row.causes.toSorted().join(between),
  country: row.country_code,
  region: row.region,
  city: row.city,
  claimed: String(row.claimed),
  accepts: row.has_wallet ? "usdc" : null,
  has_website: String(row.has_website),
  income: incomeBand(row.income),
});

const isPlace = (facet: FacetName): boolean => facet === "region" || facet === "city";

/** A text as a filter compares it: letter case and accents of places do not matter. */
const comparedAs = (facet: FacetName, text: string): string => (isPlace(facet) ? fold(text) : text);

/** What a filter asks for, as a column has it. */
function wantedBy(facet: FacetName, asked: string): string {
  if (facet === "country") return countryCode(asked) ?? "";
  return facet === "cause" ? asked.trim().toLowerCase() : comparedAs(facet, asked);
}

/** One facet: each nonprofit's value as a number, 0 for none. */
type Column = {
  codes: Uint32Array;
  numbers: Map<string, number>;
  /** Values by their numbers. */
  texts: string[];
  compared: string[];
};

/**
 * What lists are narrowed and counted by, in memory by id, about 45 bytes each: any combination of filters is counted
 * exactly in one pass, where an index would serve only those that were foreseen. `capacity`: ids that are expected.
 */
export function browseColumns(capacity = 1_024) {
  let size = 0; // One more than the greatest id.
  let listed = new Uint8Array(capacity);
  let incomes = new Float64Array(capacity);
  let standings = new Uint32Array(capacity);
  const columns = Object.fromEntries(
    facetNames.map((facet) => [
      facet,
      { codes: new Uint32Array(capacity), numbers: new Map(), texts: [""], compared: [""] },
    ]),
  ) as Record<FacetName, Column>;

  function grow(wanted: number): void {
    if (wanted <= listed.length) return;
    const longer = Math.max(wanted, listed.length * 2);
    listed = copied(new Uint8Array(longer), listed);
    incomes = copied(new Float64Array(longer), incomes);
    standings = copied(new Uint32Array(longer), standings);
    for (const column of Object.values(columns)) {
      column.codes = copied(new Uint32Array(longer), column.codes);
    }
  }

  function codeOf(facet: FacetName, text: string | null): number {
    if (text === null || text === "") return 0;
    const { numbers, texts, compared } = columns[facet];
    return numbers.getOrInsertComputed(text, () => {
      compared.push(comparedAs(facet, text));
      return texts.push(text) - 1;
    });
  }

  /** Which facets narrow the list, each with the values that pass. */
  function conditionsOf(filters: Filters): Condition[] {
    return facetNames.flatMap((facet, at): Condition[] => {
      const asked = filters[facet];
      if (asked === null) return [];
      const { codes, compared } = columns[facet];
      const wanted = wantedBy(facet, asked);
      const isWanted = (text: string) =>
        facet === "cause" ? text.split(between).includes(wanted) : text === wanted;
      const passing = Uint8Array.from(compared, (text, code) =>
        code > 0 && isWanted(text) ? 1 : 0,
      );
      return [{ at, codes, passing }];
    });
  }

  /** Counts of codes as counts of values. */
  function namedCounts(countsOf: (at: number, facet: FacetName) => Uint32Array): FacetCounts {
    const facets = facetNames.map((facet, at) => {
      const counts = countsOf(at, facet);
      const values = columns[facet];
      const found = facet === "cause" ? byCause(counts, values) : bySpelling(counts, values);
      return [facet, mostFrequent(found)];
    });
    return Object.fromEntries(facets) as FacetCounts;
  }

  return {
    /** Takes in what is known of a nonprofit now. */
    set: (row: BrowseRow): void => {
      const { id } = row;
      grow(id + 1);
      size = Math.max(size, id + 1);
      listed[id] = row.listed ? 1 : 0;
      incomes[id] = row.income ?? -Infinity;
      standings[id] = row.standing;
      const values = valuesOf(row);
      for (const facet of facetNames) columns[facet].codes[id] = codeOf(facet, values[facet]);
    },

    /** Whether these filters let a nonprofit through, by its id. */
    matcher: (filters: Filters): ((id: number) => boolean) => {
      const conditions = conditionsOf(filters);
      return (id) =>
        listed[id] === 1 && conditions.every(({ codes, passing }) => passing[codes[id] ?? 0] === 1);
    },

    /**
     * Counts what the filters let through, and of each facet how many have each value when its own filter is left out.
     * A region or city that is written in several ways counts as one, under the most frequent spelling.
     */
    count: (filters: Filters): { total: number; facets: FacetCounts } => {
      const failed = failures(conditionsOf(filters), { listed, size });
      let total = 0;
      for (let id = 0; id < size; id++) if (failed[id] === passedAll) total++;
      const facets = namedCounts((at, facet) => {
        const { codes, texts } = columns[facet];
        return countCodes(failed, codes, { at, length: texts.length });
      });
      return { total, facets };
    },

    /**
     * The same counts of some nonprofits alone; null for all. As in a search, a region is every place of its name, a city
     * of it, too.
     */
    facets: (some: readonly number[] | null, filters: Filters): FacetCounts => {
      const conditions = conditionsOf({ ...filters, city: null });
      const [byCity] = conditionsOf({ ...noFilters, city: filters.region });
      const { region, city } = columns;
      const regions = new Map(region.compared.map((name, code) => [name, code]));
      /** Of each city the region of its name, 0 for none. */
      const regionOf = city.compared.map((name) => (name === "" ? 0 : (regions.get(name) ?? 0)));
      const counts = facetNames.map((facet) => new Uint32Array(columns[facet].texts.length));
      const passes = (id: number, { at, codes, passing }: Condition): boolean =>
        passing[codes[id] ?? 0] === 1 ||
        (facetNames[at] === "region" && byCity?.passing[byCity.codes[id] ?? 0] === 1);
      const failureOf = (id: number): number => {
        let failed = passedAll;
        for (const one of conditions) {
          if (!passes(id, one)) failed = failed === passedAll ? one.at : out;
        }
        return failed;
      };
      const add = (at: number, id: number, facet: FacetName): void => {
        const own = counts[at] ?? new Uint32Array(0);
        const code = columns[facet].codes[id] ?? 0;
        own[code] = (own[code] ?? 0) + 1;
        if (facet !== "region") return;
        const also = regionOf[city.codes[id] ?? 0] ?? 0;
        if (also > 0 && region.compared[also] !== region.compared[code])
          own[also] = (own[also] ?? 0) + 1;
      };
      const length = some?.length ?? size;
      for (let place = 0; place < length; place++) {
        const id = some === null ? place : (some[place] ?? 0);
        if (listed[id] !== 1) continue;
        const failed = failureOf(id);
        if (failed === out) continue;
        for (const [at, facet] of facetNames.entries()) {
          if (failed === passedAll || failed === at) add(at, id, facet);
        }
      }
      return namedCounts((at) => counts[at] ?? new Uint32Array(0));
    },

    /** Ids of what the filters let through, ascending. */
    ids: (filters: Filters): number[] => {
      const failed = failures(conditionsOf(filters), { listed, size });
      const found: number[] = [];
      for (let id = 0; id < size; id++) if (failed[id] === passedAll) found.push(id);
      return found;
    },

    /** The first `count` of these ids by income or completeness, the greatest first; equals in the order in which they came. */
    sorted: (ids: readonly number[], by: "income" | "completeness", count: number): number[] => {
      const keys = by === "income" ? incomes : standings;
      const sign = by === "income" ? -1 : 1;
      const key = (id: number) => sign * (keys[id] ?? 0);
      // Without a comparison in JavaScript a million numbers are sorted in a tenth of the time.
      const last = Float64Array.from(ids, key).sort()[count - 1] ?? Infinity;
      return (
        ids
          .filter((id) => key(id) <= last)
          // Infinity minus Infinity is no number: those without an income are equals.
          .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b))
          .slice(0, count)
      );
    },
  };
}
export type BrowseColumns = ReturnType<typeof browseColumns>;

/** Which values of a column pass; `at` is the place of its facet. */
type Condition = { at: number; codes: Uint32Array; passing: Uint8Array };

const copied = <Values extends Uint8Array | Uint32Array | Float64Array>(
  to: Values,
  from: Values,
): Values => {
  to.set(from);
  return to;
};

const passedAll = -1;
const out = -2;

/** Of each id the one facet that keeps it out, `passedAll` for none, `out` for several or when it is not listed. */
function failures(
  conditions: readonly Condition[],
  { listed, size }: { listed: Uint8Array; size: number },
): Int8Array {
  const failed = new Int8Array(size);
  for (let id = 0; id < size; id++) failed[id] = listed[id] === 1 ? passedAll : out;
  for (const { at, codes, passing } of conditions) {
    for (let id = 0; id < size; id++) {
      if (passing[codes[id] ?? 0] === 1 || failed[id] === out) continue;
      failed[id] = failed[id] === passedAll ? at : out;
    }
  }
  return failed;
}

/** How many have each code, of those that at most the facet `at` keeps out. */
function countCodes(
  failed: Int8Array,
  codes: Uint32Array,
  { at, length }: { at: number; length: number },
): Uint32Array {
  const counts = new Uint32Array(length);
  for (let id = 0; id < failed.length; id++) {
    if (failed[id] !== passedAll && failed[id] !== at) continue;
    const code = codes[id] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

/** Counts of sets of causes, by cause. */
function byCause(counts: Uint32Array, { texts }: Pick<Column, "texts">) {
  const found = new Map<string, number>();
  for (let code = 1; code < counts.length; code++) {
    for (const cause of (texts[code] ?? "").split(between)) {
      found.set(cause, (found.get(cause) ?? 0) + (counts[code] ?? 0));
    }
  }
  return [...found].map(([value, count]) => ({ value, count }));
}

/** Counts of texts that compare as one, together. */
function bySpelling(
  counts: Uint32Array,
  { texts, compared }: Pick<Column, "texts" | "compared">,
): { value: string; count: number }[] {
  const found = new Map<string, { value: string; count: number; most: number }>();
  for (let code = 1; code < counts.length; code++) {
    const count = counts[code] ?? 0;
    if (count === 0) continue;
    const [value = "", key = ""] = [texts[code], compared[code]];
    const known = found.get(key);
    if (known === undefined) found.set(key, { value, count, most: count });
    else {
      known.count += count;
      if (count < known.most || (count === known.most && value > known.value)) continue;
      known.value = value;
      known.most = count;
    }
  }
  return [...found.values()];
}

const mostFrequent = (counts: readonly { value: string; count: number }[]) =>
  counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, facetValuesMax)
    .map(({ value, count }) => ({ value, count }));
