import { randomUUID } from "node:crypto";
import { and, between, eq, ne, sql } from "drizzle-orm";
import { type Clock, hourMs } from "#content/contract/base/time.ts";
import type { Store } from "#content/store/open.ts";
import { leases } from "#content/store/tables/operations.ts";

/** By how much the clock of another machine may be ahead. */
const aheadMaxMs = hourMs;

/**
 * Work that only one process may do at a time. The holder renews its lease after a third of `ms`; if it dies, the lease ends
 * `ms` after the last renewal. A lease that lasts over an hour longer is of a clock that was set back since, and void.
 */
export function openLease(store: Store, clock: Clock, { name, ms }: { name: string; ms: number }) {
  const holder = randomUUID();
  let heldUntilMs = 0;
  let renewAtMs = 0;
  const isHeld = () => {
    const leftMs = heldUntilMs - clock().getTime();
    return leftMs > 0 && leftMs <= ms + aheadMaxMs;
  };
  return {
    /** Whether this process may go on, as far as it knows. */
    isHeld,
    /** Takes or keeps the lease: true while no one else holds it. Call it often; it rarely queries the store. */
    hold: async (): Promise<boolean> => {
      const nowMs = clock().getTime();
      if (isHeld() && nowMs < renewAtMs) return true;
      const isHolder = await take(store, { name, holder, nowMs, ms });
      heldUntilMs = isHolder ? nowMs + ms : 0;
      renewAtMs = isHolder ? nowMs + ms / 3 : 0;
      return isHolder;
    },
    /** Releases the lease, so that another process need not wait. */
    leave: async (): Promise<void> => {
      if (!isHeld()) return;
      heldUntilMs = 0;
      const ownLease = and(eq(leases.name, name), eq(leases.holder, holder));
      await store.write((tx) => tx.db.delete(leases).where(ownLease).execute());
    },
  };
}

type LeaseClaim = { name: string; holder: string; nowMs: number; ms: number };

async function take(store: Store, { name, holder, nowMs, ms }: LeaseClaim): Promise<boolean> {
  const untilMs = nowMs + ms;
  const isValid = between(leases.until, nowMs + 1, untilMs + aheadMaxMs);
  const otherHolders = await store.db.$count(
    leases,
    and(eq(leases.name, name), ne(leases.holder, holder), isValid),
  );
  // A waiting process mostly finds it held, so avoid the write lock.
  if (otherHolders > 0) return false;
  return store.write(async (tx) => {
    const { rowsAffected } = await tx.db
      .insert(leases)
      .values({ name, holder, until: untilMs })
      .onConflictDoUpdate({
        target: leases.name,
        set: { holder, until: untilMs },
        setWhere: sql`${leases.holder} = ${holder} OR NOT ${isValid}`,
      });
    return rowsAffected === 1;
  });
}
