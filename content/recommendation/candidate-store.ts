import { and, countDistinct, gte, sql } from "drizzle-orm";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CuratedIndex } from "./curated-index.ts";
import type { CuratedPick } from "./pick-store.ts";
import { countsHere } from "#content/giving/store.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";

/** A recommended profile with what the ranking looks at. */
export type Candidate = {
  pick: CuratedPick;
  record: NonprofitRecord;
  /** Wallets that gave more than dust. */
  donors: number;
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

/** Less than this, 0.01 USDC, counts in totals and not in the ranking, where it would cost nothing to be many. */
export const dustBelow = 10_000;

/**
 * Wallets that gave to each of these nonprofits, where any did. One that gives often counts once, and what several wallets
 * gave in one transfer not at all. Index: donations_by_nonprofit.
 */
export async function donorCounts(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const { nonprofit_id, donor, amount_micro_usdc } = donations;
  const found = await store.db
    .select({ nonprofit_id, count: countDistinct(donor) })
    .from(donations)
    .where(and(inValues(nonprofit_id, ids), gte(amount_micro_usdc, dustBelow), sql.raw(countsHere)))
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
