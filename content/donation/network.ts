import type { Store } from "#content/store/open.ts";

const factName = "donation_network";

/**
 * In SQL: whether a row of `donations` is of the chain on which the directory settles. A store that no service has
 * opened settles on none, and all of them count.
 */
export const countsHere = `network = coalesce((SELECT value FROM directory_facts WHERE name = '${factName}'), network)`;

/**
 * Says on which chain the directory settles (CAIP-2). What was given on another one, on a test network before it went
 * live for example, stays with its receipt, and counts nowhere from then on.
 */
export async function settleOn(store: Store, network: string, now: Date): Promise<void> {
  const { rows } = await store.raw.execute({
    sql: "SELECT 1 FROM directory_facts WHERE name = ? AND value = ?",
    args: [factName, network],
  });
  if (rows.length > 0) return;
  // No page shows this fact, so it is no change of the directory.
  await store.write((tx) =>
    tx.raw.execute({
      sql: `INSERT INTO directory_facts (name, value, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [factName, network, now.getTime()],
    }),
  );
}
