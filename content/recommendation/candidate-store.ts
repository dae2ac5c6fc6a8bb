import { and, count, sql } from "drizzle-orm";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CuratedIndex } from "./curated-index.ts";
import type { CuratedPick } from "./pick-store.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";

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

/** Recorded donations of each of these nonprofits that has any. Index: donations_by_nonprofit. */
export async function donationCounts(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const { nonprofit_id } = donations;
  const found = await store.db
    .select({ nonprofit_id, count: count() })
    .from(donations)
    .where(and(inValues(nonprofit_id, ids), sql.raw(countsHere)))
    .groupBy(nonprofit_id);
  return new Map(found.map((row) => [row.nonprofit_id, row.count]));
}

/** Enrichment is what agents found and what an operator approved; a register or the organisation itself is none. */
export function latestEnrichment({ provenance }: NonprofitRecord): number | null {
  const instants = Object.values(provenance)
    .filter(({ set_by }) => set_by === "consensus" || set_by === "operator")
    .map(({ applied_at }) => applied_at);
  return instants.length === 0 ? null : Math.max(...instants);
}
