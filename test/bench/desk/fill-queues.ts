import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "#content/store/open.ts";
import { column } from "../support/serve.ts";

const statements = join(import.meta.dirname, "queues.sql");

/** Puts this many things into every queue, spread over the profiles, and as many lines into the log. */
export async function fillQueues(store: Store, count: number): Promise<void> {
  const [newest] = await column(store, "SELECT max(id) FROM nonprofits");
  const profiles = Number(newest);
  if (profiles < count)
    throw new Error(`${count} of a kind need as many profiles, not ${profiles}`);
  // What waits for 180 days expires.
  const given = [count, profiles, Date.now() - 3_600_000];
  for (const sql of readFileSync(statements, "utf8").trim().split(/;$/m).filter(Boolean)) {
    const used = Math.max(...Array.from(sql.matchAll(/\?(\d)/g), ([, number]) => Number(number)));
    const args = given.slice(0, used);
    await store.write((tx) => tx.raw.execute({ sql, args }));
  }
  await store.raw.execute("ANALYZE").catch(() => undefined);
}
