import { closeSync, openSync } from "node:fs";
import { openPool } from "#api/search/pool.ts";
import { unfiltered } from "#content/contract/search.ts";

// A process that searches while no more files can be opened, and again when they can. It prints both outcomes.
const pool = openPool({ url: "file:/nowhere/at/all/store.db", threads: 1 });
const ask = async () => pool.search({ ...unfiltered, q: "lantern", limit: 1, offset: 0 });
const outcome = () => ask().catch((error: Error) => error.message);
const opened: number[] = [];
try {
  for (;;) opened.push(openSync("/dev/null", "r"));
} catch {
  // No more can be opened.
}
const without = await outcome();
for (const descriptor of opened) closeSync(descriptor);
process.stdout.write(JSON.stringify([without, await outcome()]));
await pool.close();
