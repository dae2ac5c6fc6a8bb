import { bm25, type Corpus, type Posting } from "./bm25.ts";
import { bestOf } from "./best-of.ts";
import { difference, type IdSet, intersection, placeOf, Scratch, union } from "./id-sets.ts";
import { type Match, type Phrase, phrasesOf } from "./match.ts";
import { idsPerRank } from "./indexed-places.ts";
import type { LoadedIndex } from "./load-postings.ts";
import { Postings } from "./postings.ts";
import type { Foremost, Scored, SearchIndex } from "./index.ts";
import type { StemInText, Stemmer } from "./stems.ts";

/** The index from postings in memory. What they cannot tell, such as phrases of several words, `others` answers. */
export class PostingsIndex implements SearchIndex {
  readonly #loaded: LoadedIndex;
  readonly #postings: Postings;
  readonly #newWords = new Set<string>();
  readonly #stemmer: Stemmer;
  readonly #others: SearchIndex;
  /** What a match of this question was found to match; it stands in `#scratch`. */
  #found = new WeakMap<Match, IdSet>();
  readonly #scratch = new Scratch(scratchMax);

  constructor(loaded: LoadedIndex, stemmer: Stemmer, others: SearchIndex) {
    this.#loaded = loaded;
    this.#postings = new Postings(loaded.postings);
    this.#stemmer = stemmer;
    this.#others = others;
  }

  /** Another question begins: what was found for the last one is given up. */
  begin(): void {
    this.#found = new WeakMap();
    this.#scratch.clear();
  }

  /** How many profiles changed since the index was read. */
  get changed(): number {
    return this.#postings.changed;
  }

  /** Takes in what a profile says now; a rank of null when it stands in no list any more. */
  change(
    id: number,
    now: { rank: number | null; stems: readonly StemInText[]; words: readonly string[] },
  ): void {
    const { rank, stems, words } = now;
    this.#loaded.places.set(id, rank === null ? null : { rank, words: stems.length });
    this.#postings.change(id, stems);
    for (const word of words) if (this.#loaded.words.indexOf(word) === -1) this.#newWords.add(word);
  }

  size(): Promise<number> {
    return Promise.resolve(this.#loaded.places.profiles);
  }

  async count(match: Match): Promise<number> {
    return this.#knows(match) ? this.#ids(match).length : this.#others.count(match);
  }

  async foremost(asked: Foremost): Promise<number[]> {
    const { match, except, limit, skip } = asked;
    if (!this.#knows(match)) return this.#others.foremost(asked);
    const ids = difference(this.#ids(match), idsOf(except), this.#scratch);
    return Array.from(this.#loaded.places.ordered(ids, skip, skip + limit), (id) =>
      this.#loaded.places.place(id),
    );
  }

  async scored(asked: Scored): Promise<number[]> {
    const { match, scoring = match, scored, except, foremost, limit, skip } = asked;
    if (!this.#knows(match) || !this.#knows(scoring)) {
      return this.#others.scored(asked);
    }
    const all = difference(this.#ids(match), idsOf(except), this.#scratch);
    const ids = all.length <= scored ? all : this.#loaded.places.ordered(all, 0, scored).sort();
    const phrases = phrasesOf(scoring).map((part) => this.#posting(part.phrase, part.nameOnly));
    const points = bm25(ids, phrases, this.#corpus());
    for (const id of idsOf(foremost)) {
      const at = placeOf(ids, id);
      if (ids[at] === id) points[at] = (points[at] ?? 0) + inFront;
    }
    const places = Float64Array.from(ids, (id) => this.#loaded.places.place(id));
    const order = (a: number, c: number) =>
      (points[c] ?? 0) - (points[a] ?? 0) || (places[a] ?? 0) - (places[c] ?? 0);
    return bestOf({ count: ids.length, order }, skip + limit)
      .slice(skip)
      .map((at) => places[at] ?? 0);
  }

  completions(begun: string): Promise<readonly string[]> {
    const { words } = this.#loaded;
    const [from, to] = words.beginning(begun);
    const found = new Set<string>();
    for (let at = from; at < Math.min(to, from + completionsMax); at++) found.add(words.at(at));
    for (const word of this.#newWords) if (word.startsWith(begun)) found.add(word);
    found.delete(begun);
    return Promise.resolve([...found]);
  }

  async members(match: Match): Promise<ArrayLike<number> | null> {
    return this.#knows(match) ? this.#ids(match) : this.#others.members(match);
  }

  #corpus(): Corpus {
    const { profiles, wordsAverage, sizes } = this.#loaded.places;
    return { profiles, wordsAverage, sizes };
  }

  /** Whether every phrase is a single word for the index. */
  #knows(match: Match): boolean {
    return everyPhrase(match).every(({ text }) => this.#stemmer.of(text).length === 1);
  }

  #posting({ text, prefix }: Phrase, nameOnly: boolean): Posting {
    const [stem = ""] = this.#stemmer.of(text);
    return this.#postings.of(stem, prefix, nameOnly);
  }

  #ids(match: Match): IdSet {
    const known = this.#found.get(match);
    if (known !== undefined) return known;
    const ids = this.#find(match, false);
    this.#found.set(match, ids);
    return ids;
  }

  #find(match: Match, nameOnly: boolean): IdSet {
    const scratch = this.#scratch;
    if (match.kind === "phrase") return this.#posting(match, nameOnly).ids;
    if (match.kind === "inName") return this.#find(match.match, true);
    if (match.kind === "without") {
      const found = this.#find(match.match, nameOnly);
      return difference(found, this.#find(match.unwanted, nameOnly), scratch);
    }
    const parts = match.of.map((part) => this.#find(part, nameOnly));
    if (match.kind === "any") return union(parts, scratch);
    const [first = noIds, ...rest] = parts.sort((a, c) => a.length - c.length);
    return rest.reduce((left, part) => intersection(left, part, scratch), first);
  }
}

const noIds = new Uint32Array(0);
const completionsMax = 2_000;
/** 32 MB of ids. */
const scratchMax = 8_000_000;

/** More points than words can give: those of them come first, and are told apart by their words. */
const inFront = 2 ** 20;

const idsOf = (places: readonly number[]): IdSet =>
  Uint32Array.from(places, (place) => place % idsPerRank).sort();

/** Those that nothing is found by as well. */
function everyPhrase(match: Match): Phrase[] {
  if (match.kind === "phrase") return [match];
  if (match.kind === "inName") return everyPhrase(match.match);
  if (match.kind === "without") {
    return [...everyPhrase(match.match), ...everyPhrase(match.unwanted)];
  }
  return match.of.flatMap(everyPhrase);
}
