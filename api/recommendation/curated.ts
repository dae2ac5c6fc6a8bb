import type { Curated } from "#api/context.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import type { Watch } from "#content/feed/watch.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import {
  type Curation,
  donorCounts,
  latestEnrichment,
} from "#content/recommendation/candidate-store.ts";
import { openCuratedIndex } from "#content/recommendation/curated-index.ts";
import { type CuratedPick, curatedPicks, fileSlugs } from "#content/recommendation/pick-store.ts";
import type { Store } from "#content/store/open.ts";

/** Other processes' picks and donations are seen this late at most, and those that this one wrote: */
const lookAgainMs = 5_000;
const lookAgainAfterWriteMs = 1_000;
const triesMax = 2;
const picksMax = 5_000;

/**
 * Keeps the recommended profiles and an index of their words; what changed is read again, and nothing else. Throws when
 * a sentence of the operator's file claims too much, naming the phrase: a service must not start with it.
 */
export function openCurated(store: Store, watch: Watch, phase: GovernancePhase): Curated {
  fileSlugs();
  const index = openCuratedIndex();
  const records = new Map<number, NonprofitRecord>();
  let curation: Curation | null = null;
  /** Picks and donors of which it was made. */
  let madeOf = "";
  let picked: ReadonlySet<number> = new Set();
  /** Profiles to read again. */
  let changed = new Set<number>();
  let loading: Promise<Curation> | null = null;
  let lookedAtMs = -Infinity;
  let committedSeen = -1;
  watch.listen((changes) => {
    if (changes === null) changed = new Set(picked);
    for (const { nonprofit_id: id } of changes ?? []) {
      if (id !== null && picked.has(id)) changed.add(id);
    }
  });

  /** Reads the picks and donations, and the profiles that are new or changed. The same object when all is as it was. */
  const load = async (): Promise<Curation> => {
    lookedAtMs = performance.now();
    committedSeen = store.committed();
    const picks = withinLimit(await curatedPicks(store, { phase }));
    picked = new Set(picks.map((pick) => pick.nonprofit_id));
    const stale = [...picked].filter((id) => changed.has(id) || !records.has(id));
    changed = new Set(); // From here on a change makes it read again.
    const found = await recordsById(store, stale);
    const fresh = found.filter(({ status }) => status !== "withdrawn");
    const donors = await donorCounts(store, [...picked]);
    const away = [...new Set(records.keys()).difference(picked), ...stale];
    const before = madeOf;
    madeOf = JSON.stringify([picks, [...donors]]);
    if (curation !== null && away.length === 0 && madeOf === before) return curation;
    for (const id of away) records.delete(id);
    for (const record of fresh) records.set(record.id, record);
    if (away.length > 0) index.update(fresh, away);
    const candidates = picks.flatMap((pick) => {
      const record = records.get(pick.nonprofit_id);
      if (record === undefined) return [];
      const enriched_at = latestEnrichment(record);
      return [{ pick, record, donors: donors.get(record.id) ?? 0, enriched_at }];
    });
    const byConsensus = candidates.filter(({ pick }) => pick.origin === "consensus").length;
    const consensus_share = byConsensus / Math.max(1, candidates.length);
    return { candidates, index, consensus_share };
  };
  const loadAgain = async () => {
    try {
      return await load();
    } catch (error) {
      changed = new Set(picked);
      throw error;
    } finally {
      loading = null;
    }
  };
  const isCurrent = () => {
    const freshMs = committedSeen === store.committed() ? lookAgainMs : lookAgainAfterWriteMs;
    return performance.now() - lookedAtMs < freshMs && changed.size === 0;
  };
  return {
    current: async () => {
      if (!watch.isFresh()) await watch.refresh();
      // A reading under way may have begun before the newest change: then one more is needed.
      for (let tries = 0; curation === null || (tries < triesMax && !isCurrent()); tries++) {
        loading ??= loadAgain();
        curation = await loading;
      }
      return curation;
    },
    lookAgain: () => {
      lookedAtMs = -Infinity;
    },
  };
}

/** What agreement promoted comes last: should there be too many, the operator's picks stay. */
const withinLimit = (picks: readonly CuratedPick[]): readonly CuratedPick[] =>
  picks.length <= picksMax
    ? picks
    : picks
        .toSorted((a, b) => Number(a.origin === "consensus") - Number(b.origin === "consensus"))
        .slice(0, picksMax);
