import { z } from "zod";
import type { Queryable, Store } from "#content/store/open.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import type { FtsMatch } from "./query.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { comparedNumber, readOrgId } from "#content/register/org-id.ts";

/**
 * A row of the index: the nonprofit's id in the low 32 bits and its standing above them. FTS5 yields matches in this
 * order, so that LIMIT ends the scan of a very common word early.
 */
export type RowId = number;

export const nonprofitIdOf = (row: RowId): number => row % 2 ** 32;

/** So many matches of a query are put in order; all others follow by their standing. */
export const orderedMax = 300;
/** This many matches are looked at for their name. */
const namedMax = 80;
const completionsMax = 16;
/** Of a word on a list, in memory. */
const wordBytes = 40;
const wordsBytes = (words: readonly string[]): number => wordBytes * words.length;

/** Looks up the full-text index. SQL, not drizzle: virtual tables and their functions are unknown to it. */
export class SearchIndex {
  readonly #store: Queryable;
  readonly #counts = weighedCache<number>(1_000_000);
  readonly #completions = weighedCache<string[]>(1_000_000, wordsBytes);
  readonly #foremost = weighedCache<Foremost>(4_000_000);
  readonly #words = weighedCache<string[]>(8_000_000, wordsBytes);

  constructor(store: Queryable) {
    this.#store = store;
  }

  /** The foremost rows of each tier, at most `orderedMax`, and those that match `named` with their names. */
  async tiers(tiers: readonly FtsMatch[], nameMatch: FtsMatch): Promise<Tiers> {
    return Tiers.parse(await this.#json(tiersSql, [JSON.stringify(tiers), nameMatch]));
  }

  /** Rows that match and are not in `except`, by standing. */
  async rest(
    match: FtsMatch,
    except: readonly RowId[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<RowId[]> {
    return Rows.parse(await this.#json(restSql, [match, JSON.stringify(except), limit, offset]));
  }

  /** The nonprofits that match, at most so many, in no order. */
  async ids(match: FtsMatch, most: number): Promise<number[]> {
    return Rows.parse(await this.#json(idsSql, [match, most]));
  }

  /** The ids of these nonprofits, each with the words of its filters and places. */
  async facets(ids: readonly number[]): Promise<[number, string][]> {
    return Facets.parse(await this.#json(facetsSql, [JSON.stringify(ids)]));
  }

  async count(match: FtsMatch): Promise<number> {
    return z.number().parse(await this.#json(countSql, [match]));
  }

  /** How many match each, `countedMax` at most, as of the last `forget` or later. */
  async counts(matches: readonly FtsMatch[]): Promise<number[]> {
    const unknown = matches.filter((match) => !this.#counts.has(match));
    if (unknown.length > 0) {
      const countRows = Rows.parse(await this.#json(countsSql, [JSON.stringify(unknown)]));
      for (const [at, match] of unknown.entries()) this.#counts.set(match, countRows[at] ?? 0);
    }
    return matches.map((match) => this.#counts.get(match) ?? 0);
  }

  /** Where the foremost that match each are, null where nothing matches, as of the last `forget` or later. */
  async foremost(matches: readonly FtsMatch[]): Promise<(Location | null)[]> {
    const unknown = matches.filter((match) => !this.#foremost.has(match));
    if (unknown.length > 0) {
      const locations = LocatedRows.parse(await this.#json(foremostSql, [JSON.stringify(unknown)]));
      for (const [at, location] of locations.entries())
        this.#foremost.set(unknown[at] ?? "", { location });
    }
    return matches.map((match) => this.#foremost.get(match)?.location ?? null);
  }

  /** The commonest words of profiles that begin so and are longer, at most 16, as of the last `forget` or later. */
  async completions(beginning: string): Promise<string[]> {
    const cachedWords = this.#completions.get(beginning);
    if (cachedWords !== undefined) return cachedWords;
    // Not the word itself: all of its rows would be counted.
    const args = [`${beginning}\u0001`, `${beginning}\u{10FFFF}`];
    const words = Words.parse(await this.#json(completionsSql, args));
    this.#completions.set(beginning, words);
    return words;
  }

  /** The cause that most of the foremost matches are for first of all, if it is that of two in five and of three at least. */
  async causeOf(match: FtsMatch): Promise<string | null> {
    const [cause, count, all] = Cause.parse(await this.#json(causeSql, [match]));
    return cause !== null && all >= causeFrom && count >= causeShareMin * all ? cause : null;
  }

  /** Words as they are written in profiles that begin so, as of the last `forget` or later. */
  async wordsFrom(beginning: string): Promise<string[]> {
    const cachedWords = this.#words.get(beginning);
    if (cachedWords !== undefined) return cachedWords;
    const words = Words.parse(await this.#json(wordsSql, [beginning, `${beginning}\u{10FFFF}`]));
    this.#words.set(beginning, words);
    return words;
  }

  /** Forgets what it knows of words and places: the profiles changed. */
  forget(): void {
    this.#counts.clear();
    this.#completions.clear();
    this.#foremost.clear();
    this.#words.clear();
  }

  /** Every statement answers one JSON text: fetching row by row takes several times as long. */
  async #json(sql: string, args: readonly (string | number)[]): Promise<unknown> {
    const { rows } = await this.#store.raw.execute({ sql, args: [...args] });
    return JSON.parse(String(rows[0]?.["found"]));
  }
}

/** What a query is read with: the words of a directory, or of a part of it. */
export type WordsIndex = Pick<SearchIndex, "foremost" | "counts" | "completions">;

/** A cache of its own cannot hold null. */
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

/** Where a profile is that stands in a place of some name. */
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

// The plus keeps the row ids from being looked up one by one.
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

/** Of more matches than these it only matters that they are many: counting all of a common word takes a millisecond. */
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

/** So many words of one beginning are looked at: all of them below some hundred thousand profiles. */
const wordsMax = 20_000;

const wordsSql = `
  SELECT json_group_array(term) AS found
  FROM (SELECT term FROM search_vocabulary WHERE term >= ? AND term < ? LIMIT ${wordsMax})`;

const pagesPerMerge = 500;
/** Who waits for the lock looks for it every 50 ms at most. */
const mergePauseMs = 30;

/**
 * Merges the many parts that bulk writing leaves in the index into one, some pages at a time, so that other writers get
 * their turn. Searches take a quarter less time afterwards. Source: sqlite.org/fts5.html, "The 'merge' command".
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

/** Numbers of other registers that are looked up have at least this many characters, and a digit. */
const numberLengthMin = 4;
const numberLengthMax = 40;
/** Registers that are not known may give one number to several. */
const namesakesMax = 20;

/** Digits that stand alone may be words of a name, too: "1736 Family Crisis Center". */
const mayBeWord = (text: string): boolean => /^\d{1,8}$/.test(text.trim());

/**
 * The nonprofit whose register number a query is, alone, if it passes the filters; null when the query is no number. An
 * unmistakable number that no one has gives nothing. Index: registrations_org_id, registrations_without_org_id.
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

/** The number that a text is: an org-id, or one of a register that is not known, as it is compared. */
function numberIn(text: string, country: string | null): { text: string; isOrgId: boolean } | null {
  if (!/\d/.test(text) || text.length > numberLengthMax) return null;
  const orgId = readOrgId(text, countryCode(country ?? "") ?? undefined);
  if (orgId.ok) return { text: orgId.value.org_id, isOrgId: true };
  const number = comparedNumber(text);
  return number.length < numberLengthMin ? null : { text: number, isOrgId: false };
}

// SQL, not drizzle: one prepared statement on the way of every query with a digit in it.
const byNumberSql = (condition: string) => `
  SELECT r.nonprofit_id AS id
  FROM registrations AS r
  JOIN listings AS l ON l.nonprofit_id = r.nonprofit_id AND l.list = 'all'
  WHERE ${condition}
  LIMIT ${namesakesMax}`;

const withOrgId = byNumberSql("r.org_id = $number");

/** In the very words of the index. */
const withoutOrgId = byNumberSql(`r.org_id IS NULL AND
  upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', '')) = $number`);
