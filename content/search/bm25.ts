import { type IdSet, placeOf } from "./id-sets.ts";

/** How often a word stands in each text of a profile, in one number. */
export type PackedCounts = number;

/** The texts of a profile that are searched, as the index orders them. */
export const searchedTexts = ["name", "tagline", "mission", "description"] as const;

/** What one occurrence in each of them is worth, tuned by scripts/bench/relevance.ts. */
export const textWeights = [8, 4, 1, 0.3] as const;

/** One occurrence in each of them, packed. More than fit (63, 63, 255, 4,095) stay at the most. */
const unit = [2 ** 26, 2 ** 20, 2 ** 12, 1] as const;
const most = [63, 63, 255, 4_095] as const;

const countAt = (counts: PackedCounts, text: number): number =>
  Math.floor(counts / (unit[text] ?? 1)) & (most[text] ?? 0);

/** Adds one occurrence in the text of this number. */
export const oneMore = (counts: PackedCounts, text: number): PackedCounts =>
  countAt(counts, text) === most[text] ? counts : counts + (unit[text] ?? 0);

/** Adds what stands in `more`. */
export function withMore(counts: PackedCounts, more: PackedCounts): PackedCounts {
  let sum = 0;
  for (let text = 0; text < unit.length; text++) {
    const count = Math.min(most[text] ?? 0, countAt(counts, text) + countAt(more, text));
    sum += count * (unit[text] ?? 0);
  }
  return sum;
}

/** The occurrences in the name alone. */
export const inNameOnly = (counts: PackedCounts): PackedCounts => countAt(counts, 0) * unit[0];

/** What the occurrences are worth together, added up in the order in which FTS5 adds them. */
function worth(counts: PackedCounts): number {
  let sum = 0;
  for (let text = 0; text < unit.length; text++) {
    for (let left = countAt(counts, text); left > 0; left--) sum += textWeights[text] ?? 0;
  }
  return sum;
}

/** Where a phrase stands: ids ascending, and beside each how often. */
export type Posting = { ids: IdSet; counts: Uint32Array };

const k1 = 1.2;
const b = 0.75;
const idfLeast = 1e-6;

/** What bm25 needs to know of the whole directory. `sizes`: words of each profile, by its id. */
export type Corpus = { profiles: number; wordsAverage: number; sizes: Uint32Array };

/**
 * The points of some profiles for some phrases, more is better: Okapi BM25 as FTS5 works it out. Source: sqlite.org,
 * "The bm25() function".
 */
export function bm25(ids: IdSet, phrases: readonly Posting[], corpus: Corpus): Float64Array {
  const points = new Float64Array(ids.length);
  for (const { ids: having, counts } of phrases) {
    const idf = Math.log((corpus.profiles - having.length + 0.5) / (having.length + 0.5));
    const rarity = idf <= 0 ? idfLeast : idf;
    let at = 0;
    for (let place = 0; place < ids.length && at < having.length; place++) {
      const id = ids[place] ?? 0;
      at = placeOf(having, id, at);
      if (having[at] !== id) continue;
      const often = worth(counts[at] ?? 0);
      const length = (b * (corpus.sizes[id] ?? 0)) / corpus.wordsAverage;
      const gained = rarity * ((often * (k1 + 1)) / (often + k1 * (1 - b + length)));
      points[place] = (points[place] ?? 0) + gained;
    }
  }
  return points;
}
