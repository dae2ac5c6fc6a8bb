import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { type Manifest, openManifest } from "#site/bundle/manifest.ts";

/** A sample directory of its own, served by `start` in another process as an operator would have it. */
export type ServedDirectory = {
  dataDir: string;
  url: string;
  store: Store;
  manifest: Manifest;
  servicePid: number;
  env: Record<string, string>;
  /** Waits until both jobs have published all there is. */
  settled(): Promise<void>;
  stopServing(): Promise<void>;
  close(): Promise<void>;
};

const repository = join(import.meta.dirname, "../../..");
/** Ten times as many profiles take their time to build. */
const waitMaxMs = 1_800_000;

const settingsOf = (dataDir: string, port: number): Record<string, string> => ({
  ...(process.env as Record<string, string>),
  ALMONER_DATA_DIR: dataDir,
  ALMONER_PORT: String(port),
  ALMONER_READS_PER_MINUTE: "0",
  ALMONER_LOG_LEVEL: "warn",
});

/** Makes the directory below `folder` and starts to serve it; answers once the first release is complete. */
export async function serveSample(
  folder: string,
  profiles: number,
  port: number,
): Promise<ServedDirectory> {
  const dataDir = mkdtempSync(join(folder, "almoner-bench-"));
  const env = settingsOf(dataDir, port);
  const store = await openStore({
    url: `file:${join(dataDir, "store.db")}`,
    synchronous: "NORMAL",
  });
  await seedDirectory(store, { profiles, seedNumber: 1 });
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const child = Bun.spawn([process.execPath, join(repository, "scripts/start.ts")], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const manifest = openManifest(join(dataDir, "bundle"));
  const until = async (met: () => boolean) => {
    const deadlineMs = performance.now() + waitMaxMs;
    while (!met()) {
      if (performance.now() > deadlineMs) throw new Error("the directory did not settle in time");
      await Bun.sleep(20);
    }
  };
  const newest = async () =>
    Number((await store.raw.execute("SELECT max(sequence) AS n FROM changes")).rows[0]?.["n"] ?? 0);
  const settled = async () => {
    const sequence = await newest();
    await until(() => manifest.state().slow_sequence >= sequence);
  };
  const stopServing = async () => {
    child.kill("SIGTERM");
    await child.exited;
  };
  await until(() => manifest.state().current_release > 0);
  await settled();
  // Bringing all files of a first build onto the disk takes seconds, once in a directory's life.
  await until(() => manifest.state().durable_release > 0);
  return {
    dataDir,
    url: `http://127.0.0.1:${port}`,
    store,
    manifest,
    servicePid: child.pid,
    env,
    settled,
    stopServing,
    close: async () => {
      await stopServing();
      manifest.close();
      store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

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
 * Serves the store in `dataDir`, or a sample directory of this many profiles in a folder that `close` removes. Requests
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
