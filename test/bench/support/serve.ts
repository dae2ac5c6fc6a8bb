import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { openManifest } from "#site/bundle/manifest.ts";

const repository = join(import.meta.dirname, "../../..");
const startWaitMs = 60_000;
/** Ten times as many profiles take their time to build. */
const publishWaitMs = 1_800_000;

type ServeOptions = {
  /** The data folder. */
  folder: string;
  /** Of the sample; 0 for a folder that is filled already. */
  profiles: number;
  port: number;
  /** Further settings. */
  env?: Record<string, string>;
  /** Works on the store before the service starts. */
  prepare?: (store: Store) => Promise<void>;
  script?: string;
};

/** A process that serves a data folder, and the store in it. */
export type Served = Awaited<ReturnType<typeof serve>>;

/**
 * Serves a sample directory in a process of its own: the service alone, or what `script` starts. Requests are not limited,
 * and nothing but trouble is logged.
 */
export async function serve(options: ServeOptions) {
  const { folder, profiles, port, prepare, script = "scripts/service.ts" } = options;
  const databaseUrl = `file:${join(folder, "store.db")}`;
  const store = await openStore({ url: databaseUrl, synchronous: "NORMAL" });
  if (profiles > 0) await seedDirectory(store, { profiles, seedNumber: 1 });
  await prepare?.(store);
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const env: Record<string, string> = {
    ALMONER_DATA_DIR: folder,
    ALMONER_DATABASE_URL: databaseUrl,
    ALMONER_PORT: String(port),
    ALMONER_READS_PER_MINUTE: "0",
    ALMONER_LOG_LEVEL: "error",
    ...options.env,
  };
  const child = Bun.spawn([process.execPath, join(repository, script)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill("SIGTERM");
    await child.exited;
  };
  await until(
    startWaitMs,
    async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true,
  );
  const close = async () => {
    await stop();
    store.close();
  };
  return { url, pid: child.pid, store, env, stop, [Symbol.asyncDispose]: close };
}

/** The whole of a sample directory as an operator has it, publisher included, once all of it is published. */
export async function serveWhole(options: ServeOptions) {
  const served = await serve({ ...options, script: "scripts/start.ts" });
  const manifest = openManifest(join(options.folder, "bundle"));
  /** Waits until the publisher has published all there is. */
  const published = async () => {
    const { rows } = await served.store.raw.execute("SELECT max(sequence) AS n FROM changes");
    const newest = Number(rows[0]?.["n"] ?? 0);
    await until(publishWaitMs, () => manifest.state().slow_sequence >= newest);
  };
  await until(publishWaitMs, () => manifest.state().current_release > 0);
  await published();
  // Bringing all files of a first build onto the disk takes seconds, once in a directory's life.
  await until(publishWaitMs, () => manifest.state().durable_release > 0);
  return { ...served, manifest, published };
}

async function until(waitMs: number, met: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while (!(await met())) {
    if (performance.now() > deadlineMs) throw new Error("the directory was not ready in time");
    await Bun.sleep(20);
  }
}

/** The first column of what a query answers, as text. */
export async function column({ raw }: Store, sql: string, args: (string | number)[] = []) {
  const { rows } = await raw.execute({ sql, args });
  return rows.map((row) => String(row[0]));
}
