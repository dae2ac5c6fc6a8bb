import { z } from "zod";
import type { Queryable, Store } from "#content/store/open.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import type { FtsMatch } from "./query.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { comparedNumber, readOrgId } from "#content/register/org-id.ts";

/**
 * A row of the index: the nonprofit's id in the low 32 bits and its rank above them. FTS5 returns matches in this order, so
 * that LIMIT ends the scan of a very common word early.
 */
export type RowId = number;

export const nonprofitIdOf = (row: RowId): number => row % 2 ** 32;

/** How many matches of a query are ranked; the others follow in row order. */
export const orderedMax = 300;
/** How many matches are compared by name. */
const namedMax = 80;
const completionsMax = 16;
/** Estimated memory of a word in a list. */
const wordBytes = 40;
const wordsBytes = (words: readonly string[]): number => wordBytes * words.length;

/** Queries the full-text index. SQL, because drizzle does not know virtual tables and their functions. */
export class SearchIndex {
  readonly #store: Queryable;
  readonly #counts = weighedCache<number>(1_000_000);
  readonly #completions = weighedCache<string[]>(1_000_000, wordsBytes);
  readonly #foremost = weighedCache<Foremost>(4_000_000);
  readonly #words = weighedCache<string[]>(8_000_000, wordsBytes);

  constructor(store: Queryable) {
    this.#store = store;
  }

  /** The first rows of each tier, at most `orderedMax`, and the matches of `named` with their names. */
  async tiers(tiers: readonly FtsMatch[], nameMatch: FtsMatch): Promise<Tiers> {
    return Tiers.parse(await this.#json(tiersSql, [JSON.stringify(tiers), nameMatch]));
  }

  /** Rows that match and are not in `except`, in row order. */
  async rest(
    match: FtsMatch,
    except: readonly RowId[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<RowId[]> {
    return Rows.parse(await this.#json(restSql, [match, JSON.stringify(except), limit, offset]));
  }

  /** Ids of nonprofits that match, at most `most`, unordered. */
  async ids(match: FtsMatch, most: number): Promise<number[]> {
    return Rows.parse(await this.#json(idsSql, [match, most]));
  }

  /** The ids of these nonprofits, each with its index words for filters and places. */
  async facets(ids: readonly number[]): Promise<[number, string][]> {
    return Facets.parse(await this.#json(facetsSql, [JSON.stringify(ids)]));
  }

  async count(match: FtsMatch): Promise<number> {
    return z.number().parse(await this.#json(countSql, [match]));
  }

  /** The number of matches of each, at most `countedMax`; not older than the last `forget`. */
  async counts(matches: readonly FtsMatch[]): Promise<number[]> {
    const unknown = matches.filter((match) => !this.#counts.has(match));
    if (unknown.length > 0) {
      const countRows = Rows.parse(await this.#json(countsSql, [JSON.stringify(unknown)]));
      for (const [at, match] of unknown.entries()) this.#counts.set(match, countRows[at] ?? 0);
    }
    return matches.map((match) => this.#counts.get(match) ?? 0);
  }

  /** The location of the first match of each, null if nothing matches; not older than the last `forget`. */
  async foremost(matches: readonly FtsMatch[]): Promise<(Location | null)[]> {
    const unknown = matches.filter((match) => !this.#foremost.has(match));
    if (unknown.length > 0) {
      const locations = LocatedRows.parse(await this.#json(foremostSql, [JSON.stringify(unknown)]));
      for (const [at, location] of locations.entries())
        this.#foremost.set(unknown[at] ?? "", { location });
    }
    return matches.map((match) => this.#foremost.get(match)?.location ?? null);
  }

  /** The most common longer words with this prefix, at most 16; not older than the last `forget`. */
  async completions(beginning: string): Promise<string[]> {
    const cachedWords = this.#completions.get(beginning);
    if (cachedWords !== undefined) return cachedWords;
    // Exclude the word itself, because all of its rows would be counted.
    const args = [`${beginning}\u0001`, `${beginning}\u{10FFFF}`];
    const words = Words.parse(await this.#json(completionsSql, args));
    this.#completions.set(beginning, words);
    return words;
  }

  /** The most common primary cause of the first matches, if at least two in five and at least three have it. */
  async causeOf(match: FtsMatch): Promise<string | null> {
    const [cause, count, all] = Cause.parse(await this.#json(causeSql, [match]));
    return cause !== null && all >= causeFrom && count >= causeShareMin * all ? cause : null;
  }

  /** Words of profiles with this prefix, as written; not older than the last `forget`. */
  async wordsFrom(beginning: string): Promise<string[]> {
    const cachedWords = this.#words.get(beginning);
    if (cachedWords !== undefined) return cachedWords;
    const words = Words.parse(await this.#json(wordsSql, [beginning, `${beginning}\u{10FFFF}`]));
    this.#words.set(beginning, words);
    return words;
  }

  /** Forgets cached words and places, because profiles have changed. */
  forget(): void {
    this.#counts.clear();
    this.#completions.clear();
    this.#foremost.clear();
    this.#words.clear();
  }

  /** Every statement returns one JSON text: fetching row by row takes several times as long. */
  async #json(sql: string, args: readonly (string | number)[]): Promise<unknown> {
    const { rows } = await this.#store.raw.execute({ sql, args: [...args] });
    return JSON.parse(String(rows[0]?.["found"]));
  }
}

/** What reading a query needs: the words of a directory, or of a part of it. */
export type WordsIndex = Pick<SearchIndex, "foremost" | "counts" | "completions">;

/** A wrapper, because the cache cannot hold null. */
type Foremost = { location: Location | null };

const Rows = z.array(z.number());
const Words = z.array(z.string());
const Facets = z.array(z.tuple([z.number(), z.string()]));
const Tiers = z.object({
  named: z.array(z.object({ row: z.number(), name: z.string() })),
  tiers: z.array(Rows),
});
export type Tiers = z.infer<typeof Tiers>;
export type NameTier = Tiers["named"][number];

/** The location of a profile that matches a place's name. */
export type Location = {
  city: string | null;
  region: string | null;
  country_code: string | null;
};

const placeName = z.string().nullable();
const LocatedRows = z.array(
  z.object({ city: placeName, region: placeName, country_code: placeName }).nullable(),
);

const tiersSql = `
  SELECT json_object(
    'named', (
      SELECT json_group_array(json_object('row', "row", 'name', name))
      FROM (
        SELECT rowid AS "row"
        FROM search_index
        WHERE search_index MATCH ?2
        ORDER BY rowid
        LIMIT ${namedMax}
      )
      JOIN nonprofits ON nonprofits.id = "row" & 4294967295
    ),
    'tiers', (
      SELECT json_group_array(json((
        SELECT json_group_array("row")
        FROM (
          SELECT rowid AS "row"
          FROM search_index
          WHERE search_index MATCH value
          ORDER BY rowid
          LIMIT ${orderedMax}
        )
      )))
      FROM json_each(?1)
    )
  ) AS found`;

// The plus keeps SQLite from looking up the row ids one by one.
const restSql = `
  SELECT json_group_array("row") AS found
  FROM (
    SELECT rowid AS "row"
    FROM search_index
    WHERE search_index MATCH ? AND +rowid NOT IN (SELECT value FROM json_each(?))
    ORDER BY rowid
    LIMIT ? OFFSET ?
  )`;

const idsSql = `
  SELECT json_group_array(id) AS found
  FROM (SELECT rowid & 4294967295 AS id FROM search_index WHERE search_index MATCH ? LIMIT ?)`;

const facetsSql = `
  SELECT json_group_array(json_array(id, search_facets)) AS found
  FROM nonprofits
  WHERE id IN (SELECT value FROM json_each(?))`;

const countSql = "SELECT count(*) AS found FROM search_index WHERE search_index MATCH ?";

/** Counting stops here: beyond it, a word is simply common, and counting all of it takes a millisecond. */
const countedMax = 1_000;

const countsSql = `
  SELECT json_group_array((
    SELECT count(*)
    FROM (SELECT 1 FROM search_index WHERE search_index MATCH value LIMIT ${countedMax})
  )) AS found
  FROM json_each(?)`;

const completionsSql = `
  SELECT json_group_array(term) AS found
  FROM (SELECT term FROM search_vocabulary WHERE term > ? AND term < ? ORDER BY doc DESC, term LIMIT ${completionsMax})`;

const Cause = z.tuple([z.string().nullable(), z.number(), z.number()]);
const causeFrom = 3;
const causeShareMin = 0.4;

const causeSql = `
  WITH counted AS (
    SELECT c.cause_id, count(*) AS count
    FROM (SELECT rowid AS "row" FROM search_index WHERE search_index MATCH ? ORDER BY rowid LIMIT 200)
    JOIN nonprofit_causes AS c ON c.nonprofit_id = "row" & 4294967295 AND c.position = 0
    GROUP BY c.cause_id
  )
  SELECT json_array(
    (SELECT cause_id FROM counted ORDER BY count DESC, cause_id LIMIT 1),
    coalesce(max(count), 0), coalesce(sum(count), 0)
  ) AS found
  FROM counted`;

const foremostSql = `
  SELECT json_group_array(json((
    SELECT json_object('city', n.city, 'region', n.region, 'country_code', n.country_code)
    FROM search_index
    JOIN nonprofits AS n ON n.id = search_index.rowid & 4294967295
    WHERE search_index MATCH value
    LIMIT 1
  ))) AS found
  FROM json_each(?)`;

/** How many words with one prefix are read: all of them in directories of up to some hundred thousand profiles. */
const wordsMax = 20_000;

const wordsSql = `
  SELECT json_group_array(term) AS found
  FROM (SELECT term FROM search_vocabulary WHERE term >= ? AND term < ? LIMIT ${wordsMax})`;

const pagesPerMerge = 500;
/** Other writers look for the lock at most every 50 ms. */
const mergePauseMs = 30;

/**
 * Merges the many segments that bulk writing leaves in the index, some pages at a time, so that other writers get their
 * turn. Searches take a quarter less time afterwards. Source: sqlite.org/fts5.html, "The 'merge' command".
 */
export async function mergeIndex(store: Store): Promise<void> {
  for (let pages = -pagesPerMerge, hasMore = true; hasMore; pages = pagesPerMerge) {
    hasMore = await store.write(async ({ raw }) => {
      const pagesWritten = async () =>
        Number((await raw.execute("SELECT total_changes() AS rows")).rows[0]?.["rows"]);
      const before = await pagesWritten();
      await raw.execute({
        sql: "INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)",
        args: [pages],
      });
      return (await pagesWritten()) - before >= 2;
    });
    if (hasMore) await Bun.sleep(mergePauseMs);
  }
}

/** The lengths of numbers of unknown registers that are looked up; they must contain a digit. */
const numberLengthMin = 4;
const numberLengthMax = 40;
/** Unknown registers may give one number to several organisations. */
const namesakesMax = 20;

/** Digits alone may also be part of a name: "1736 Family Crisis Center". */
const mayBeWord = (text: string): boolean => /^\d{1,8}$/.test(text.trim());

/**
 * The nonprofit with the register number in a query, if it passes the filters; null when the query is no number. An
 * unmistakable number that no one has gives an empty page. Index: registrations_org_id, registrations_without_org_id.
 */
export async function numberedPage(
  store: Queryable,
  { q, filters, offset }: SearchQuery,
): Promise<{ total: number; ids: number[]; number: string } | null> {
  const number = numberIn(q ?? "", filters.country);
  if (number === null) return null;
  const { rows } = await store.raw.execute({
    sql: number.isOrgId ? withOrgId : withoutOrgId,
    args: { number: number.text },
  });
  const records = await recordsById(
    store,
    rows.map((row) => Number(row["id"])),
  );
  const match = records.find((record) => passes(filteredOf(record), filters));
  if (match !== undefined) {
    return { total: 1, ids: offset === 0 ? [match.id] : [], number: number.text };
  }
  return number.isOrgId && !mayBeWord(q ?? "") ? { total: 0, ids: [], number: number.text } : null;
}

/** Reads a text as a number in its comparison form: an org-id, or the number of an unknown register. */
function numberIn(text: string, country: string | null): { text: string; isOrgId: boolean } | null {
  if (!/\d/.test(text) || text.length > numberLengthMax) return null;
  const orgId = readOrgId(text, countryOf(country ?? "") ?? undefined);
  if (orgId.ok) return { text: orgId.value.org_id, isOrgId: true };
  const number = comparedNumber(text);
  return number.length < numberLengthMin ? null : { text: number, isOrgId: false };
}

// SQL instead of drizzle, because every query with a digit runs this prepared statement.
const byNumberSql = (condition: string) => `
  SELECT r.nonprofit_id AS id
  FROM registrations AS r
  JOIN listings AS l ON l.nonprofit_id = r.nonprofit_id AND l.list = 'all'
  WHERE ${condition}
  LIMIT ${namesakesMax}`;

const withOrgId = byNumberSql("r.org_id = $number");

/** The exact expression of the index. */
const withoutOrgId = byNumberSql(`r.org_id IS NULL AND
  upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', '')) = $number`);
