import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Queryable, Store } from "#content/store/open.ts";
import { type FtsMatch, placeMatch } from "./query.ts";
import { type Located, placeSpellings } from "./places.ts";

/**
 * A row id of the index: the nonprofit's id in the low 32 bits and its rank by impact above them. FTS5 yields matches
 * in the order of places, so that LIMIT ends the scan of a very common word early.
 */
type Place = number;

export const nonprofitIdOf = (place: Place): number => place % 2 ** 32;

/**
 * bm25 is worked out for this many matches of a query, those with the greatest impact; the others follow by impact alone.
 * This keeps a query for a very common word at a few ms.
 */
export const scoredMax = 300;
/** This many matches are looked at for their name. */
const namedMax = 80;
const completionsMax = 2_000;
/** So many words are kept for those who mistype others, some MB. */
const wordsKeptMax = 200_000;

/** What one occurrence in name, tagline, mission and description is worth, tuned by scripts/bench/relevance.ts. */
const bm25 = "bm25(search_index, 8, 4, 1, 0.3, 0)";

/** Looks up the full-text index. SQL, not drizzle: virtual tables and their functions are unknown to it. */
export class SearchIndex {
  readonly #store: Queryable;
  readonly #counts = new LRUCache<FtsMatch, number>({ max: 2_000 });
  readonly #completions = new LRUCache<string, string[]>({ max: 500 });
  readonly #located = new LRUCache<string, Found>({ max: 5_000 });
  readonly #words = new LRUCache<string, string[]>({
    maxSize: wordsKeptMax,
    sizeCalculation: (words) => words.length + 1,
  });

  constructor(store: Queryable) {
    this.#store = store;
  }

  /** Places of the first matches by impact, at most `limit`. */
  async first(match: FtsMatch, limit: number): Promise<Place[]> {
    return places(await this.#value(firstSql, [match, limit]));
  }

  /**
   * Places of the matches by bm25, at most `scoredMax`, and the names of those that match `named`.
   */
  async best(match: FtsMatch, named: FtsMatch): Promise<{ places: Place[]; named: Named[] }> {
    return Best.parse(JSON.parse(String(await this.#value(bestSql, [match, named]))));
  }

  /** Places by impact of matches that are not in `except`. */
  async rest(
    match: FtsMatch,
    except: readonly Place[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Place[]> {
    return places(await this.#value(restSql, [match, JSON.stringify(except), limit, offset]));
  }

  async count(match: FtsMatch): Promise<number> {
    return Number(await this.#value(countSql, [match]));
  }

  /** How many match each, as of the last `forget` or later. */
  async counts(matches: readonly FtsMatch[]): Promise<number[]> {
    const unknown = matches.filter((match) => !this.#counts.has(match));
    if (unknown.length > 0) {
      const found = places(await this.#value(countsSql, [JSON.stringify(unknown)]));
      for (const [at, match] of unknown.entries()) this.#counts.set(match, found[at] ?? 0);
    }
    return matches.map((match) => this.#counts.get(match) ?? 0);
  }

  /** Words as they are written in profiles that begin so and are longer, as of the last `forget` or later. */
  async completions(begun: string): Promise<string[]> {
    const known = this.#completions.get(begun);
    if (known !== undefined) return known;
    const found = await this.#value(completionsSql, [begun, `${begun}\u{10FFFF}`, completionsMax]);
    const words = z.array(z.string()).parse(JSON.parse(String(found)));
    this.#completions.set(begun, words);
    return words;
  }

  /** The foremost profile in a city or region of each name, null where there is none, as of the last `forget` or later. */
  async located(names: readonly string[]): Promise<(Located | null)[]> {
    const unknown = names.filter((name) => !this.#located.has(name));
    if (unknown.length > 0) {
      const matches = unknown.map((name) => placeMatch(placeSpellings(name)));
      const found = await this.#value(locatedSql, [JSON.stringify(matches)]);
      for (const [at, one] of LocatedRows.parse(JSON.parse(String(found))).entries())
        this.#located.set(unknown[at] ?? "", { one });
    }
    return names.map((name) => this.#located.get(name)?.one ?? null);
  }

  /** The cause that most of the foremost matches are for first of all, if it is that of two in five and of three at least. */
  async causeOf(match: FtsMatch): Promise<string | null> {
    const [cause, count, all] = Cause.parse(
      JSON.parse(String(await this.#value(causeSql, [match]))),
    );
    return cause !== null && all >= causeFrom && count >= causeShareMin * all ? cause : null;
  }

  /** Words as they are written in profiles that begin so, of these lengths, as of the last `forget` or later. */
  async wordsFrom(begun: string, [least, most]: readonly [number, number]): Promise<string[]> {
    const key = `${begun} ${least} ${most}`;
    const known = this.#words.get(key);
    if (known !== undefined) return known;
    const found = await this.#value(wordsSql, [begun, `${begun}\u{10FFFF}`, least, most]);
    const words = z.array(z.string()).parse(JSON.parse(String(found)));
    this.#words.set(key, words);
    return words;
  }

  /** Forgets what it knows of words and places: the profiles changed. */
  forget(): void {
    this.#counts.clear();
    this.#completions.clear();
    this.#located.clear();
    this.#words.clear();
  }

  async #value(sql: string, args: readonly (string | number)[]): Promise<unknown> {
    const { rows } = await this.#store.raw.execute({ sql, args: [...args] });
    return Row.parse(rows[0]).found;
  }
}

/** A cache of its own cannot hold null. */
type Found = { one: Located | null };

export type Named = { place: Place; name: string };

const Row = z.object({ found: z.union([z.string(), z.number()]) });

const Best = z.object({
  places: z.array(z.number()),
  named: z.array(z.object({ place: z.number(), name: z.string() })),
});

const text = z.string().nullable();
const LocatedRows = z.array(z.object({ city: text, region: text, country_code: text }).nullable());

const places = (found: unknown): number[] => z.array(z.number()).parse(JSON.parse(String(found)));

// Every statement answers one JSON text: fetching row by row takes several times as long.

const firstSql = `
  SELECT json_group_array(place) AS found
  FROM (
    SELECT rowid AS place
    FROM search_index
    WHERE search_index MATCH ?
    ORDER BY rowid
    LIMIT ?
  )`;

const bestSql = `
  SELECT json_object(
    'places', (
      SELECT json_group_array(place)
      FROM (
        SELECT place
        FROM (
          SELECT rowid AS place, ${bm25} AS score
          FROM search_index
          WHERE search_index MATCH ?
          ORDER BY rowid
          LIMIT ${scoredMax}
        )
        ORDER BY score, place
      )
    ),
    'named', (
      SELECT json_group_array(json_object('place', place, 'name', name))
      FROM (
        SELECT rowid AS place
        FROM search_index
        WHERE search_index MATCH ?
        ORDER BY rowid
        LIMIT ${namedMax}
      )
      JOIN nonprofits ON nonprofits.id = place & 4294967295
    )
  ) AS found`;

// The plus keeps the row ids from being looked up one by one.
const restSql = `
  SELECT json_group_array(place) AS found
  FROM (
    SELECT rowid AS place
    FROM search_index
    WHERE search_index MATCH ? AND +rowid NOT IN (SELECT value FROM json_each(?))
    ORDER BY rowid
    LIMIT ? OFFSET ?
  )`;

const countSql = "SELECT count(*) AS found FROM search_index WHERE search_index MATCH ?";

const countsSql = `
  SELECT json_group_array((SELECT count(*) FROM search_index WHERE search_index MATCH value)) AS found
  FROM json_each(?)`;

const completionsSql = `
  SELECT json_group_array(term) AS found
  FROM (SELECT term FROM search_vocabulary WHERE term > ? AND term < ? LIMIT ?)`;

const Cause = z.tuple([z.string().nullable(), z.number(), z.number()]);
const causeFrom = 3;
const causeShareMin = 0.4;

const causeSql = `
  WITH counted AS (
    SELECT c.cause_id, count(*) AS count
    FROM (SELECT rowid AS place FROM search_index WHERE search_index MATCH ? ORDER BY rowid LIMIT 200)
    JOIN nonprofit_causes AS c ON c.nonprofit_id = place & 4294967295 AND c.position = 0
    GROUP BY c.cause_id
  )
  SELECT json_array(
    (SELECT cause_id FROM counted ORDER BY count DESC, cause_id LIMIT 1),
    coalesce(max(count), 0), coalesce(sum(count), 0)
  ) AS found
  FROM counted`;

const locatedSql = `
  SELECT json_group_array(json((
    SELECT json_object('city', n.city, 'region', n.region, 'country_code', n.country_code)
    FROM search_index
    JOIN nonprofits AS n ON n.id = search_index.rowid & 4294967295
    WHERE search_index MATCH value
    LIMIT 1
  ))) AS found
  FROM json_each(?)`;

/** So many words of one beginning are looked at: all of them below some hundred thousand profiles. */
const wordsMax = 20_000;

const wordsSql = `
  SELECT json_group_array(term) AS found
  FROM (SELECT term FROM search_vocabulary WHERE term >= ? AND term < ? LIMIT ${wordsMax})
  WHERE length(term) BETWEEN ? AND ?`;

const pagesPerMerge = 500;

/**
 * Merges the many parts that bulk writing leaves in the index into one, some pages at a time, so that other writers get
 * their turn. Searches take a quarter less time afterwards. Source: sqlite.org/fts5.html, "The 'merge' command".
 */
export async function mergeIndex(store: Store): Promise<void> {
  for (let pages = -pagesPerMerge, merged = true; merged; pages = pagesPerMerge) {
    merged = await store.write(async ({ raw }) => {
      const written = async () =>
        Number((await raw.execute("SELECT total_changes() AS rows")).rows[0]?.["rows"]);
      const before = await written();
      await raw.execute({
        sql: "INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)",
        args: [pages],
      });
      return (await written()) - before >= 2;
    });
  }
}
