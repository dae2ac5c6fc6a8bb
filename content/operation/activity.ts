import type { Counters } from "#content/contract/stats.ts";
import type { Store } from "#content/store/open.ts";
import { liveCounters, saveDirectoryFact } from "./stats.ts";

/** What is counted: calls of the queries, hits on the channels for agents, what agents sent, and refused requests. */
export type ActivityKind =
  | "query:search"
  | "query:recommend"
  | "query:mcp"
  | "hit:llms_txt"
  | "hit:agents_md"
  | "hit:ai_plugin"
  | "hit:mcp"
  | "enrich:submitted"
  | "enrich:applied"
  | `limited:${"enrich" | "onboard" | "donate" | "read" | "admin"}`;

export type Activity = {
  /** Counts one, or as many as given; kept in memory until the next flush. */
  count(kind: ActivityKind, by?: number): void;
  /** Writes what has been counted to the store. A failure keeps the counts for the next time, and throws. */
  flush(): Promise<void>;
  /** The counters as of now, with what is not flushed yet. The same object as long as nothing changed. */
  counters(): Promise<Counters>;
};

const hourMs = 3_600_000;
/** Counts of other processes are seen this late at most. */
const reloadAfterMs = 1_000;

/** Counters by hour without any personal data. The caller flushes, about every second and at shutdown. */
export function countActivity(store: Store, clock: () => Date): Activity {
  let pending = new Map<string, number>();
  let version = 0;
  let stored: { counters: Counters; committed: number; atMs: number } | null = null;
  let last: { version: number; stored: Counters; counters: Counters } | null = null;
  // Reading what is stored must not overlap with a flush, or counts would be missed or seen twice.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const isCurrent = (): boolean =>
    stored !== null &&
    stored.committed === store.committed() &&
    performance.now() - stored.atMs < reloadAfterMs;
  const reload = async () => {
    if (isCurrent()) return;
    const committed = store.committed();
    stored = {
      counters: await liveCounters(store, clock()),
      committed,
      atMs: performance.now(),
    };
  };
  return {
    count: (kind, by = 1) => {
      const key = `${kind} ${Math.floor(clock().getTime() / hourMs) * hourMs}`;
      pending.set(key, (pending.get(key) ?? 0) + by);
      version += 1;
    },
    flush: () =>
      inTurn(async () => {
        if (pending.size === 0) return;
        const counts = new Map(pending);
        await write(store, counts);
        // What was counted meanwhile stays for the next time.
        pending = new Map(
          [...pending].flatMap(([key, count]): [string, number][] => {
            const left = count - (counts.get(key) ?? 0);
            return left > 0 ? [[key, left]] : [];
          }),
        );
        version += 1;
        stored = null;
      }),
    counters: async () => {
      if (!isCurrent()) await inTurn(reload);
      // A flush may have begun since: its counts are pending still, or `stored` is gone and was read again.
      if (stored === null) await inTurn(reload);
      const known = (stored as unknown as { counters: Counters }).counters;
      if (last?.version === version && last.stored === known) return last.counters;
      last = { version, stored: known, counters: withPending(known, pending) };
      return last.counters;
    },
  };
}

const write = (store: Store, counts: ReadonlyMap<string, number>): Promise<void> =>
  store.write(async (tx) => {
    for (const [key, count] of counts) {
      const [kind = "", hour = ""] = key.split(" ");
      await tx.raw.execute({
        sql: `INSERT INTO activity_counts (kind, hour, count) VALUES (?, ?, ?)
              ON CONFLICT (kind, hour) DO UPDATE SET count = count + excluded.count`,
        args: [kind, Number(hour), count],
      });
    }
  });

function withPending(counters: Counters, pending: ReadonlyMap<string, number>): Counters {
  if (pending.size === 0) return counters;
  const sum = (fits: (kind: string) => boolean) =>
    [...pending].reduce(
      (all, [key, count]) => (fits(key.split(" ")[0] ?? "") ? all + count : all),
      0,
    );
  const queries = sum((kind) => kind.startsWith("query:"));
  const hits = (channel: string) => sum((kind) => kind === `hit:${channel}`);
  return {
    ...counters,
    total_queries: counters.total_queries + queries,
    queries_this_week: counters.queries_this_week + queries,
    queries: {
      llms_txt: counters.queries.llms_txt + hits("llms_txt"),
      agents_md: counters.queries.agents_md + hits("agents_md"),
      ai_plugin: counters.queries.ai_plugin + hits("ai_plugin"),
      mcp: counters.queries.mcp + hits("mcp"),
    },
  };
}

/**
 * Makes the live counters a fact of the directory, which the bundle shows. Called daily, so that the bundle stays a
 * function of the store. Does nothing when they are so already.
 */
export async function checkpointCounters(store: Store, now: Date): Promise<void> {
  const counters = await liveCounters(store, now);
  await store.write((tx) =>
    saveDirectoryFact(tx, { name: "counters", value: JSON.stringify(counters), now }),
  );
}
