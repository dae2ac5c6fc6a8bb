import type { Curated } from "#api/context.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import {
  type Candidate,
  consensusShare,
  type Curation,
  donationCounts,
  loadCandidates,
  withinLimit,
} from "#content/recommendation/candidate-store.ts";
import { openCuratedIndex } from "#content/recommendation/curated-index.ts";
import { type CuratedPick, curatedPicks, fileSlugs } from "#content/recommendation/pick-store.ts";
import type { Store } from "#content/store/open.ts";
import type { Watch } from "#content/feed/watch.ts";

/** Other processes' picks and donations are seen this late at most, and those that this one wrote: */
const lookAgainMs = 5_000;
const lookAgainAfterWriteMs = 1_000;
/** More changed profiles than this are read with all the others. */
const changedMax = 500;
const triesMax = 2;

/**
 * Keeps the recommended profiles and an index of their words; what changed is read again, and nothing else. Throws when
 * a sentence of the operator's file claims too much, naming the phrase: a service must not start with it.
 */
export function openCurated(store: Store, watch: Watch, phase: GovernancePhase): Curated {
  fileSlugs();
  const candidates = cacheCandidates(store, phase);
  let curation: Curation | null = null;
  let loading: Promise<Curation> | null = null;
  let lookedAtMs = -Infinity;
  let committedSeen = -1;
  /** Profiles to read again; null for all. */
  let changed: Set<number> | null = null;
  watch.listen((changes) => {
    if (changes === null || (changed?.size ?? 0) > changedMax) changed = null;
    for (const { nonprofit_id: id } of changes ?? []) {
      if (id !== null && candidates.holds(id)) changed?.add(id);
    }
  });

  const load = async (): Promise<Curation> => {
    lookedAtMs = performance.now();
    committedSeen = store.committed();
    try {
      return await candidates.read(() => {
        const toRead = changed;
        changed = new Set(); // From here on a change makes it read again.
        return toRead;
      });
    } catch (error) {
      changed = null;
      throw error;
    }
  };
  const isCurrent = () => {
    const freshMs = committedSeen === store.committed() ? lookAgainMs : lookAgainAfterWriteMs;
    return performance.now() - lookedAtMs < freshMs && changed?.size === 0;
  };
  return {
    current: async () => {
      if (!watch.isFresh()) await watch.refresh();
      // A reading under way may have begun before the newest change: then one more is needed.
      for (let tries = 0; curation === null || (tries < triesMax && !isCurrent()); tries++) {
        loading ??= load().finally(() => {
          loading = null;
        });
        curation = await loading;
      }
      return curation;
    },
    lookAgain: () => {
      lookedAtMs = -Infinity;
    },
  };
}

/** The candidates as they were last read, and an index of their words. */
function cacheCandidates(store: Store, phase: GovernancePhase) {
  const index = openCuratedIndex();
  let picksKnown = new Map<number, string>();
  let byId = new Map<number, Candidate>();
  let curation: Curation | null = null;
  return {
    /** Whether a nonprofit is among the picks. */
    holds: (id: number): boolean => picksKnown.has(id),
    /** Reads the picks and donations, and the profiles that are new or changed. The same object when all is as it was. */
    read: async (takeChanged: () => ReadonlySet<number> | null): Promise<Curation> => {
      const picks = withinLimit(await curatedPicks(store, { phase }));
      const before = picksKnown;
      picksKnown = new Map(picks.map((pick) => [pick.nonprofit_id, JSON.stringify(pick)]));
      const changed = takeChanged();
      const stale = picks.filter(
        ({ nonprofit_id: id }) =>
          changed === null || changed.has(id) || before.get(id) !== picksKnown.get(id),
      );
      const fresh = await loadCandidates(store, stale);
      const donations = await donationCounts(store, picks);
      const candidates = merged(byId, { picks, stale, fresh, donations });
      const gone = [...byId.keys()].filter((id) => !picksKnown.has(id));
      const away = [...gone, ...stale.map(({ nonprofit_id }) => nonprofit_id)];
      if (away.length > 0)
        index.update(
          fresh.map(({ record }) => record),
          away,
        );
      const isSame =
        candidates.length === byId.size &&
        candidates.every((one) => byId.get(one.record.id) === one);
      byId = new Map(candidates.map((one) => [one.record.id, one]));
      if (curation !== null && isSame) return curation;
      return (curation = { candidates, index, consensus_share: consensusShare(candidates) });
    },
  };
}

type Read = {
  picks: readonly CuratedPick[];
  stale: readonly CuratedPick[];
  fresh: readonly Candidate[];
  donations: ReadonlyMap<number, number>;
};

/** The candidates in the order of the picks; an object stays the same as long as nothing of it changed. */
function merged(known: ReadonlyMap<number, Candidate>, { picks, stale, fresh, donations }: Read) {
  const read = new Map(fresh.map((one) => [one.record.id, one]));
  const staleIds = new Set(stale.map(({ nonprofit_id }) => nonprofit_id));
  return picks.flatMap(({ nonprofit_id: id }) => {
    const one = staleIds.has(id) ? read.get(id) : known.get(id);
    if (one === undefined) return [];
    const count = donations.get(id) ?? 0;
    return count === one.donations ? one : { ...one, donations: count };
  });
}
