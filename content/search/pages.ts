import type { Match } from "./match.ts";
import { idsPerRank } from "./indexed-places.ts";
import type { SearchIndex } from "./index.ts";

/** A part of the results: its matches follow those of the segment before, and no match is in two segments. */
export type Segment = {
  match: Match;
  count: number;
  /** The words that points are given for, when those of `match` are not all worth it. */
  scoring?: Match;
  /** Places that stand in front of the others of this segment. */
  foremost?: readonly number[];
  /** Places that match but stand in an earlier segment; `count` is without them. */
  except?: readonly number[];
  /** All places of the segment, in order, when they are known already. */
  known?: readonly number[];
};

/**
 * bm25 is worked out for so many matches of a segment, the foremost by impact; those behind follow by impact alone.
 * This keeps a query for a very common word at a few ms, whoever answers.
 */
export const scoredMax = 1_000;

/** The nonprofit ids of one page of the segments. */
export async function pageOfSegments(
  index: SearchIndex,
  segments: readonly Segment[],
  { limit, offset }: { limit: number; offset: number },
): Promise<number[]> {
  const places: number[] = [];
  let skip = offset;
  for (const segment of segments) {
    if (places.length < limit && skip < segment.count) {
      places.push(...(await partOf(index, segment, { limit: limit - places.length, skip })));
    }
    skip = Math.max(0, skip - segment.count);
  }
  return places.map((place) => place % idsPerRank);
}

async function partOf(
  index: SearchIndex,
  { match, count, scoring, foremost = [], except = [], known }: Segment,
  { limit, skip }: { limit: number; skip: number },
): Promise<number[]> {
  if (known !== undefined) return known.slice(skip, skip + limit);
  const scored = Math.min(count, scoredMax);
  const places: number[] = [];
  if (skip < scored) {
    places.push(...(await index.scored({ match, scoring, scored, except, foremost, limit, skip })));
  }
  if (places.length < limit && count > scored) {
    const from = Math.max(skip, scored);
    places.push(
      ...(await index.foremost({ match, except, limit: limit - places.length, skip: from })),
    );
  }
  return places;
}
