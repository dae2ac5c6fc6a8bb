import { createClient } from "@libsql/client";
import { allOf, anyOf, type SearchWord, wordMatch } from "#content/rules/search-query.ts";
import type { NonprofitRecord } from "#content/shapes/record.ts";
import type { CuratedPick } from "./curation.ts";
import { type Asked, recordsById } from "./records.ts";

/** A curated profile with what the ranking looks at. */
export type Candidate = {
  pick: CuratedPick;
  record: NonprofitRecord;
  donations: number;
  /** Milliseconds since 1970, null when no enrichment was ever applied. */
  enriched_at: number | null;
};

const picksMax = 5_000;
const picksPerQuery = 1_000;

/** The curated profiles of these picks, in their order; at most 5,000. Unknown ids are left out. */
export async function loadCandidates(
  asked: Asked,
  curated: readonly CuratedPick[],
): Promise<Candidate[]> {
  const picks = curated.slice(0, picksMax);
  const donations = await donationCounts(asked, picks);
  const candidates: Candidate[] = [];
  for (let at = 0; at < picks.length; at += picksPerQuery) {
    const batch = picks.slice(at, at + picksPerQuery);
    const byId = new Map(batch.map((pick) => [pick.nonprofit_id, pick]));
    for (const record of await recordsById(asked, [...byId.keys()])) {
      const pick = byId.get(record.id);
      if (pick === undefined) continue;
      const enriched_at = latestEnrichment(record);
      candidates.push({ pick, record, donations: donations.get(record.id) ?? 0, enriched_at });
    }
  }
  return candidates;
}

/** Recorded donations of each curated profile that has any. Index: donations_by_nonprofit. */
export async function donationCounts(
  asked: Asked,
  picks: readonly Pick<CuratedPick, "nonprofit_id">[],
): Promise<Map<number, number>> {
  const { rows } = await asked.execute({
    sql: `SELECT nonprofit_id, count(*) AS donations
          FROM donations
          WHERE nonprofit_id IN (SELECT value FROM json_each(?))
          GROUP BY nonprofit_id`,
    args: [JSON.stringify(picks.map(({ nonprofit_id }) => nonprofit_id))],
  });
  return new Map(rows.map((row) => [Number(row["nonprofit_id"]), Number(row["donations"])]));
}

/** Enrichment is what agents found and what an operator approved; a register or the organisation itself is none. */
function latestEnrichment({ provenance }: NonprofitRecord): number | null {
  const instants = Object.values(provenance)
    .filter(({ set_by }) => set_by === "consensus" || set_by === "operator")
    .map(({ applied_at }) => applied_at);
  return instants.length === 0 ? null : Math.max(...instants);
}

/** Full-text matching among the curated profiles alone. */
type CuratedIndex = {
  /** Ids of the profiles that have all of the words, or any of them. */
  matching(words: readonly SearchWord[], which: "all" | "any"): Promise<Set<number>>;
  /** bm25 of the profiles that have any of the words; more is better, always above 0. */
  strengths(words: readonly SearchWord[]): Promise<Map<number, number>>;
  close(): void;
};

/** All that is curated, in memory. */
export type Curation = { candidates: readonly Candidate[]; index: CuratedIndex };

/** Indexes the curated profiles in memory, as the whole directory is indexed: a few hundred take some milliseconds. */
export async function openCuratedIndex(candidates: readonly Candidate[]): Promise<CuratedIndex> {
  const memory = createClient({ url: ":memory:" });
  await memory.execute(`
    CREATE VIRTUAL TABLE curated USING fts5(
      name, tagline, mission, description, content = '', prefix = '2 3',
      tokenize = "porter unicode61 remove_diacritics 2"
    )`);
  const texts = candidates.map(({ record: r }) => [r.id, r.name, r.tagline, r.mission, r.description]); // prettier-ignore
  await memory.execute({
    sql: `INSERT INTO curated (rowid, name, tagline, mission, description)
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?)`,
    args: [JSON.stringify(texts)],
  });
  const find = async (match: string) => {
    const { rows } = await memory.execute({
      sql: `SELECT rowid AS id, -bm25(curated, 10.0, 5.0, 2.0, 1.0) AS strength
            FROM curated
            WHERE curated MATCH ?`,
      args: [match],
    });
    return new Map(rows.map((row) => [Number(row["id"]), Number(row["strength"])]));
  };
  const each = (words: readonly SearchWord[]) => words.map((word) => wordMatch(word, []));
  return {
    matching: async (words, which) =>
      new Set((await find((which === "all" ? allOf : anyOf)(each(words)))).keys()),
    strengths: (words) => find(anyOf(each(words))),
    close: () => memory.close(),
  };
}
