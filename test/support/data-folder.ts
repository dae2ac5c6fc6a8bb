import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aFolder } from "./at-file-top.ts";
import { freePort, putCompiledSite, startService, untilAnswers } from "./processes.ts";
import { openBlankStore } from "#test/support/blank-store.ts";

export type DataFolder = Awaited<ReturnType<typeof aDataFolder>>;

/** A store with these nonprofits in a data folder of its own, where processes find it. `compiled`: with the compiled site. */
export async function aDataFolder(nonprofits: NonprofitRecord[] = [], { compiled = false } = {}) {
  const folder = aFolder();
  const dataDir = folder();
  if (compiled) await putCompiledSite(dataDir);
  const databaseUrl = `file:${folder("store.db")}`;
  const store = await openBlankStore(databaseUrl, { busyWaitMs: 10_000 });
  const saves = nonprofits.map((after) => ({ before: null, after }));
  const stored = await store.write((tx) =>
    saveNonprofits(tx, saves, { origin: "test", now: new Date() }),
  );
  const close = () => {
    store.close();
    folder.close();
  };
  return {
    dataDir,
    databaseUrl,
    store,
    /** Of the nonprofits, in their order. */
    slugs: stored.map(({ slug }) => slug),
    /** The rows that a statement answers. */
    rows: async (sql: string): Promise<Record<string, unknown>[]> =>
      (await store.raw.execute(sql)).rows.map((row) => ({ ...row })),
    close,
    [Symbol.dispose]: close,
  };
}

/** The service over a data folder in a process of its own, once it answers. */
export async function aRunningService(
  dataDir: string,
  env: Record<string, string> = {},
  stderr: "ignore" | "inherit" | "pipe" = "ignore",
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = { ALMONER_DATA_DIR: dataDir, ALMONER_PORT: String(port), ...env };
  const child = startService(settings, stderr);
  await untilAnswers(`${url}/healthz`, child);
  return {
    url,
    child,
    stop: async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
      child.kill(signal);
      await child.exited;
    },
  };
}
