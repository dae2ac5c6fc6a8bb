import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";

/** The service alone (api/main.ts) in a process of its own, on a store that stands in `dataDir`. */
export type ServedService = {
  url: string;
  pid: number;
  store: Store;
  close(): Promise<void>;
};

const main = join(import.meta.dirname, "../../../api/main.ts");
const startWaitMaxMs = 60_000;

/**
 * Serves the store in `dataDir`, or a sample directory of so many profiles in a folder that `close` removes. Requests
 * are not limited and nothing is logged.
 */
export async function serveService({
  dataDir,
  profiles,
  port,
  prepare,
  env = {},
}: {
  dataDir?: string | undefined;
  profiles: number;
  port: number;
  /** Works on the store before the service starts. */
  prepare?: (store: Store) => Promise<void>;
  /** Further settings. */
  env?: Record<string, string>;
}): Promise<ServedService> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "almoner-bench-"));
  const databaseUrl = `file:${join(folder, "store.db")}`;
  const store = await openStore({ url: databaseUrl, synchronous: "NORMAL" });
  if (dataDir === undefined) await seedDirectory(store, { profiles, seedNumber: 1 });
  await prepare?.(store);
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const child = Bun.spawn([process.execPath, main], {
    env: {
      ...(process.env as Record<string, string>),
      ALMONER_DATA_DIR: folder,
      ALMONER_DATABASE_URL: databaseUrl,
      ALMONER_PORT: String(port),
      ALMONER_READS_PER_MINUTE: "0",
      ALMONER_LOG_LEVEL: "warn",
      ...env,
    },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const url = `http://127.0.0.1:${port}`;
  const deadlineMs = performance.now() + startWaitMaxMs;
  while (!(await answers(`${url}/healthz`))) {
    if (performance.now() > deadlineMs) throw new Error("the service did not start in time");
    await Bun.sleep(50);
  }
  return {
    url,
    pid: child.pid,
    store,
    close: async () => {
      child.kill("SIGTERM");
      await child.exited;
      store.close();
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
