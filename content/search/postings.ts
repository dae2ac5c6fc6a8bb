import { inNameOnly, oneMore, type Posting, withMore } from "./bm25.ts";
import { IdBits, type IdSet, placeOf, Scratch, union } from "./id-sets.ts";
import type { SortedWords } from "./sorted-words.ts";
import type { StemInText } from "./stems.ts";

/** Every stem of the index with the profiles it stands in, as it was at one moment. Nothing in it ever changes. */
export type StoredPostings = {
  stems: SortedWords;
  /** Where the profiles of each stem begin in `ids` and `counts`; one more than there are stems. */
  starts: Uint32Array;
  ids: Uint32Array;
  counts: Uint32Array;
};

const nothing: Posting = { ids: new Uint32Array(0), counts: new Uint32Array(0) };

const scratchMax = 1_000_000;
/** So many profiles in what is kept of merged postings; beyond it everything is merged anew. */
const mergedMax = 1_000_000;

/**
 * Postings that follow the directory: those that were stored once, without the profiles that changed since, and what
 * these say now. Merged when first asked for after a change.
 */
export class Postings {
  readonly #stored: StoredPostings;
  readonly #changed = new Map<number, ReadonlyMap<string, number>>();
  readonly #merged = new Map<string, { stem: string; prefix: boolean; posting: Posting }>();
  #mergedSize = 0;
  readonly #scratch = new Scratch(scratchMax);
  /** Counts by id while they are added up; all 0 in between. */
  #sums = new Uint32Array(0);
  #changedIds: IdSet = new Uint32Array(0);

  constructor(stored: StoredPostings) {
    this.#stored = stored;
  }

  /** How many profiles changed since the postings were stored. */
  get changed(): number {
    return this.#changed.size;
  }

  /** Takes in what a profile says now: nothing when it is in no list any more. */
  change(id: number, stems: readonly StemInText[]): void {
    const counts = new Map<string, number>();
    for (const { stem, text } of stems) counts.set(stem, oneMore(counts.get(stem) ?? 0, text));
    this.#changed.set(id, counts);
    this.#changedIds = Uint32Array.from(this.#changed.keys()).sort();
    const words = [...counts.keys()].sort();
    for (const [key, { stem, prefix, posting }] of [...this.#merged]) {
      const { ids } = posting;
      if (ids[placeOf(ids, id)] === id || isAmong(words, stem, prefix)) {
        this.#merged.delete(key);
        this.#mergedSize -= ids.length;
      }
    }
  }

  /** Where a stem stands, or anything that begins with it. */
  of(stem: string, prefix: boolean, nameOnly: boolean): Posting {
    const key = `${nameOnly ? "n" : "a"}${prefix ? "*" : " "}${stem}`;
    const known = this.#merged.get(key);
    if (known !== undefined) return known.posting;
    const posting = nameOnly ? namesOf(this.of(stem, prefix, false)) : this.#find(stem, prefix);
    this.#mergedSize += posting.ids.length;
    if (this.#mergedSize > mergedMax) {
      this.#merged.clear();
      this.#mergedSize = posting.ids.length;
    }
    this.#merged.set(key, { stem, prefix, posting });
    return posting;
  }

  #find(stem: string, prefix: boolean): Posting {
    const { stems } = this.#stored;
    const at = prefix ? -1 : stems.indexOf(stem);
    const [from, to] = prefix ? stems.beginning(stem) : [at, at === -1 ? at : at + 1];
    const stored = withoutIds(
      to - from === 1 ? this.#at(from) : this.#joined(from, to),
      this.#changedIds,
    );
    return added(stored, this.#changedWith(stem, prefix));
  }

  #at(stem: number): Posting {
    const { starts, ids, counts } = this.#stored;
    const [from, to] = [starts[stem] ?? 0, starts[stem + 1] ?? 0];
    return { ids: ids.subarray(from, to), counts: counts.subarray(from, to) };
  }

  /** Several stems as if they were one. */
  #joined(from: number, to: number): Posting {
    if (to <= from) return nothing;
    const parts = Array.from({ length: to - from }, (_, at) => this.#at(from + at));
    const found = union(
      parts.map(({ ids }) => ids),
      this.#scratch,
    );
    const all = found.slice();
    this.#scratch.clear();
    const idMax = all[all.length - 1] ?? 0;
    if (idMax >= this.#sums.length) this.#sums = new Uint32Array(2 * (idMax + 1));
    const sums = this.#sums;
    for (const { ids, counts } of parts) {
      for (let at = 0; at < ids.length; at++) {
        const id = ids[at] ?? 0;
        const before = sums[id] ?? 0;
        const more = counts[at] ?? 0;
        sums[id] = before === 0 ? more : withMore(before, more);
      }
    }
    const counts = new Uint32Array(all.length);
    for (let at = 0; at < all.length; at++) {
      const id = all[at] ?? 0;
      counts[at] = sums[id] ?? 0;
      sums[id] = 0;
    }
    return { ids: all, counts };
  }

  #changedWith(stem: string, prefix: boolean): [number, number][] {
    const found: [number, number][] = [];
    for (const id of this.#changedIds) {
      const own = this.#changed.get(id);
      let counts = prefix ? undefined : own?.get(stem);
      if (prefix) {
        for (const [word, more] of own ?? []) {
          if (word.startsWith(stem)) counts = withMore(counts ?? 0, more);
        }
      }
      if (counts !== undefined) found.push([id, counts]);
    }
    return found;
  }
}

/** Whether a stem, or anything that begins with it, is among sorted words. */
function isAmong(words: readonly string[], stem: string, prefix: boolean): boolean {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((words[middle] ?? "") < stem) low = middle + 1;
    else high = middle;
  }
  const found = words[low];
  return prefix ? found?.startsWith(stem) === true : found === stem;
}

function withoutIds({ ids, counts }: Posting, unwanted: IdSet): Posting {
  const last = ids.at(-1);
  if (unwanted.length === 0 || last === undefined) return { ids, counts };
  const gone = new IdBits(Math.max(last, unwanted.at(-1) ?? 0));
  gone.addAll(unwanted);
  return filtered({ ids, counts }, (at) => !gone.has(ids[at] ?? 0));
}

/** The profiles that have it in their name, and how often they have it there. */
const namesOf = ({ ids, counts }: Posting): Posting => {
  const { ids: named, counts: own } = filtered(
    { ids, counts },
    (at) => inNameOnly(counts[at] ?? 0) > 0,
  );
  return { ids: named, counts: own.map(inNameOnly) };
};

function filtered({ ids, counts }: Posting, wanted: (at: number) => boolean): Posting {
  let count = 0;
  for (let at = 0; at < ids.length; at++) if (wanted(at)) count++;
  if (count === ids.length) return { ids, counts };
  const left = { ids: new Uint32Array(count), counts: new Uint32Array(count) };
  for (let at = 0, place = 0; at < ids.length; at++) {
    if (!wanted(at)) continue;
    left.ids[place] = ids[at] ?? 0;
    left.counts[place++] = counts[at] ?? 0;
  }
  return left;
}

/** With profiles that are not in it yet, their ids ascending. */
function added({ ids, counts }: Posting, more: readonly [number, number][]): Posting {
  if (more.length === 0) return { ids, counts };
  const sum = {
    ids: new Uint32Array(ids.length + more.length),
    counts: new Uint32Array(ids.length + more.length),
  };
  let at = 0;
  let place = 0;
  for (const [id, count] of [...more, [Infinity, 0] as const]) {
    while (at < ids.length && (ids[at] ?? 0) < id) {
      sum.ids[place] = ids[at] ?? 0;
      sum.counts[place++] = counts[at++] ?? 0;
    }
    if (id === Infinity) break;
    sum.ids[place] = id;
    sum.counts[place++] = count;
  }
  return sum;
}
