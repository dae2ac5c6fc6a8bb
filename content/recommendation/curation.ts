import { and, countDistinct, gte, sql } from "drizzle-orm";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type CuratedPick, curatedPicks, fileSlugs } from "./pick-store.ts";
import { countsHere } from "#content/giving/store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";
import { Database } from "bun:sqlite";
import type { Location, WordsIndex } from "#content/find/index-store.ts";
import { type FtsMatch, searchWords } from "#content/find/query.ts";
import { type Reading, readingOf } from "#content/find/reading.ts";
import { indexWords } from "#content/nonprofit/filters.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import type { Watch } from "#content/feed/store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";

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

/** Enrichment is what agents found and what an operator approved; a register or the organisation itself is none. */
function latestEnrichment({ provenance }: NonprofitRecord): number | null {
  const instants = Object.values(provenance)
    .filter(({ set_by }) => set_by === "consensus" || set_by === "operator")
    .map(({ applied_at }) => applied_at);
  return instants.length === 0 ? null : Math.max(...instants);
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
  const removing = memory.query<null, [number]>("DELETE FROM curated WHERE rowid = ?");
  const adding = memory.query<null, (number | string | null)[]>(
    "INSERT INTO curated (rowid, name, tagline, mission, description, facets, pick) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const finding = memory.query<{ id: number; strength: number }, [string]>(
    `SELECT rowid AS id, -bm25(curated, 10.0, 5.0, 2.0, 1.0, 1.0, 5.0) AS strength
     FROM curated
     WHERE curated MATCH ?`,
  );
  const cached = weighedCache<IntentMatches>(cachedBytesMax, ({ size }) => matchBytes * size, {
    memoMethod: (match) => new Map(finding.all(match).map(({ id, strength }) => [id, strength])),
  });
  const each = (matches: readonly FtsMatch[]) => matches.map((match) => cached.memo(match));
  const places = new Map<number, Location>();
  const words: WordsIndex = {
    foremost: async (matches) =>
      each(matches).map((found) => places.get([...found.keys()][0] ?? 0) ?? null),
    counts: async (matches) => each(matches).map(({ size }) => size),
    completions: async () => [],
  };
  return {
    /** Puts profiles in, replacing those of the same ids, and takes others out. */
    update: (entries: readonly Pick<Candidate, "record" | "pick">[], gone: readonly number[]) => {
      cached.clear();
      memory.transaction(() => {
        for (const id of [...gone, ...entries.map(({ record }) => record.id)]) removing.run(id);
        for (const { record: r, pick } of entries) {
          const texts = [r.name, r.tagline, r.mission, r.description, indexWords(r)];
          adding.run(r.id, ...texts, textOf(pick));
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
      const [first, ...others] = each(matches);
      return others.reduce(
        (ids, other) => (which === "all" ? ids.intersection(other) : ids.union(other)),
        new Set(first?.keys()),
      );
    },
    /** bm25 of the profiles that have any of these; more is better, always above 0. */
    strengths: (matches: readonly FtsMatch[]): ReadonlyMap<number, number> => {
      const sums = new Map<number, number>();
      for (const found of each(matches)) {
        for (const [id, strength] of found) sums.set(id, (sums.get(id) ?? 0) + strength);
      }
      return sums;
    },
    close: () => memory.close(),
  };
}

const textOf = ({ recommended_for, why_recommended }: CuratedPick): string =>
  [...recommended_for, why_recommended].join(". ");

/** The recommended profiles in memory. */
export type CuratedPicks = {
  /** What is recommended now: a change of such a profile is in it at once, picks and donations within 5 s. */
  current: () => Promise<Curation>;
  /** Reads the picks again next time: this process changed them. */
  lookAgain: () => void;
};

/** Other processes' picks and donations are seen this late at most, and those that this one wrote: */
const lookAgainMs = 5_000;
const lookAgainAfterWriteMs = 1_000;
const triesMax = 2;
const picksMax = 5_000;

/**
 * Keeps the recommended profiles and an index of their words; what changed is read again, and nothing else. Throws when
 * a sentence of the operator's file claims too much, naming the phrase: a service must not start with it.
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
    const freshRecords = await recordsById(store, stale);
    const fresh = freshRecords.filter(({ status }) => status !== "withdrawn");
    const donors = await donorCounts(store, [...picked]);
    const away = [...new Set(records.keys()).difference(picked), ...stale];
    const before = madeOf;
    madeOf = JSON.stringify([picks, [...donors]]);
    if (curation !== null && away.length === 0 && madeOf === before) return curation;
    for (const id of away) records.delete(id);
    for (const record of fresh) records.set(record.id, record);
    const candidates = picks.flatMap((pick) => {
      const record = records.get(pick.nonprofit_id);
      if (record === undefined) return [];
      const enriched_at = latestEnrichment(record);
      return [{ pick, record, donors: donors.get(record.id) ?? 0, enriched_at }];
    });
    const isNew = new Set(fresh);
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
