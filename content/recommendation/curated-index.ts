import { Database } from "bun:sqlite";
import { LRUCache } from "lru-cache";
import { type SearchWord, wordMatch } from "#content/find/query.ts";
import { weighed } from "#content/runtime/cache-weight.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";

/** Full-text matching among the recommended profiles alone: in memory, and synchronous. */
export type CuratedIndex = ReturnType<typeof openCuratedIndex>;

type Found = ReadonlyMap<number, number>;
const cachedBytesMax = 16_000_000;
/** Of an id with its strength, in memory. */
const matchBytes = 40;

/**
 * An index made as that of the whole directory is, with the same weights, but of whole words and their stems: a need is
 * said in full, so "water" at its end is not the beginning of "Waterford". FTS5 is asked for one word at a time, and what
 * it finds is cached until a profile changes: people use the same words in ever new sentences. bm25 of several words is the
 * sum of theirs, so nothing is lost. Source: sqlite.org/fts5.html, "The bm25() function".
 */
export function openCuratedIndex() {
  const memory = new Database(":memory:");
  memory.run(`
    CREATE VIRTUAL TABLE curated USING fts5(
      name, tagline, mission, description,
      tokenize = "porter unicode61 remove_diacritics 2"
    )`);
  const removing = memory.query<null, [number]>("DELETE FROM curated WHERE rowid = ?");
  const adding = memory.query<null, (number | string | null)[]>(
    "INSERT INTO curated (rowid, name, tagline, mission, description) VALUES (?, ?, ?, ?, ?)",
  );
  const finding = memory.query<{ id: number; strength: number }, [string]>(
    `SELECT rowid AS id, -bm25(curated, 10.0, 5.0, 2.0, 1.0) AS strength
     FROM curated
     WHERE curated MATCH ?`,
  );
  const cached = new LRUCache<string, Found>({
    ...weighed<Found>(cachedBytesMax, ({ size }) => matchBytes * size),
    memoMethod: (match) => new Map(finding.all(match).map(({ id, strength }) => [id, strength])),
  });
  const each = (words: readonly SearchWord[]) =>
    words.map(({ forms }) => cached.memo(wordMatch({ forms, prefix: false }, [])));
  return {
    /** Puts profiles in, replacing those of the same ids, and takes others out. */
    update: (records: readonly NonprofitRecord[], gone: readonly number[]): void => {
      cached.clear();
      memory.transaction(() => {
        for (const id of [...gone, ...records.map((record) => record.id)]) removing.run(id);
        for (const r of records) adding.run(r.id, r.name, r.tagline, r.mission, r.description);
      })();
    },
    /** Ids of the profiles that have all of the words, or any of them. */
    matching: (words: readonly SearchWord[], which: "all" | "any"): ReadonlySet<number> => {
      const [first, ...others] = each(words);
      return others.reduce(
        (ids, found) => (which === "all" ? ids.intersection(found) : ids.union(found)),
        new Set(first?.keys()),
      );
    },
    /** bm25 of the profiles that have any of the words; more is better, always above 0. */
    strengths: (words: readonly SearchWord[]): ReadonlyMap<number, number> => {
      const sums = new Map<number, number>();
      for (const found of each(words)) {
        for (const [id, strength] of found) sums.set(id, (sums.get(id) ?? 0) + strength);
      }
      return sums;
    },
    close: () => memory.close(),
  };
}
