import { randomUUID } from "node:crypto";
import type { Clock } from "#content/contract/time.ts";
import type { Store } from "#content/store/open.ts";

/** Work that one process at a time does. */
export type Lease = {
  /** Takes the work, or keeps it: true as long as nobody else holds it. Call it often: it asks the store when needed. */
  hold(): Promise<boolean>;
  /** Whether this process may go on, as far as it knows. */
  isHeld(): boolean;
  /** Gives the work back, so that another process need not wait. */
  leave(): Promise<void>;
};

/** A holder that died loses the work `ms` after it renewed its lease, which it does after a third of that. */
export function openLease(
  store: Store,
  clock: Clock,
  { name, ms }: { name: string; ms: number },
): Lease {
  const holder = randomUUID();
  let heldUntilMs = 0;
  let renewAtMs = 0;
  const isHeld = () => clock().getTime() < heldUntilMs;
  return {
    isHeld,
    hold: async () => {
      const nowMs = clock().getTime();
      if (nowMs < renewAtMs) return isHeld();
      const held = await take(store, { name, holder, nowMs, untilMs: nowMs + ms });
      heldUntilMs = held ? nowMs + ms : 0;
      renewAtMs = held ? nowMs + ms / 3 : 0;
      return held;
    },
    leave: async () => {
      if (!isHeld()) return;
      heldUntilMs = 0;
      const statement = "DELETE FROM leases WHERE name = ? AND holder = ?";
      await store.write((tx) => tx.raw.execute({ sql: statement, args: [name, holder] }));
    },
  };
}

type Taking = { name: string; holder: string; nowMs: number; untilMs: number };

async function take(store: Store, { name, holder, nowMs, untilMs }: Taking): Promise<boolean> {
  const others = await store.raw.execute({
    sql: "SELECT 1 FROM leases WHERE name = ? AND holder <> ? AND until > ?",
    args: [name, holder, nowMs],
  });
  // Most looks of those who wait find it held, and need no write lock.
  if (others.rows.length > 0) return false;
  return store.write(async (tx) => {
    const { rowsAffected } = await tx.raw.execute({
      sql: `INSERT INTO leases (name, holder, until) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
            WHERE holder = ?2 OR until <= ?4`,
      args: [name, holder, untilMs, nowMs],
    });
    return rowsAffected === 1;
  });
}
