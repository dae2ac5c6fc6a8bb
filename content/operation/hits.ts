import type { ActivityKind } from "./activity.ts";
import type { Store } from "#content/store/open.ts";
import { directoryFact } from "./stats.ts";

/** Hits of one kind in one hour (its beginning, in milliseconds since 1970). */
export type HourHits = { kind: ActivityKind; hour: number; count: number };

/** How far each access log has been read: bytes (unpacked) by the digest of its first line. */
type ReadTo = Record<string, number>;

const factName = "hits_imported";
/** Older logs are forgotten: by then they are long deleted. */
const logsMax = 500;

/** Up to which byte the log with this first line has been counted; 0 for a new one. */
export async function countedTo(store: Store, log: string): Promise<number> {
  return (await readTo(store))[log] ?? 0;
}

/**
 * Adds the hits of an access log to the counters and remembers how far it was read, in one transaction. Answers false
 * and writes nothing when another run was quicker.
 */
export const saveHits = (
  store: Store,
  log: { id: string; from: number; to: number; now: Date },
  hits: readonly HourHits[],
): Promise<boolean> =>
  store.write(async (tx) => {
    const known = await readTo(tx);
    if ((known[log.id] ?? 0) !== log.from) return false;
    for (const { kind, hour, count } of hits) {
      await tx.raw.execute({
        sql: `INSERT INTO activity_counts (kind, hour, count) VALUES (?, ?, ?)
              ON CONFLICT (kind, hour) DO UPDATE SET count = count + excluded.count`,
        args: [kind, hour, count],
      });
    }
    const { [log.id]: _, ...others } = known;
    const kept = [...Object.entries(others), [log.id, log.to] as const].slice(-logsMax);
    // No page shows this fact, so it is no change of the directory.
    await tx.raw.execute({
      sql: `INSERT INTO directory_facts (name, value, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [factName, JSON.stringify(Object.fromEntries(kept)), log.now.getTime()],
    });
    return true;
  });

async function readTo(asked: Parameters<typeof directoryFact>[0]): Promise<ReadTo> {
  const stored = await directoryFact(asked, factName);
  return stored === null ? {} : (JSON.parse(stored) as ReadTo);
}
