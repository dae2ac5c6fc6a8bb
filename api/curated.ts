import {
  type Curation,
  donationCounts,
  loadCandidates,
  openCuratedIndex,
} from "#content/store/candidates.ts";
import { curatedPicks } from "#content/store/curation.ts";
import type { Store } from "#content/store/open.ts";
import type { Watch } from "#content/store/watch.ts";

/** The curated profiles in memory. */
export type Curated = {
  /** What is curated now: a change of a curated profile is in it at once, picks and donations within 5 s. */
  current: () => Promise<Curation>;
};

const lookAgainMs = 5_000;
/** A recommendation under way may still use the index that was replaced. */
const closeAfterMs = 2_000;

type Loaded = Curation & { picks: string; lookedAtMs: number };

/** Keeps the curated profiles and an index of their words, and loads them again when one of them changed. */
export function openCurated(store: Store, watch: Watch): Curated {
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;
  let stale = true;
  let ids = new Set<number | null>();
  watch.listen((changes) => {
    if (changes === null || changes.some(({ nonprofit_id }) => ids.has(nonprofit_id))) stale = true;
  });

  async function load(): Promise<Loaded> {
    const picksNow = await curatedPicks(store.raw);
    const picks = JSON.stringify(picksNow);
    const lookedAtMs = performance.now();
    if (loaded !== null && !stale && loaded.picks === picks) {
      const donations = await donationCounts(store.raw, picksNow);
      const candidates = loaded.candidates.map((candidate) => ({
        ...candidate,
        donations: donations.get(candidate.record.id) ?? 0,
      }));
      return { ...loaded, candidates, lookedAtMs };
    }
    stale = false; // From here on a change makes it stale again.
    ids = new Set(picksNow.map(({ nonprofit_id }) => nonprofit_id));
    try {
      const candidates = await loadCandidates(store.raw, picksNow);
      const index = await openCuratedIndex(candidates);
      const replaced = loaded?.index;
      if (replaced !== undefined) setTimeout(() => replaced.close(), closeAfterMs).unref();
      return { candidates, index, picks, lookedAtMs };
    } catch (error) {
      stale = true;
      throw error;
    }
  }

  return {
    current: async () => {
      if (!watch.isFresh()) await watch.refresh();
      const isYoung = loaded !== null && performance.now() - loaded.lookedAtMs < lookAgainMs;
      if (loaded !== null && isYoung && !stale) return loaded;
      loading ??= load().finally(() => {
        loading = null;
      });
      loaded = await loading;
      return loaded;
    },
  };
}
