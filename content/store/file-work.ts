import Database from "libsql/promise";
import { z } from "zod";
import { isStoreDamage } from "./busy.ts";
import { notingDamage } from "./store-files.ts";

/** The content of a store's copy: rows by table, and its newest change and feed file. */
export const CopyFacts = z.object({
  rows: z.record(z.string(), z.int()),
  newest_change: z.int(),
  feed_file: z.int(),
});
export type CopyFacts = z.infer<typeof CopyFacts>;

/**
 * Copies an embedded store, as it is at one moment, into a new compacted file without a log; the file's mode follows the
 * process's umask. Others can read and write meanwhile, but their log is not emptied until the copy is done. The copy is for
 * reading and not synced: syncing would make commits of others wait for the disk.
 */
export async function copyStore(path: string, target: string): Promise<void> {
  const db = new Database(path, { timeout: 10_000 });
  try {
    await db.exec("PRAGMA synchronous = OFF");
    const copy = `VACUUM INTO '${target.replaceAll("'", "''")}'`;
    await notingDamage(path, () => db.exec(copy));
  } finally {
    // The last connection to close empties the log into the store, and that must reach the disk.
    await db.exec("PRAGMA synchronous = FULL");
    db.close();
  }
}

/**
 * The first fault that SQLite finds in the pages of a store; null if there is none. Checking indexes against tables would
 * take three times as long and is left out.
 */
async function faultIn(db: Database): Promise<string | null> {
  const [verdict] = await (await db.prepare("PRAGMA quick_check(1)")).all();
  const fault = String((verdict as Record<string, unknown>)["quick_check"]);
  return fault === "ok" ? null : fault;
}

/** Checks a store on a thread of its own while others use it: 1 s for 41,000 profiles. Returns what is wrong, or null. */
export async function checkStore(path: string): Promise<string | null> {
  const db = new Database(path, { timeout: 10_000 });
  try {
    return await faultIn(db);
  } catch (error) {
    if (isStoreDamage(error)) return String(error);
    throw error;
  } finally {
    db.close();
  }
}

/** Checks a copy; throws if SQLite finds a fault. Its indexes need no check, because copying has just built them. */
export async function checkCopy(path: string): Promise<CopyFacts> {
  const db = new Database(path, { timeout: 10_000 });
  const all = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await db.prepare(sql)).all() as Record<string, unknown>[];
  const number = async (sql: string) => Number((await all(sql))[0]?.["n"] ?? 0);
  try {
    const fault = await faultIn(db);
    if (fault !== null) throw new Error(`${path} is damaged: ${fault}`);
    const tables = await all("SELECT name FROM pragma_table_list WHERE type = 'table'");
    const rows: Record<string, number> = {};
    for (const { name } of tables) {
      if (!String(name).startsWith("sqlite_")) {
        rows[String(name)] = await number(`SELECT count(*) AS n FROM "${String(name)}"`);
      }
    }
    return {
      rows,
      newest_change: await number("SELECT max(sequence) AS n FROM changes"),
      feed_file: await number("SELECT max(number) AS n FROM feed_files"),
    };
  } finally {
    db.close();
  }
}

/** A larger store is compacted only on request: writes wait for it, about a second per 100 MB. */
const compactedBytesMax = 1_000_000_000;

/**
 * Compacts the file if deleted rows held a quarter of it, or if `always`, and empties the log if no one reads it. Returns
 * whether the file was compacted.
 */
export async function compactStore(
  path: string,
  { always }: { always: boolean },
): Promise<boolean> {
  // Emptying the log waits for readers and blocks writers meanwhile, so give up after a short wait.
  const db = new Database(path, { timeout: 200 });
  const number = async (pragma: string): Promise<number> =>
    Number(Object.values((await (await db.prepare(`PRAGMA ${pragma}`)).get()) ?? {})[0]);
  try {
    const pages = await number("page_count");
    const isSmall = pages * (await number("page_size")) < compactedBytesMax;
    const isHollow = isSmall && (await number("freelist_count")) > pages / 4;
    await notingDamage(path, async () => {
      if (always || isHollow) await db.exec("VACUUM");
      await db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    });
    return always || isHollow;
  } finally {
    db.close();
  }
}

const everyMs = 200;
/** A checkpoint waits for this many commits, or at most `waitMaxMs`. */
const commitsMin = 8;
const waitMaxMs = 5_000;

/**
 * Copies the log of an embedded store into its file as it grows, on a thread of its own. A checkpoint writes thousands of
 * pages and syncs twice; in line, it would keep a commit and the event loop waiting for tens of milliseconds. It blocks
 * neither readers nor the writer. If it fails, the writer checkpoints when the log grows too long.
 */
export function checkpointApart(path: string) {
  const db = new Database(path, { timeout: 0 });
  let commits = 0;
  let firstAtMs = 0;
  let running = false;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  const arm = () => {
    if (timer === null && !running && !closed) timer = setTimeout(() => void look(), everyMs);
    timer?.unref();
  };
  const look = async () => {
    timer = null;
    if (commits >= commitsMin || performance.now() - firstAtMs >= waitMaxMs) {
      [commits, running] = [0, true];
      // A full disk, or another checkpoint is running: try again after the next commits.
      const checkpoint = () => db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      await notingDamage(path, checkpoint).catch(() => undefined);
      running = false;
      if (closed) db.close();
    }
    if (commits > 0) arm();
  };
  return {
    /** Reports a commit. */
    committed: (): void => {
      if (commits === 0) firstAtMs = performance.now();
      commits += 1;
      arm();
    },
    close: (): void => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      if (!running) db.close();
    },
  };
}
