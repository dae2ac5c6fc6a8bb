import { Database } from "bun:sqlite";
import {
  and,
  asc,
  countDistinct,
  eq,
  getTableColumns,
  gt,
  gte,
  ne,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Location, WordsIndex } from "#content/find/index-store.ts";
import { type FtsMatch, searchWords } from "#content/find/query.ts";
import { type Reading, readingOf } from "#content/find/reading.ts";
import { countsHere } from "#content/giving/store.ts";
import { indexWords } from "#content/nonprofit/filters.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { donations } from "#content/store/tables/giving.ts";
import { type GovernancePhase, StarterSet } from "#content/contract/recommendation.ts";
import operatorsFile from "#content/editorial/starter-set.json";
import { idsBySlug } from "#content/nonprofit/record-store.ts";
import { changeDirectory } from "#content/nonprofit/changes-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, insertMany, inValues, statement } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { curatedPicks as picksTable } from "#content/store/tables/recommendations.ts";
import { describeFaults, wordingFaults } from "#content/nonprofit/text.ts";

/** A stored recommendation as operators see it. `updated_at` is in milliseconds since 1970. */
export type StoredPick = NewPick & { slug: string; name: string };

type NewPick = typeof picksTable.$inferSelect;

const columns = {
  ...getTableColumns(picksTable),
  slug: nonprofits.slug,
  name: nonprofits.name,
};

const storedPicks = (store: Queryable, which: SQL | undefined) =>
  store.db
    .select(columns)
    .from(picksTable)
    .innerJoin(nonprofits, eq(nonprofits.id, picksTable.nonprofit_id))
    .where(which);

/** The stored recommendations by slug, at most `limit` after the slug `after`. */
export const pickList = (
  store: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPick[]> =>
  storedPicks(store, gt(nonprofits.slug, after ?? ""))
    .orderBy(asc(nonprofits.slug))
    .limit(limit)
    .execute();

export async function pickOf(store: Queryable, nonprofit_id: number): Promise<StoredPick | null> {
  const [pick] = await storedPicks(store, eq(picksTable.nonprofit_id, nonprofit_id));
  return pick ?? null;
}

/** Adds a recommendation of a nonprofit that has none. */
export const addPick = (pick: NewPick): Statement[] => [
  statement(builder.insert(picksTable).values(pick)),
  ...tellPages(pick.updated_at),
];

/** Marks the pages that show recommendations as changed. */
const tellPages = (at: number): Statement[] => changeDirectory("picks", new Date(at));

/** Adds or changes a nonprofit's recommendation; absent values stay. */
export const setPick = ({
  nonprofit_id,
  ...fields
}: typeof picksTable.$inferInsert & Pick<NewPick, "nonprofit_id" | "updated_at">): Statement[] => [
  statement(
    builder
      .insert(picksTable)
      .values({ nonprofit_id, ...fields })
      .onConflictDoUpdate({ target: picksTable.nonprofit_id, set: fields }),
  ),
  ...tellPages(fields.updated_at),
];

/** Removes a nonprofit's recommendation, at a time in milliseconds since 1970. */
export const deletePick = (nonprofit_id: number, at: number): Statement[] => [
  statement(builder.delete(picksTable).where(eq(picksTable.nonprofit_id, nonprofit_id))),
  ...tellPages(at),
];

/**
 * A recommended profile. `causes` is null when it is recommended for all its causes; `origin`: made by the operator, from an
 * agent's draft that the operator approved, or by agreeing agents.
 */
export type CuratedPick = Pick<
  NewPick,
  "nonprofit_id" | "recommended_for" | "why_recommended" | "causes" | "origin"
>;

/**
 * All recommended profiles, by nonprofit id: the stored ones, and those in the operator's file whose slug exists; the file
 * takes precedence. Those promoted by agreement count only in phase 3. Withdrawn nonprofits are left out. Throws, naming the
 * pick, if the file is malformed or a sentence claims too much.
 */
export async function curatedPicks(
  store: Queryable,
  { phase, file = operatorsFile }: { phase: GovernancePhase; file?: unknown },
): Promise<CuratedPick[]> {
  const filePicks = checkedStarterSet(file).picks;
  const { nonprofit_id: id, recommended_for, why_recommended, causes, origin } = picksTable;
  const stored = await store.db
    .select({ nonprofit_id: id, recommended_for, why_recommended, causes, origin })
    .from(picksTable)
    .innerJoin(nonprofits, eq(nonprofits.id, picksTable.nonprofit_id))
    .where(
      and(ne(nonprofits.status, "withdrawn"), phase === 3 ? undefined : ne(origin, "consensus")),
    );
  const picks = new Map<number, CuratedPick>(stored.map((pick) => [pick.nonprofit_id, pick]));
  const slugs = filePicks.map(({ slug }) => slug);
  const ids = await idsBySlug(store, slugs, { withdrawn: false });
  for (const { slug, causes: only = null, ...pick } of filePicks) {
    const nonprofit_id = ids.get(slug);
    if (nonprofit_id === undefined) continue;
    picks.set(nonprofit_id, { nonprofit_id, ...pick, causes: only, origin: "operator" });
  }
  return [...picks.values()].sort((a, b) => a.nonprofit_id - b.nonprofit_id);
}

let inFile: ReadonlySet<string> | null = null;

export const fileSlugs = (): ReadonlySet<string> =>
  (inFile ??= new Set(checkedStarterSet(operatorsFile).picks.map(({ slug }) => slug)));

/** Whether the operator's file contains the nonprofit; its pick cannot then be changed in the store. */
export const isInFile = (slug: string): boolean => fileSlugs().has(slug);

/** Stores the operator's picks, replacing those of the same nonprofits. Throws when a sentence claims too much. */
export async function saveCuratedPicks(
  tx: WriteTransaction,
  picks: readonly Pick<CuratedPick, "nonprofit_id" | "recommended_for" | "why_recommended">[],
): Promise<void> {
  for (const pick of picks) refuseClaims(`nonprofit ${pick.nonprofit_id}`, pick);
  await insertMany(
    tx,
    picksTable,
    picks.map(({ nonprofit_id, recommended_for, why_recommended }) => ({
      nonprofit_id,
      recommended_for: [...recommended_for],
      why_recommended,
    })),
    `ON CONFLICT (nonprofit_id) DO UPDATE SET
       recommended_for = excluded.recommended_for, why_recommended = excluded.why_recommended`,
  );
}

function checkedStarterSet(file: unknown): StarterSet {
  const starterSet = StarterSet.parse(file);
  for (const pick of starterSet.picks) refuseClaims(pick.slug, pick);
  return starterSet;
}

function refuseClaims(
  of: string,
  { recommended_for, why_recommended }: Pick<CuratedPick, "recommended_for" | "why_recommended">,
): void {
  const faults = [...recommended_for, why_recommended].flatMap(wordingFaults);
  if (faults.length > 0) throw new Error(`starter set, ${of}: ${describeFaults(faults)}`);
}

/** Less than this, 0.01 USDC, counts in totals but not in the ranking, where many tiny gifts would cost nothing. */
const dustBelow = 10_000;

/**
 * The number of wallets that gave to each of these nonprofits, if any. Each wallet counts once; a transfer from several
 * wallets does not count. Index: donations_by_nonprofit.
 */
export async function donorCounts(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const { nonprofit_id, donor, amount_micro_usdc } = donations;
  const rows = await store.db
    .select({ nonprofit_id, count: countDistinct(donor) })
    .from(donations)
    .where(and(inValues(nonprofit_id, ids), gte(amount_micro_usdc, dustBelow), sql.raw(countsHere)))
    .groupBy(nonprofit_id);
  return new Map(rows.map((row) => [row.nonprofit_id, row.count]));
}

/** Full-text search in the recommended profiles only: in memory and synchronous. */
export type CuratedIndex = ReturnType<typeof openCuratedIndex>;

type IntentMatches = ReadonlyMap<number, number>;
const cachedBytesMax = 16_000_000;
/** Estimated memory of an id with its strength. */
const matchBytes = 40;

/**
 * An index like that of the whole directory, with equal weights and the picks' texts, but for whole words and their stems:
 * needs are fully typed, so "water" at the end is not the beginning of "Waterford". FTS5 is queried word by word and results
 * are cached until a profile changes, because people use the same words in new sentences. bm25 of several words is the sum
 * over them, so nothing is lost. Source: sqlite.org/fts5.html, "The bm25() function".
 */
export function openCuratedIndex() {
  const memory = new Database(":memory:");
  memory.run(`
    CREATE VIRTUAL TABLE curated USING fts5(
      name, tagline, mission, description, facets, pick,
      tokenize = "porter unicode61 remove_diacritics 2"
    )`);
  const removeQuery = memory.query<null, [number]>("DELETE FROM curated WHERE rowid = ?");
  const addQuery = memory.query<null, (number | string | null)[]>(
    "INSERT INTO curated (rowid, name, tagline, mission, description, facets, pick) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const finding = memory.query<{ id: number; strength: number }, [string]>(
    `SELECT rowid AS id, -bm25(curated, 10.0, 5.0, 2.0, 1.0, 1.0, 5.0) AS strength
     FROM curated
     WHERE curated MATCH ?`,
  );
  const matchCache = weighedCache<IntentMatches>(cachedBytesMax, ({ size }) => matchBytes * size, {
    memoMethod: (match) => new Map(finding.all(match).map(({ id, strength }) => [id, strength])),
  });
  const matchesOf = (matches: readonly FtsMatch[]) =>
    matches.map((match) => matchCache.memo(match));
  const places = new Map<number, Location>();
  const words: WordsIndex = {
    foremost: async (matches) =>
      matchesOf(matches).map((strengths) => places.get([...strengths.keys()][0] ?? 0) ?? null),
    counts: async (matches) => matchesOf(matches).map(({ size }) => size),
    completions: async () => [],
  };
  return {
    /** Adds profiles, replacing those with the same ids, and removes others. */
    update: (
      entries: readonly { record: NonprofitRecord; pick: CuratedPick }[],
      removedIds: readonly number[],
    ) => {
      matchCache.clear();
      memory.transaction(() => {
        for (const id of [...removedIds, ...entries.map(({ record }) => record.id)])
          removeQuery.run(id);
        for (const { record: r, pick } of entries) {
          const texts = [r.name, r.tagline, r.mission, r.description, indexWords(r)];
          addQuery.run(r.id, ...texts, textOf(pick));
          places.set(r.id, r);
        }
      })();
    },
    /** Reads a need as the search does: its place, and each word with everything that it matches. */
    read: (need: string): Promise<Reading> =>
      readingOf(
        words,
        searchWords(need).map((word) => ({ ...word, prefix: false })),
        need,
      ),
    /** Ids of the profiles that match all of these, or any. */
    matching: (matches: readonly FtsMatch[], which: "all" | "any"): ReadonlySet<number> => {
      const [first, ...others] = matchesOf(matches);
      return others.reduce(
        (ids, other) => (which === "all" ? ids.intersection(other) : ids.union(other)),
        new Set(first?.keys()),
      );
    },
    /** bm25 of the profiles that match any of these; more is better, always above 0. */
    strengths: (matches: readonly FtsMatch[]): ReadonlyMap<number, number> => {
      const sums = new Map<number, number>();
      for (const strengths of matchesOf(matches)) {
        for (const [id, strength] of strengths) sums.set(id, (sums.get(id) ?? 0) + strength);
      }
      return sums;
    },
    close: () => memory.close(),
  };
}

export const textOf = ({ recommended_for, why_recommended }: CuratedPick): string =>
  [...recommended_for, why_recommended].join(". ");
