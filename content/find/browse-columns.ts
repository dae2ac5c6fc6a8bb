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
  isListed: boolean;
  /** Completeness, then size, as six digits: smaller for more. */
  standing: number;
};

/** Separates the causes of a nonprofit; the whole set is one value of the column. */
const causeSeparator = " ";

/** The column of one filter: each nonprofit's value as a code, 0 for none. */
type Column = {
  codes: Uint32Array;
  numbers: Map<string, number>;
  /** Each value, at the index that is its number. */
  texts: string[];
  compareKeys: string[];
};

/**
 * The values of every nonprofit that lists filter by, in memory by id, about 45 bytes each. Any combination of filters
 * is counted exactly in one pass; an index would serve only the combinations that were foreseen. `capacity`: how many
 * ids to expect.
 */
export function browseColumns(capacity = 1_024) {
  let size = 0; // One more than the greatest id.
  let listedFlags = new Uint8Array(capacity);
  let incomes = new Float64Array(capacity);
  let standings = new Uint32Array(capacity);
  const columns = Object.fromEntries(
    filterNames.map((filter) => [
      filter,
      { codes: new Uint32Array(capacity), numbers: new Map(), texts: [""], compareKeys: [""] },
    ]),
  ) as Record<FilterName, Column>;

  function grow(lengthMin: number): void {
    if (lengthMin <= listedFlags.length) return;
    const longer = Math.max(lengthMin, listedFlags.length * 2);
    listedFlags = copyInto(new Uint8Array(longer), listedFlags);
    incomes = copyInto(new Float64Array(longer), incomes);
    standings = copyInto(new Uint32Array(longer), standings);
    for (const column of Object.values(columns)) {
      column.codes = copyInto(new Uint32Array(longer), column.codes);
    }
  }

  function codeOf(filter: FilterName, text: string): number {
    if (text === "") return 0;
    const { numbers, texts, compareKeys } = columns[filter];
    return numbers.getOrInsertComputed(text, () => {
      compareKeys.push(comparedAs(filter, text));
      return texts.push(text) - 1;
    });
  }

  /** The filters in use, each with the values that pass. */
  function conditionsOf(filters: Filters): Condition[] {
    return givenFilters(filters).map(([filter, filterText]) => {
      const { codes, compareKeys } = columns[filter];
      const wantedValue = wantedBy(filter, filterText);
      const isWanted = (text: string) =>
        wantedValue !== null &&
        (filter === "cause"
          ? text.split(causeSeparator).includes(wantedValue)
          : text === wantedValue);
      const mask = Uint8Array.from(compareKeys, (text, code) =>
        code > 0 && isWanted(text) ? 1 : 0,
      );
      return { at: filterNames.indexOf(filter), codes, mask };
    });
  }

  /** Turns counts by code into counts by value. */
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
    /** Stores the current values of a nonprofit. */
    set: (row: BrowseRow): void => {
      const { id } = row;
      grow(id + 1);
      size = Math.max(size, id + 1);
      listedFlags[id] = row.isListed ? 1 : 0;
      incomes[id] = row.income ?? -Infinity;
      standings[id] = row.standing;
      for (const filter of filterNames) {
        const values = valuesByFilter[filter](row);
        const text = values.length > 1 ? values.toSorted().join(causeSeparator) : (values[0] ?? "");
        columns[filter].codes[id] = codeOf(filter, text);
      }
    },

    /** A test whether these filters let a nonprofit (by id) through. */
    matcher: (filters: Filters): ((id: number) => boolean) => {
      const conditions = conditionsOf(filters);
      return (id) =>
        listedFlags[id] === 1 && conditions.every(({ codes, mask }) => mask[codes[id] ?? 0] === 1);
    },

    /**
     * Counts the nonprofits, of these or of all, that pass the filters, and for each facet how many have each value
     * when that facet's own filter is ignored. Spellings of one region or city count together, under the most frequent.
     */
    count: (
      filters: Filters,
      subset: readonly number[] | null = null,
    ): { total: number; facets: FacetCounts } => {
      const blockers = failures(conditionsOf(filters), { listedFlags, size }, subset);
      const total = passCount(blockers);
      const facets = namedCounts((at, facet) => {
        const { codes, texts } = columns[facet];
        const counts = new Uint32Array(texts.length);
        for (let place = 0; place < blockers.length; place++) {
          if (blockers[place] !== passedAll && blockers[place] !== at) continue;
          const code = codes[subset === null ? place : (subset[place] ?? 0)] ?? 0;
          counts[code] = (counts[code] ?? 0) + 1;
        }
        return counts;
      });
      return { total, facets };
    },

    total: (filters: Filters): number =>
      passCount(failures(conditionsOf(filters), { listedFlags, size }, null)),

    /** Ids of the nonprofits that pass the filters, ascending. */
    ids: (filters: Filters): number[] => {
      const blockers = failures(conditionsOf(filters), { listedFlags, size }, null);
      const passingIds: number[] = [];
      for (let id = 0; id < size; id++) if (blockers[id] === passedAll) passingIds.push(id);
      return passingIds;
    },

    /** The first `count` of these ids by income or completeness, greatest first; equals in their given order. */
    sorted: (ids: readonly number[], by: "income" | "completeness", count: number): number[] => {
      const keys = by === "income" ? incomes : standings;
      const sign = by === "income" ? -1 : 1;
      const key = (id: number) => sign * (keys[id] ?? 0);
      // A typed array sorts a million numbers in a tenth of the time that a comparison function takes.
      const last = Float64Array.from(ids, key).sort()[count - 1] ?? Infinity;
      return (
        ids
          .filter((id) => key(id) <= last)
          // No subtraction here: two nonprofits without an income would give NaN.
          .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b))
          .slice(0, count)
      );
    },
  };
}
export type BrowseColumns = ReturnType<typeof browseColumns>;

/** The values of a column that pass; `at` is the index of its facet. */
type Condition = { at: number; codes: Uint32Array; mask: Uint8Array };

const copyInto = <Values extends Uint8Array | Uint32Array | Float64Array>(
  to: Values,
  from: Values,
): Values => {
  to.set(from);
  return to;
};

const passedAll = -1;
const out = -2;

/**
 * For each of these ids, or of all: the one filter that excludes it, `passedAll` for none, `out` for several or when it
 * is not listed.
 */
function failures(
  conditions: readonly Condition[],
  { listedFlags, size }: { listedFlags: Uint8Array; size: number },
  subset: readonly number[] | null,
): Int8Array {
  const idAt = (place: number): number => (subset === null ? place : (subset[place] ?? 0));
  const blockers = new Int8Array(subset?.length ?? size);
  for (let place = 0; place < blockers.length; place++)
    blockers[place] = listedFlags[idAt(place)] === 1 ? passedAll : out;
  for (const { at, codes, mask } of conditions) {
    for (let place = 0; place < blockers.length; place++) {
      if (blockers[place] === out || mask[codes[idAt(place)] ?? 0] === 1) continue;
      blockers[place] = blockers[place] === passedAll ? at : out;
    }
  }
  return blockers;
}

function passCount(blockers: Int8Array): number {
  let count = 0;
  for (const blocker of blockers) if (blocker === passedAll) count++;
  return count;
}

function byCause(counts: Uint32Array, { texts }: Pick<Column, "texts">) {
  const causeCounts = new Map<string, number>();
  for (let code = 1; code < counts.length; code++) {
    for (const cause of (texts[code] ?? "").split(causeSeparator)) {
      causeCounts.set(cause, (causeCounts.get(cause) ?? 0) + (counts[code] ?? 0));
    }
  }
  return [...causeCounts].map(([value, count]) => ({ value, count }));
}

/** Adds up the counts of spellings that compare as equal. */
function bySpelling(
  counts: Uint32Array,
  { texts, compareKeys }: Pick<Column, "texts" | "compareKeys">,
): { value: string; count: number }[] {
  const spellings = new Map<string, { value: string; count: number; most: number }>();
  for (let code = 1; code < counts.length; code++) {
    const count = counts[code] ?? 0;
    if (count === 0) continue;
    const [value = "", key = ""] = [texts[code], compareKeys[code]];
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
