import { join } from "node:path";
import register from "#content/editorial/packed-register/register.json";
import { systemClock } from "#content/contract/base/time.ts";
import { holdsSample, nonprofitCount } from "#content/operation/directory-facts-store.ts";
import { directoryFact, noteFact } from "#content/store/facts.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import type { Store } from "#content/store/open.ts";
import { runImport } from "#scripts/import/run-import.ts";
import { followProgress } from "#scripts/support/progress.ts";

const folder = join(import.meta.dirname, "../../content/editorial/packed-register");
const fact = "packed_register";

/**
 * Fills an empty store with the register that ships with the project, and completes an import that was interrupted. Throws
 * CannotStart for a store that holds a sample.
 */
export async function fillFromRegister(
  store: Store,
  { dataDir, tell }: { dataDir: string; tell: ((line: string) => void) | undefined },
): Promise<void> {
  if (await holdsSample(store)) {
    throw new CannotStart(
      `${dataDir} holds a sample of invented nonprofits, and real ones never stand beside them.`,
      "Name another folder with ALMONER_DATA_DIR, or leave the setting out.",
    );
  }
  const isBegun = (await directoryFact(store, fact)) === "begun";
  if (!isBegun && (await nonprofitCount(store)) > 0) return;
  const { area, as_of: asOf, file, format } = register;
  console.log(`Making a directory of the nonprofits of ${area}, as of ${asOf}, in ${dataDir}.`);
  const note = (value: string) =>
    store.write((tx) => noteFact(tx, { name: fact, value, now: systemClock() }));
  await note("begun");
  const progress = followProgress(tell);
  await runImport({
    store,
    dataDir,
    format,
    asOf,
    files: [join(folder, file)],
    fetched: null,
    skipBad: false,
    checkOnly: false,
    scope: null,
    allowManyWithdrawals: false,
    clock: systemClock,
    signal: new AbortController().signal,
    onProgress: progress.at,
    onCovered: () => {},
    onSkipped: () => {},
  });
  progress.end();
  await note("done");
  await store.emptyLog();
}
