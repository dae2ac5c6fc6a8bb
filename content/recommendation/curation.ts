import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import {
  type CuratedIndex,
  type CuratedPick,
  curatedPicks,
  donorCounts,
  fileSlugs,
  openCuratedIndex,
  textOf,
} from "./pick-store.ts";
import type { Store } from "#content/store/open.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import type { Watch } from "#content/feed/store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";

/** A recommended profile with the data for its ranking. */
export type Candidate = {
  pick: CuratedPick;
  record: NonprofitRecord;
  /** Number of wallets that gave more than dust. */
  donors: number;
  /** Milliseconds since 1970; null when no enrichment was ever applied. */
  enriched_at: number | null;
};

/** All recommendations, in memory. A new object whenever any of it changes. */
export type Curation = {
  candidates: readonly Candidate[];
  index: CuratedIndex;
  /** The share of candidates that agents' agreement promoted, 0 to 1. */
  consensus_share: number;
};

/** Enrichment means values from agents or approved by an operator, not from a register or the organisation itself. */
function latestEnrichment({ provenance }: NonprofitRecord): number | null {
  const instants = Object.values(provenance)
    .filter(({ set_by }) => set_by === "consensus" || set_by === "operator")
    .map(({ applied_at }) => applied_at);
  return instants.length === 0 ? null : Math.max(...instants);
}

/** The recommended profiles in memory. */
export type CuratedPicks = {
  /** The current recommendations: changes of these profiles appear at once, picks and donations within 5 s. */
  current: () => Promise<Curation>;
  /** Reads the picks again next time, because this process changed them. */
  lookAgain: () => void;
};

/** The greatest delay until other processes' picks and donations are seen, and until this process's own are: */
const lookAgainMs = 5_000;
const lookAgainAfterWriteMs = 1_000;
const triesMax = 2;
const picksMax = 5_000;

/**
 * Keeps the recommended profiles and an index of their words, and reads again only what changed. Throws when a sentence in
 * the operator's file claims too much, naming the phrase: a service must not start with it.
 */
export function openCurated(store: Store, watch: Watch, phase: GovernancePhase): CuratedPicks {
  fileSlugs();
  const index = openCuratedIndex();
  const records = new Map<number, NonprofitRecord>();
  const pickTexts = new Map<number, string>();
  const isReworded = (pick: CuratedPick): boolean => {
    const before = pickTexts.get(pick.nonprofit_id);
    pickTexts.set(pick.nonprofit_id, textOf(pick));
    return before !== textOf(pick);
  };
  let curation: Curation | null = null;
  /** A key of the picks and donors it was built from. */
  let madeOf = "";
  let pickedIds: ReadonlySet<number> = new Set();
  /** Profiles to read again. */
  let changedIds = new Set<number>();
  let pendingLoad: Promise<Curation> | null = null;
  let lookedAtMs = -Infinity;
  let committedSeen = -1;
  watch.listen((changes) => {
    if (changes === null) changedIds = new Set(pickedIds);
    for (const { nonprofit_id: id } of changes ?? []) {
      if (id !== null && pickedIds.has(id)) changedIds.add(id);
    }
  });

  /** Reads the picks and donations, and new or changed profiles. Returns the same object when nothing changed. */
  const load = async (): Promise<Curation> => {
    lookedAtMs = performance.now();
    committedSeen = store.committed();
    const picks = withinLimit(await curatedPicks(store, { phase }));
    pickedIds = new Set(picks.map((pick) => pick.nonprofit_id));
    const stale = [...pickedIds].filter((id) => changedIds.has(id) || !records.has(id));
    changedIds = new Set(); // A change from here on causes another read.
    const freshRecords = await recordsById(store, stale);
    const listedRecords = freshRecords.filter(({ status }) => status !== "withdrawn");
    const donors = await donorCounts(store, [...pickedIds]);
    const away = [...new Set(records.keys()).difference(pickedIds), ...stale];
    const before = madeOf;
    madeOf = JSON.stringify([picks, [...donors]]);
    if (curation !== null && away.length === 0 && madeOf === before) return curation;
    for (const id of away) records.delete(id);
    for (const record of listedRecords) records.set(record.id, record);
    const candidates = picks.flatMap((pick) => {
      const record = records.get(pick.nonprofit_id);
      if (record === undefined) return [];
      const enriched_at = latestEnrichment(record);
      return [{ pick, record, donors: donors.get(record.id) ?? 0, enriched_at }];
    });
    const isNew = new Set(listedRecords);
    index.update(
      candidates.filter(({ record, pick }) => isNew.has(record) || isReworded(pick)),
      away,
    );
    const byConsensus = candidates.filter(({ pick }) => pick.origin === "consensus").length;
    const consensus_share = byConsensus / Math.max(1, candidates.length);
    return { candidates, index, consensus_share };
  };
  const loadAgain = async () => {
    try {
      return await load();
    } catch (error) {
      changedIds = new Set(pickedIds);
      throw error;
    } finally {
      pendingLoad = null;
    }
  };
  const isCurrent = () => {
    const freshMs = committedSeen === store.committed() ? lookAgainMs : lookAgainAfterWriteMs;
    return performance.now() - lookedAtMs < freshMs && changedIds.size === 0;
  };
  return {
    current: async () => {
      if (!watch.isFresh()) await watch.refresh();
      // A running read may have begun before the newest change; then another is needed.
      for (let tries = 0; curation === null || (tries < triesMax && !isCurrent()); tries++) {
        pendingLoad ??= loadAgain();
        curation = await pendingLoad;
      }
      return curation;
    },
    lookAgain: () => {
      lookedAtMs = -Infinity;
    },
  };
}

/** Picks promoted by agreement come last: if there are too many, the operator's picks stay. */
const withinLimit = (picks: readonly CuratedPick[]): readonly CuratedPick[] =>
  picks.length <= picksMax
    ? picks
    : picks
        .toSorted((a, b) => Number(a.origin === "consensus") - Number(b.origin === "consensus"))
        .slice(0, picksMax);
