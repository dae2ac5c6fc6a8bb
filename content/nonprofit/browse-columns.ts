import {
  type FacetName,
  facetNames,
  facetValuesMax,
  type Filters,
  incomeBands,
} from "#content/contract/browse.ts";
import { causeIds } from "#content/contract/cause.ts";
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

/** All facets but the causes: a nonprofit has one value of each, or none. */
type SingleFacet = Exclude<FacetName, "cause">;
const singleFacets = facetNames.filter((name) => name !== "cause");

const valuesOf = (row: BrowseRow): Record<SingleFacet, string | null> => ({
  country: row.country_code,
  region: row.region,
  city: row.city,
  claimed: String(row.claimed),
  accepts: row.has_wallet ? "usdc" : null,
  has_website: String(row.has_website),
  income: incomeBand(row.income),
});

/** A text as a filter compares it: letter case and accents of places do not matter. */
const comparedAs = (facet: SingleFacet, text: string): string =>
  facet === "region" || facet === "city" ? fold(text) : text;

/** One facet: each nonprofit's value as a number, 0 for none. */
type Column = {
  codes: Uint32Array;
  numbers: Map<string, number>;
  /** Values by their numbers. */
  texts: string[];
  compared: string[];
};

const firstCapacity = 1_024;
const bitOf = new Map(causeIds.map((id, at) => [id, 1 << at]));

/**
 * What lists are narrowed and counted by, in memory by id, about 50 bytes each: any combination of filters is counted
 * exactly in one pass, 20 ns for each nonprofit, where an index would serve only those that were foreseen.
 */
export function browseColumns() {
  let size = 0; // One more than the greatest id.
  let listed = new Uint8Array(firstCapacity);
  let causes = new Uint32Array(firstCapacity);
  let incomes = new Float64Array(firstCapacity);
  let standings = new Uint32Array(firstCapacity);
  const columns = Object.fromEntries(
    singleFacets.map((facet) => [
      facet,
      { codes: new Uint32Array(firstCapacity), numbers: new Map(), texts: [""], compared: [""] },
    ]),
  ) as Record<SingleFacet, Column>;

  function grow(wanted: number): void {
    if (wanted <= listed.length) return;
    const capacity = Math.max(wanted, listed.length * 2);
    listed = copied(new Uint8Array(capacity), listed);
    causes = copied(new Uint32Array(capacity), causes);
    incomes = copied(new Float64Array(capacity), incomes);
    standings = copied(new Uint32Array(capacity), standings);
    for (const facet of singleFacets) {
      const column = columns[facet];
      column.codes = copied(new Uint32Array(capacity), column.codes);
    }
  }

  function codeOf(facet: SingleFacet, text: string | null): number {
    if (text === null || text === "") return 0;
    const { numbers, texts, compared } = columns[facet];
    return numbers.getOrInsertComputed(text, () => {
      compared.push(comparedAs(facet, text));
      return texts.push(text) - 1;
    });
  }

  /** Which facets narrow the list, each with what passes it. */
  function conditionsOf(filters: Filters): Condition[] {
    return facetNames.flatMap((facet): Condition[] => {
      const asked = filters[facet];
      if (asked === null) return [];
      if (facet === "cause") {
        const bit = bitOf.get(asked.trim().toLowerCase()) ?? 0;
        return [{ facet, codes: causes, passes: (code) => (code & bit) !== 0 }];
      }
      const { codes, compared } = columns[facet];
      const wanted = facet === "country" ? (countryCode(asked) ?? "") : comparedAs(facet, asked);
      const passing = Uint8Array.from(compared, (text, code) =>
        code > 0 && text === wanted ? 1 : 0,
      );
      return [{ facet, codes, passes: (code) => passing[code] === 1 }];
    });
  }

  return {
    /** Takes in what is known of a nonprofit now. */
    set: (row: BrowseRow): void => {
      const { id } = row;
      grow(id + 1);
      size = Math.max(size, id + 1);
      listed[id] = row.listed ? 1 : 0;
      causes[id] = row.causes.reduce((bits, cause) => bits | (bitOf.get(cause) ?? 0), 0);
      incomes[id] = row.income ?? -Infinity;
      standings[id] = row.standing;
      const values = valuesOf(row);
      for (const facet of singleFacets) {
        columns[facet].codes[id] = codeOf(facet, values[facet]);
      }
    },

    /** Whether these filters let a nonprofit through, by its id. */
    matcher: (filters: Filters): ((id: number) => boolean) => {
      const conditions = conditionsOf(filters);
      return (id) =>
        listed[id] === 1 && conditions.every(({ codes, passes }) => passes(codes[id] ?? 0));
    },

    /**
     * Counts what the filters let through, and of each facet how many have each value when its own filter is left out.
     * A region or city that is written in several ways counts as one, under the most frequent spelling.
     */
    count: (filters: Filters): { total: number; facets: FacetCounts } => {
      const failed = failures(conditionsOf(filters), { listed, size });
      let total = 0;
      for (let id = 0; id < size; id++) if (failed[id] === passedAll) total++;
      const facets: Partial<FacetCounts> = { cause: countCauses(failed, causes) };
      for (const facet of singleFacets) {
        const { codes, texts, compared } = columns[facet];
        const counts = countCodes(failed, codes, { at: facetNames.indexOf(facet), texts });
        facets[facet] = mostFrequent(bySpelling(counts, { texts, compared }));
      }
      return { total, facets: facets as FacetCounts };
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

type Condition = { facet: FacetName; codes: Uint32Array; passes: (code: number) => boolean };

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
  for (const { facet, codes, passes } of conditions) {
    const at = facetNames.indexOf(facet);
    for (let id = 0; id < size; id++) {
      if (failed[id] === out || passes(codes[id] ?? 0)) continue;
      failed[id] = failed[id] === passedAll ? at : out;
    }
  }
  return failed;
}

function countCodes(
  failed: Int8Array,
  codes: Uint32Array,
  { at, texts }: { at: number; texts: readonly string[] },
): Uint32Array {
  const counts = new Uint32Array(texts.length);
  for (let id = 0; id < failed.length; id++) {
    if (failed[id] !== passedAll && failed[id] !== at) continue;
    const code = codes[id] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

function countCauses(failed: Int8Array, causes: Uint32Array): FacetCounts["cause"] {
  const at = facetNames.indexOf("cause");
  // Most nonprofits share their causes with many others.
  const bySet = new Map<number, number>();
  for (let id = 0; id < failed.length; id++) {
    if (failed[id] !== passedAll && failed[id] !== at) continue;
    const set = causes[id] ?? 0;
    bySet.set(set, (bySet.get(set) ?? 0) + 1);
  }
  return mostFrequent(
    causeIds.map((value) => {
      const bit = bitOf.get(value) ?? 0;
      let count = 0;
      for (const [set, many] of bySet) if ((set & bit) !== 0) count += many;
      return { value, count };
    }),
  );
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
