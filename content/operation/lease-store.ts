import { randomUUID } from "node:crypto";
import { and, eq, gt, ne, sql } from "drizzle-orm";
import type { Clock } from "#content/contract/base/time.ts";
import type { Store } from "#content/store/open.ts";
import { leases } from "#content/store/tables/operations.ts";

/**
 * Work that one process at a time does. A holder that died loses it `ms` after it renewed its lease, which it does after a
 * third of that.
 */
export function openLease(store: Store, clock: Clock, { name, ms }: { name: string; ms: number }) {
  const holder = randomUUID();
  let heldUntilMs = 0;
  let renewAtMs = 0;
  const isHeld = () => clock().getTime() < heldUntilMs;
  return {
    /** Whether this process may go on, as far as it knows. */
    isHeld,
    /** Takes the work, or keeps it: true as long as no one else holds it. Call it often: it asks the store when needed. */
    hold: async (): Promise<boolean> => {
      const nowMs = clock().getTime();
      if (nowMs < renewAtMs) return isHeld();
      const isHolder = await take(store, { name, holder, nowMs, untilMs: nowMs + ms });
      heldUntilMs = isHolder ? nowMs + ms : 0;
      renewAtMs = isHolder ? nowMs + ms / 3 : 0;
      return isHolder;
    },
    /** Gives the work back, so that another process need not wait. */
    leave: async (): Promise<void> => {
      if (!isHeld()) return;
      heldUntilMs = 0;
      const ownLease = and(eq(leases.name, name), eq(leases.holder, holder));
      await store.write((tx) => tx.db.delete(leases).where(ownLease).execute());
    },
  };
}

type LeaseClaim = { name: string; holder: string; nowMs: number; untilMs: number };

async function take(store: Store, { name, holder, nowMs, untilMs }: LeaseClaim): Promise<boolean> {
  const otherHolders = await store.db.$count(
    leases,
    and(eq(leases.name, name), ne(leases.holder, holder), gt(leases.until, nowMs)),
  );
  // Most looks of those who wait find it held, and need no write lock.
  if (otherHolders > 0) return false;
  return store.write(async (tx) => {
    const { rowsAffected } = await tx.db
      .insert(leases)
      .values({ name, holder, until: untilMs })
      .onConflictDoUpdate({
        target: leases.name,
        set: { holder, until: untilMs },
        setWhere: sql`${leases.holder} = ${holder} OR ${leases.until} <= ${nowMs}`,
      });
    return rowsAffected === 1;
  });
}
