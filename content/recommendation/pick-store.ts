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
import { changeDirectory } from "#content/nonprofit/save.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, insertMany, inValues, statement } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { curatedPicks as picksTable } from "#content/store/tables/recommendations.ts";
import { describeFaults, wordingFaults } from "#content/nonprofit/text.ts";

/** A row of the recommended profiles, as an operator sees it. `updated_at` is in milliseconds since 1970. */
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

/** The recommended profiles of the store by slug, at most `limit` after one. */
export const pickList = (
  store: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPick[]> =>
  storedPicks(store, gt(nonprofits.slug, after ?? ""))
    .orderBy(asc(nonprofits.slug))
    .limit(limit)
    .execute();

/** The recommendation of one nonprofit in the store, null for none. */
export async function pickOf(store: Queryable, nonprofit_id: number): Promise<StoredPick | null> {
  const [pick] = await storedPicks(store, eq(picksTable.nonprofit_id, nonprofit_id));
  return pick ?? null;
}

/** Adds a recommendation of a nonprofit that has none. */
export const addPick = (pick: NewPick): Statement[] => [
  statement(builder.insert(picksTable).values(pick)),
  ...tellPages(pick.updated_at),
];

/** Marks the pages that show what is recommended as changed. */
const tellPages = (at: number): Statement[] => changeDirectory("picks", new Date(at));

/** Recommends a nonprofit, or replaces what is said of it; what is not given stays as it is. */
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

/** Takes the recommendation of a nonprofit away, at a time in milliseconds since 1970. */
export const deletePick = (nonprofit_id: number, at: number): Statement[] => [
  statement(builder.delete(picksTable).where(eq(picksTable.nonprofit_id, nonprofit_id))),
  ...tellPages(at),
];

/**
 * A profile that is recommended. `causes` is null when it is so for all causes of the profile; `origin` says who made the
 * recommendation: the operator, an agent whose draft the operator approved, or agents that agree.
 */
export type CuratedPick = Pick<
  NewPick,
  "nonprofit_id" | "recommended_for" | "why_recommended" | "causes" | "origin"
>;

/**
 * All recommended profiles, by nonprofit id: the rows of the store and those picks of the operator's file whose slug
 * exists; the file wins over a row. What agents' agreement promoted counts in phase 3 only. Withdrawn nonprofits are left
 * out. Throws, naming the pick, when the file is malformed or a sentence in it claims too much.
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

/** The nonprofits that the operator's file holds. */
export const fileSlugs = (): ReadonlySet<string> =>
  (inFile ??= new Set(checkedStarterSet(operatorsFile).picks.map(({ slug }) => slug)));

/** Whether the operator's file holds the nonprofit: what it says cannot be changed in the store. */
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

/** Less than this, 0.01 USDC, counts in totals and not in the ranking, where it would cost nothing to be many. */
const dustBelow = 10_000;

/**
 * Wallets that gave to each of these nonprofits, where any did. One that gives often counts once, and what several wallets
 * gave in one transfer not at all. Index: donations_by_nonprofit.
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

/** Full-text matching among the recommended profiles alone: in memory, and synchronous. */
export type CuratedIndex = ReturnType<typeof openCuratedIndex>;

type IntentMatches = ReadonlyMap<number, number>;
const cachedBytesMax = 16_000_000;
/** Of an id with its strength, in memory. */
const matchBytes = 40;

/**
 * An index made as that of the whole directory is, with the same weights and the texts of the picks, but of whole words and
 * their stems: a need is said in full, so "water" at its end is not the beginning of "Waterford". FTS5 is asked for one
 * word at a time, and what it finds is cached until a profile changes: people use the same words in ever new sentences. bm25
 * of several words is the sum of theirs, so nothing is lost. Source: sqlite.org/fts5.html, "The bm25() function".
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
    /** Puts profiles in, replacing those of the same ids, and takes others out. */
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
    /** A need as the search understands it: its place, and each word with all that it matches. */
    read: (need: string): Promise<Reading> =>
      readingOf(
        words,
        searchWords(need).map((word) => ({ ...word, prefix: false })),
        need,
      ),
    /** Ids of the profiles that have all of these, or any of them. */
    matching: (matches: readonly FtsMatch[], which: "all" | "any"): ReadonlySet<number> => {
      const [first, ...others] = matchesOf(matches);
      return others.reduce(
        (ids, other) => (which === "all" ? ids.intersection(other) : ids.union(other)),
        new Set(first?.keys()),
      );
    },
    /** bm25 of the profiles that have any of these; more is better, always above 0. */
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
