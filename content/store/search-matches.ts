import {
  allOf,
  anyOf,
  completionsToAdd,
  halfTypedWord,
  inName,
  type SearchWord,
  without,
  wordMatch,
} from "#content/rules/search-query.ts";
import type { Asked } from "./records.ts";
import type { SearchMemory } from "./search-memory.ts";
import { namedFirst } from "./search-names.ts";
import { countOf, foremostOf, scoredMax, type Segment } from "./search-pages.ts";

/** What a text query matches. `match` and `total` prove later that an answer still holds. */
export type Matches = {
  match: string;
  total: number;
  /** The parts of the results, in order, as far as the page at `offset` needs them. */
  segments: (offset: number) => Promise<Segment[]>;
};

/**
 * Finds what the words match: all of them when that gives at least `limit` matches, else any of them, with those that
 * have all in front. `facets` are matches that every result must have as well.
 */
export async function matchesOf(
  asked: Asked,
  words: readonly SearchWord[],
  facets: readonly string[],
  { limit, memory }: { limit: number; memory: SearchMemory },
): Promise<Matches> {
  const { each, all, any, filtered } = await writtenOf(asked, words, facets, memory);
  const found: Finding = { asked, memory, filtered };
  const match = filtered(all);
  const text = words.map(({ forms }) => forms[0]).join(" ");
  const named = (offset: number, others: () => Promise<Segment[]>) =>
    namesInFront(found, { named: filtered(inName(all)), text, limit, offset }, others);
  if (each.length === 1) {
    const total = await countOf(asked, match);
    const segments = (offset: number) => named(offset, () => namesFirst(found, all, total));
    return { match, total, segments };
  }
  const foremost = await foremostOf(asked, match, limit);
  if (foremost.length >= limit) {
    const total = await countOf(asked, match);
    const segments = (offset: number) =>
      named(offset, () => scoredByTelling(found, { each, all, total }));
    return { match, total, segments };
  }
  const total = await countOf(asked, filtered(any));
  const inOrder = () => rareWordsFirst(found, { each, total, foremost });
  const segments = (offset: number) => (foremost.length === 0 ? inOrder() : named(offset, inOrder));
  return { match: filtered(any), total, segments };
}

/** The queries of FTS5 that some words may lead to: `matchesOf` decides for one of the two. */
export async function possibleMatches(
  asked: Asked,
  words: readonly SearchWord[],
  facets: readonly string[],
  memory: SearchMemory,
): Promise<string[]> {
  const { all, any, filtered } = await writtenOf(asked, words, facets, memory);
  return [filtered(all), filtered(any)];
}

async function writtenOf(
  asked: Asked,
  words: readonly SearchWord[],
  facets: readonly string[],
  memory: SearchMemory,
) {
  const completions = await completionsOf(asked, words, memory);
  const each = words.map((word) => wordMatch(word, completions));
  const filtered = (match: string) => allOf([match, ...facets]);
  return { each, all: allOf(each), any: anyOf(each), filtered };
}

/** Where segments are looked for: `filtered` adds to a match of words what every result must have as well. */
type Finding = { asked: Asked; memory: SearchMemory; filtered: (match: string) => string };

/** Puts profiles with all of the words in their name in front; the first of the other segments holds them all too. */
async function namesInFront(
  { asked }: Finding,
  of: { named: string; text: string; limit: number; offset: number },
  others: () => Promise<Segment[]>,
): Promise<Segment[]> {
  const { named, text, limit, offset } = of;
  const known = await namedFirst(asked, named, text, limit);
  const inFront = { match: named, count: known.length, known };
  if (offset === 0 && known.length === limit) return [inFront];
  const [first, ...rest] = await others();
  if (known.length === 0 || first === undefined) return first === undefined ? [] : [first, ...rest];
  return [inFront, { ...first, count: first.count - known.length, except: known }, ...rest];
}

/** Too many to score all: those with the words in their name are looked at first. */
async function namesFirst(
  { asked, filtered }: Finding,
  match: string,
  count: number,
): Promise<Segment[]> {
  if (count <= scoredMax) return [{ match: filtered(match), count }];
  const named = inName(match);
  const withName = await countOf(asked, filtered(named));
  return [
    { match: filtered(named), count: withName },
    { match: filtered(without(match, named)), count: count - withName },
  ];
}

type Words = { each: readonly string[]; total: number };

/** All of the words, with points for those that tell profiles apart. */
async function scoredByTelling(
  found: Finding,
  { each, all, total }: Words & { all: string },
): Promise<Segment[]> {
  const segments = await namesFirst(found, all, total);
  const telling = (await byRarity(found, each)).filter((word) => word.telling);
  if (telling.length === 0 || telling.length === each.length) return segments;
  const scoring = allOf(telling.map(({ match }) => match));
  return segments.map((segment) => ({ ...segment, scoring }));
}

/**
 * Any of the words; `foremost` have all of them. When that is too many to score all: first what has one of the rarer
 * words, so many as can be scored and by these words alone, then what has only the very common ones.
 */
async function rareWordsFirst(
  found: Finding,
  { each, total, foremost }: Words & { foremost: readonly number[] },
): Promise<Segment[]> {
  const { asked, filtered } = found;
  if (total <= scoredMax) return [{ match: filtered(anyOf(each)), count: total, foremost }];
  const rare: string[] = [];
  let sum = 0;
  for (const { match, matched } of await byRarity(found, each)) {
    sum += matched;
    if (matched > 0 && sum <= scoredMax) rare.push(match);
  }
  if (rare.length === 0) {
    const [any, all] = [anyOf(each), allOf(each)];
    const others = await namesFirst(found, without(any, all), total - foremost.length);
    return [{ match: filtered(all), count: foremost.length }, ...others];
  }
  const rareOnes = anyOf(rare);
  const withRare = await countOf(asked, filtered(rareOnes));
  return [
    { match: filtered(rareOnes), count: withRare, foremost },
    { match: filtered(without(anyOf(each), rareOnes)), count: total - withRare },
  ];
}

/**
 * The words, the rarest first. A word that stands in a sixth of the profiles or more tells little: bm25 gives few or no
 * points for it, and takes longest to find that out.
 */
async function byRarity({ asked, memory }: Finding, each: readonly string[]) {
  const size = await memory.counts.get("", () => sizeOf(asked));
  const words: { match: string; matched: number; telling: boolean }[] = [];
  for (const match of each) {
    const matched = await memory.counts.get(match, () => countOf(asked, match));
    words.push({ match, matched, telling: matched * 6 < size });
  }
  return words.sort((a, b) => a.matched - b.matched || (a.match < b.match ? -1 : 1));
}

async function sizeOf(asked: Asked): Promise<number> {
  const { rows } = await asked.execute({
    sql: "SELECT count(*) AS size FROM listings WHERE list = 'all'",
    args: [],
  });
  return Number(rows[0]?.["size"] ?? 0);
}

const vocabularyMax = 2_000;

/** Words of the directory that complete the half-typed last word and that its prefix alone may not find. */
async function completionsOf(
  asked: Asked,
  words: readonly SearchWord[],
  memory: SearchMemory,
): Promise<string[]> {
  const begun = halfTypedWord(words);
  if (begun === null) return [];
  return memory.completions.get(begun, async () => {
    const { rows } = await asked.execute({
      sql: "SELECT term FROM search_vocabulary WHERE term > ? AND term < ? LIMIT ?",
      args: [begun, `${begun}\u{10FFFF}`, vocabularyMax],
    });
    return completionsToAdd(begun, rows.map((row) => String(row["term"]))); // prettier-ignore
  });
}
