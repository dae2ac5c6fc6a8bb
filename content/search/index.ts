import type { Match } from "./match.ts";

/** Matches that get points, the best first. */
export type Scored = {
  match: Match;
  /** The words that points are given for, when those of `match` are not all worth it. */
  scoring: Match | undefined;
  /** Only so many matches are scored, the foremost by impact, and only these are in the answer. */
  scored: number;
  /** Places that are left out. */
  except: readonly number[];
  /** Places that stand in front of the others. */
  foremost: readonly number[];
  limit: number;
  skip: number;
};

/** Matches by impact alone. */
export type Foremost = { match: Match; except: readonly number[]; limit: number; skip: number };

/**
 * The directory's words, however they are looked up. All who implement it give the same answers. A place is a
 * nonprofit's id in its low 32 bits, and its rank by impact above them: smaller stands first.
 */
export type SearchIndex = {
  /** The number of profiles. */
  size(): Promise<number>;
  /** The number of matches. */
  count(match: Match): Promise<number>;
  /** Places of matches in their order. */
  foremost(asked: Foremost): Promise<number[]>;
  /** Places of matches by bm25, equal ones in their order. */
  scored(asked: Scored): Promise<number[]>;
  /** Words as they are written in profiles that begin so and are longer, at most 2,000. */
  completions(begun: string): Promise<readonly string[]>;
  /** Ids of all that match; null when they are too many to be told. */
  members(match: Match): Promise<ArrayLike<number> | null>;
};
