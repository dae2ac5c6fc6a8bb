import { existsSync, linkSync, rmSync } from "node:fs";
import type { Config } from "#api/config.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { importTables, NotMovable } from "#content/store/move.ts";
import { openStore } from "#content/store/open.ts";
import { reasonOf, stopWith } from "#scripts/support/config.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { BadInput, readLines } from "./read-file.ts";

/**
 * Fills an empty store with what `export --all` wrote: all or nothing. Ends the process with what is wrong.
 */
export async function importAll(files: readonly string[], config: Config): Promise<number> {
  const [file] = files;
  if (file === undefined || files.length > 1) stopWith("Give one file: import all <file>", 2);
  if (!config.databaseUrl.startsWith("file:")) {
    stopWith("Everything is imported into a file: leave ALMONER_DATABASE_URL out for this.", 2);
  }
  const path = filePathOf(config.databaseUrl);
  // A new store gets its name with its rows: one without would be in the way of a restore. `upkeep` knows this ending.
  const draft = existsSync(path) ? null : `${path}.restoring-${process.pid}`;
  const url = draft === null ? config.databaseUrl : `file:${draft}`;
  const store = await openStore({ url, writeCacheMb: 128 });
  const close = () => {
    store.close();
    if (draft !== null)
      for (const end of ["", "-wal", "-shm"]) rmSync(draft + end, { force: true });
  };
  const progress = startProgress("Rows", 0);
  async function* lines(from: string) {
    for await (const { text } of readLines(from, () => {})) yield text;
  }
  try {
    const rows = await importTables(store, lines(file), progress.at);
    store.close();
    // Refuses where somebody else made one meanwhile.
    if (draft !== null) linkSync(draft, path);
    return rows;
  } catch (error) {
    const isKnown = error instanceof NotMovable || error instanceof BadInput;
    const why = isKnown ? `${error.message}.` : reasonOf(error, config.dataDir);
    close();
    return stopWith(`${file}: ${why}\nNothing was written.`);
  } finally {
    progress.end();
    close();
  }
}
