import type { Store } from "./open.ts";

/** What is counted: query:search, query:recommend, query:mcp, hit:llms_txt, hit:agents_md, hit:ai_plugin, hit:mcp. */
export type ActivityKind =
  | "query:search"
  | "query:recommend"
  | "query:mcp"
  | "hit:llms_txt"
  | "hit:agents_md"
  | "hit:ai_plugin"
  | "hit:mcp";

export type Activity = {
  /** Counts one; kept in memory until the next flush. */
  count(kind: ActivityKind): void;
  /** Writes what has been counted to the store. A failure keeps the counts for the next time, and throws. */
  flush(): Promise<void>;
};

const hourMs = 3_600_000;

/** Counters by hour without any personal data. The caller flushes, about every second and at shutdown. */
export function countActivity(store: Store, clock: () => Date): Activity {
  let pending = new Map<string, number>();
  const write = async (counts: ReadonlyMap<string, number>) =>
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
  return {
    count: (kind) => {
      const key = `${kind} ${Math.floor(clock().getTime() / hourMs) * hourMs}`;
      pending.set(key, (pending.get(key) ?? 0) + 1);
    },
    flush: async () => {
      if (pending.size === 0) return;
      const counts = pending;
      pending = new Map();
      try {
        await write(counts);
      } catch (error) {
        for (const [key, count] of counts) pending.set(key, (pending.get(key) ?? 0) + count);
        throw error;
      }
    },
  };
}
