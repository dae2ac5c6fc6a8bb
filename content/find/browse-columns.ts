import {
  type FacetCounts,
  type FacetName,
  facetNames,
  facetValuesMax,
  type FilterName,
  filterNames,
  type Filters,
  givenFilters,
} from "#content/contract/browse.ts";
import {
  comparedAs,
  type FilterFacts,
  valuesByFilter,
  wantedBy,
} from "#content/nonprofit/filters.ts";

/** The values of a nonprofit by which lists are filtered, counted and sorted. */
export type BrowseRow = FilterFacts & {
  id: number;
  /** False for a withdrawn nonprofit, which is in no list. */
  listed: boolean;
  /** Completeness, then size, as six digits: smaller for more. */
  standing: number;
};

/** Separates the causes of a nonprofit; the whole set is one value of the column. */
const between = " ";

/** The column of one filter: each nonprofit's value as a code, 0 for none. */
type Column = {
  codes: Uint32Array;
  numbers: Map<string, number>;
  /** Values by code. */
  texts: string[];
  compared: string[];
};

/**
 * The columns for filtering and counting, in memory by id, about 45 bytes per nonprofit. Any combination of filters is
 * counted exactly in one pass, whereas an index would serve only foreseen combinations. `capacity`: expected number of ids.
 */
export function browseColumns(capacity = 1_024) {
  let size = 0; // One more than the greatest id.
  let listed = new Uint8Array(capacity);
  let incomes = new Float64Array(capacity);
  let standings = new Uint32Array(capacity);
  const columns = Object.fromEntries(
    filterNames.map((filter) => [
      filter,
      { codes: new Uint32Array(capacity), numbers: new Map(), texts: [""], compared: [""] },
    ]),
  ) as Record<FilterName, Column>;

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

  function codeOf(filter: FilterName, text: string): number {
    if (text === "") return 0;
    const { numbers, texts, compared } = columns[filter];
    return numbers.getOrInsertComputed(text, () => {
      compared.push(comparedAs(filter, text));
      return texts.push(text) - 1;
    });
  }

  /** The conditions of these filters, each with the values that pass. */
  function conditionsOf(filters: Filters): Condition[] {
    return givenFilters(filters).map(([filter, asked]) => {
      const { codes, compared } = columns[filter];
      const wanted = wantedBy(filter, asked);
      const isWanted = (text: string) =>
        wanted !== null &&
        (filter === "cause" ? text.split(between).includes(wanted) : text === wanted);
      const passing = Uint8Array.from(compared, (text, code) =>
        code > 0 && isWanted(text) ? 1 : 0,
      );
      return { at: filterNames.indexOf(filter), codes, passing };
    });
  }

  /** Converts counts of codes into counts of values. */
  function namedCounts(countsOf: (at: number, facet: FacetName) => Uint32Array): FacetCounts {
    const facets = facetNames.map((facet, at) => {
      const counts = countsOf(at, facet);
      const values = columns[facet];
      const facetCounts = facet === "cause" ? byCause(counts, values) : bySpelling(counts, values);
      return [facet, mostFrequent(facetCounts)];
    });
    return Object.fromEntries(facets) as FacetCounts;
  }

  return {
    /** Sets the values of a nonprofit. */
    set: (row: BrowseRow): void => {
      const { id } = row;
      grow(id + 1);
      size = Math.max(size, id + 1);
      listed[id] = row.listed ? 1 : 0;
      incomes[id] = row.income ?? -Infinity;
      standings[id] = row.standing;
      for (const filter of filterNames) {
        const values = valuesByFilter[filter](row);
        const text = values.length > 1 ? values.toSorted().join(between) : (values[0] ?? "");
        columns[filter].codes[id] = codeOf(filter, text);
      }
    },

    /** A test whether these filters let a nonprofit (by id) through. */
    matcher: (filters: Filters): ((id: number) => boolean) => {
      const conditions = conditionsOf(filters);
      return (id) =>
        listed[id] === 1 && conditions.every(({ codes, passing }) => passing[codes[id] ?? 0] === 1);
    },

    /**
     * Counts what passes the filters, of all nonprofits or of `some`; and, for each value of each facet, how many would pass
     * without the facet's own filter. Different spellings of a region or city count together, under the most frequent one.
     */
    count: (
      filters: Filters,
      some: readonly number[] | null = null,
    ): { total: number; facets: FacetCounts } => {
      const failed = failures(conditionsOf(filters), { listed, size }, some);
      const total = passed(failed);
      const facets = namedCounts((at, facet) => {
        const { codes, texts } = columns[facet];
        const counts = new Uint32Array(texts.length);
        for (let place = 0; place < failed.length; place++) {
          if (failed[place] !== passedAll && failed[place] !== at) continue;
          const code = codes[some === null ? place : (some[place] ?? 0)] ?? 0;
          counts[code] = (counts[code] ?? 0) + 1;
        }
        return counts;
      });
      return { total, facets };
    },

    /** How many nonprofits pass the filters. */
    total: (filters: Filters): number =>
      passed(failures(conditionsOf(filters), { listed, size }, null)),

    /** Ids of the nonprofits that pass the filters, ascending. */
    ids: (filters: Filters): number[] => {
      const failed = failures(conditionsOf(filters), { listed, size }, null);
      const counted: number[] = [];
      for (let id = 0; id < size; id++) if (failed[id] === passedAll) counted.push(id);
      return counted;
    },

    /** The first `count` of these ids by income or completeness, greatest first; equals in their given order. */
    sorted: (ids: readonly number[], by: "income" | "completeness", count: number): number[] => {
      const keys = by === "income" ? incomes : standings;
      const sign = by === "income" ? -1 : 1;
      const key = (id: number) => sign * (keys[id] ?? 0);
      // Sorting a million numbers takes a tenth of the time without a comparison in JavaScript.
      const last = Float64Array.from(ids, key).sort()[count - 1] ?? Infinity;
      return (
        ids
          .filter((id) => key(id) <= last)
          // Do not subtract: Infinity minus Infinity is NaN, and those without an income are equal.
          .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b))
          .slice(0, count)
      );
    },
  };
}
export type BrowseColumns = ReturnType<typeof browseColumns>;

/** The values of a column that pass; `at` is the index of its facet. */
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

/** For each of these ids, or all: the one condition that it fails; `passedAll`: none; `out`: several, or unlisted. */
function failures(
  conditions: readonly Condition[],
  { listed, size }: { listed: Uint8Array; size: number },
  some: readonly number[] | null,
): Int8Array {
  const idAt = (place: number): number => (some === null ? place : (some[place] ?? 0));
  const failed = new Int8Array(some?.length ?? size);
  for (let place = 0; place < failed.length; place++)
    failed[place] = listed[idAt(place)] === 1 ? passedAll : out;
  for (const { at, codes, passing } of conditions) {
    for (let place = 0; place < failed.length; place++) {
      if (failed[place] === out || passing[codes[idAt(place)] ?? 0] === 1) continue;
      failed[place] = failed[place] === passedAll ? at : out;
    }
  }
  return failed;
}

function passed(failed: Int8Array): number {
  let count = 0;
  for (const one of failed) if (one === passedAll) count++;
  return count;
}

/** Converts counts of sets of causes into counts by cause. */
function byCause(counts: Uint32Array, { texts }: Pick<Column, "texts">) {
  const causeCounts = new Map<string, number>();
  for (let code = 1; code < counts.length; code++) {
    for (const cause of (texts[code] ?? "").split(between)) {
      causeCounts.set(cause, (causeCounts.get(cause) ?? 0) + (counts[code] ?? 0));
    }
  }
  return [...causeCounts].map(([value, count]) => ({ value, count }));
}

/** Adds up the counts of texts that compare as equal. */
function bySpelling(
  counts: Uint32Array,
  { texts, compared }: Pick<Column, "texts" | "compared">,
): { value: string; count: number }[] {
  const spellings = new Map<string, { value: string; count: number; most: number }>();
  for (let code = 1; code < counts.length; code++) {
    const count = counts[code] ?? 0;
    if (count === 0) continue;
    const [value = "", key = ""] = [texts[code], compared[code]];
    const spelling = spellings.get(key);
    if (spelling === undefined) spellings.set(key, { value, count, most: count });
    else {
      spelling.count += count;
      if (count < spelling.most || (count === spelling.most && value > spelling.value)) continue;
      spelling.value = value;
      spelling.most = count;
    }
  }
  return [...spellings.values()];
}

const mostFrequent = (counts: readonly { value: string; count: number }[]) =>
  counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, facetValuesMax)
    .map(({ value, count }) => ({ value, count }));
