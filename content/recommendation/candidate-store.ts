import { and, count, sql } from "drizzle-orm";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CuratedIndex } from "./curated-index.ts";
import type { CuratedPick } from "./pick-store.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";

/** A recommended profile with what the ranking looks at. */
export type Candidate = {
  pick: CuratedPick;
  record: NonprofitRecord;
  donations: number;
  /** Milliseconds since 1970, null when no enrichment was ever applied. */
  enriched_at: number | null;
};

/** All that is recommended, in memory. A new object whenever something of it changed. */
export type Curation = {
  candidates: readonly Candidate[];
  index: CuratedIndex;
  /** Candidates that agents' agreement promoted, divided by all: 0 to 1. */
  consensus_share: number;
};

const picksMax = 5_000;
const recordsPerQuery = 1_000;

/** What agreement promoted comes last: should there be too many, the operator's picks stay. */
export const withinLimit = (picks: readonly CuratedPick[]): readonly CuratedPick[] =>
  picks.length <= picksMax
    ? picks
    : picks
        .toSorted((a, b) => Number(a.origin === "consensus") - Number(b.origin === "consensus"))
        .slice(0, picksMax);

/** The profiles of these picks, in their order, without those that are unknown. */
export async function loadCandidates(
  store: Queryable,
  picks: readonly CuratedPick[],
): Promise<Candidate[]> {
  const given = await donationCounts(store, picks);
  const records = new Map<number, NonprofitRecord>();
  for (let at = 0; at < picks.length; at += recordsPerQuery) {
    const ids = picks.slice(at, at + recordsPerQuery).map(({ nonprofit_id }) => nonprofit_id);
    for (const record of await recordsById(store, ids)) records.set(record.id, record);
  }
  return picks.flatMap((pick) => {
    const record = records.get(pick.nonprofit_id);
    if (record === undefined || record.status === "withdrawn") return [];
    const enriched_at = latestEnrichment(record);
    return { pick, record, donations: given.get(record.id) ?? 0, enriched_at };
  });
}

/** Which part of the candidates agents' agreement promoted. */
export const consensusShare = (candidates: readonly Candidate[]): number =>
  candidates.filter(({ pick }) => pick.origin === "consensus").length /
  Math.max(1, candidates.length);

/** Recorded donations of each recommended profile that has any. Index: donations_by_nonprofit. */
export async function donationCounts(
  store: Queryable,
  picks: readonly Pick<CuratedPick, "nonprofit_id">[],
): Promise<Map<number, number>> {
  const ids = picks.map((pick) => pick.nonprofit_id);
  const { nonprofit_id } = donations;
  const found = await store.db
    .select({ nonprofit_id, count: count() })
    .from(donations)
    .where(and(inValues(nonprofit_id, ids), sql.raw(countsHere)))
    .groupBy(nonprofit_id);
  return new Map(found.map((row) => [row.nonprofit_id, row.count]));
}

/** Enrichment is what agents found and what an operator approved; a register or the organisation itself is none. */
function latestEnrichment({ provenance }: NonprofitRecord): number | null {
  const instants = Object.values(provenance)
    .filter(({ set_by }) => set_by === "consensus" || set_by === "operator")
    .map(({ applied_at }) => applied_at);
  return instants.length === 0 ? null : Math.max(...instants);
}
