import type { InArgs } from "@libsql/client";
import type { Asked } from "./records.ts";

/** A part of the results: its matches follow those of the segment before, and no match is in two segments. */
export type Segment = {
  /** A query of FTS5. */
  match: string;
  count: number;
  /** The words that points are given for, when those of `match` are not all worth it. */
  scoring?: string;
  /** Places that stand in front of the others of this segment. */
  foremost?: readonly number[];
  /** Places that match but stand in an earlier segment; `count` is without them. */
  except?: readonly number[];
  /** All places of the segment, in order, when they are known already. */
  known?: readonly number[];
};

/**
 * bm25 is worked out for so many matches of a segment, the foremost by impact; those behind follow by impact alone.
 * Scoring takes 0.5 µs a match, counting 0.02 µs: this keeps a query for a very common word at a few ms.
 */
export const scoredMax = 1_000;

/** Weights of name, tagline, mission, description and facets, tuned by scripts/bench/relevance.ts. */
const columnWeights = "8.0, 4.0, 1.0, 0.3, 0.0";

/** A place holds the nonprofit's id in its low 32 bits; see the view search_places. */
const idsPerRank = 2 ** 32;

/** The nonprofit ids of one page of the segments. */
export async function pageOfSegments(
  asked: Asked,
  segments: readonly Segment[],
  { limit, offset }: { limit: number; offset: number },
): Promise<number[]> {
  const places: number[] = [];
  let skip = offset;
  for (const segment of segments) {
    if (places.length < limit && skip < segment.count) {
      places.push(...(await partOf(asked, segment, { limit: limit - places.length, skip })));
    }
    skip = Math.max(0, skip - segment.count);
  }
  return places.map((place) => place % idsPerRank);
}

async function partOf(
  asked: Asked,
  { match, count, scoring, foremost = [], except = [], known }: Segment,
  { limit, skip }: { limit: number; skip: number },
): Promise<number[]> {
  if (known !== undefined) return known.slice(skip, skip + limit);
  const scored = Math.min(count, scoredMax);
  const left = JSON.stringify(except);
  const places: number[] = [];
  if (skip < scored) {
    const page = [left, scored, JSON.stringify(foremost), limit, skip];
    const found =
      scoring === undefined
        ? placesOf(asked, scoredPage, [match, ...page])
        : placesOf(asked, tellingPage, [scoring, match, ...page]);
    places.push(...(await found));
  }
  if (places.length < limit && count > scored) {
    const args = [match, left, limit - places.length, Math.max(skip, scored)];
    places.push(...(await placesOf(asked, unscoredPage, args)));
  }
  return places;
}

/** The foremost matches by impact, at most `limit`: nothing is scored. */
export const foremostOf = (asked: Asked, match: string, limit: number): Promise<number[]> =>
  placesOf(asked, unscoredPage, [match, "[]", limit, 0]);

/** The number of matches. Nothing is scored. */
export async function countOf(asked: Asked, match: string): Promise<number> {
  const { rows } = await asked.execute({
    sql: "SELECT count(*) AS count FROM search_index WHERE search_index MATCH ?",
    args: [match],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** Whether any of these nonprofits is among the matches. */
export async function isAnyMatched(
  asked: Asked,
  match: string,
  nonprofitIds: readonly number[],
): Promise<boolean> {
  const { rows } = await asked.execute({
    sql: `SELECT 1 FROM search_index
          WHERE search_index MATCH ? AND rowid IN (
            SELECT place FROM search_places WHERE nonprofit_id IN (SELECT value FROM json_each(?))
          )
          LIMIT 1`,
    args: [match, JSON.stringify(nonprofitIds)],
  });
  return rows.length > 0;
}

// The index yields matches in the order of their places, so LIMIT ends the scan early.
const scoredPage = `
  SELECT place
  FROM (
    SELECT rowid AS place, bm25(search_index, ${columnWeights}) AS score
    FROM search_index
    WHERE search_index MATCH ? AND +rowid NOT IN (SELECT value FROM json_each(?))
    ORDER BY rowid
    LIMIT ?
  )
  ORDER BY place NOT IN (SELECT value FROM json_each(?)), score, place
  LIMIT ? OFFSET ?`;

// Points for other words than those that are matched. The plus keeps the rowids from being looked up one by one.
const tellingPage = `
  SELECT place
  FROM (
    SELECT rowid AS place, bm25(search_index, ${columnWeights}) AS score
    FROM search_index
    WHERE search_index MATCH ? AND +rowid IN (
      SELECT rowid
      FROM search_index
      WHERE search_index MATCH ? AND +rowid NOT IN (SELECT value FROM json_each(?))
      ORDER BY rowid
      LIMIT ?
    )
  )
  ORDER BY place NOT IN (SELECT value FROM json_each(?)), score, place
  LIMIT ? OFFSET ?`;

const unscoredPage = `
  SELECT rowid AS place
  FROM search_index
  WHERE search_index MATCH ? AND +rowid NOT IN (SELECT value FROM json_each(?))
  ORDER BY rowid
  LIMIT ? OFFSET ?`;

async function placesOf(asked: Asked, sql: string, args: InArgs): Promise<number[]> {
  const { rows } = await asked.execute({ sql, args });
  return rows.map((row) => Number(row["place"]));
}
