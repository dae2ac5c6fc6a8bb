import Database from "libsql/promise";
import { z } from "zod";
import { isStoreDamage } from "./busy.ts";
import { notingDamage } from "./store-files.ts";

/** What a copy of a store holds: rows by table, and how far its changes and its feed go. */
export const CopyFacts = z.object({
  rows: z.record(z.string(), z.int()),
  newest_change: z.int(),
  feed_file: z.int(),
});
export type CopyFacts = z.infer<typeof CopyFacts>;

/**
 * Writes an embedded store, as it is at one moment, into a new file: compacted, without a log, and readable by its owner
 * alone where the process makes its files so. Others read and write meanwhile; their log is not emptied until it is done.
 * The copy is not synced: it is for reading, and commits of others would wait for the disk to take it.
 */
export async function copyStore(path: string, target: string): Promise<void> {
  const db = new Database(path, { timeout: 10_000 });
  try {
    await db.exec("PRAGMA synchronous = OFF");
    const copy = `VACUUM INTO '${target.replaceAll("'", "''")}'`;
    await notingDamage(path, () => db.exec(copy));
  } finally {
    // The last to close a store empties its log into it, and that must reach the disk.
    await db.exec("PRAGMA synchronous = FULL");
    db.close();
  }
}

/** Whatever SQLite finds wrong first in the pages of a store; null for nothing. That its indexes agree with their tables, which takes three times as long, is not asked. */
async function faultIn(db: Database): Promise<string | null> {
  const [verdict] = await (await db.prepare("PRAGMA quick_check(1)")).all();
  const fault = String((verdict as Record<string, unknown>)["quick_check"]);
  return fault === "ok" ? null : fault;
}

/**
 * Reads a store through, beside its users and on a thread of its own: 1 s for 41,000 profiles. Answers what is wrong with it, null for nothing.
 */
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

/**
 * Reads a copy through. Throws with what SQLite finds wrong in it. Copying has just built its indexes.
 */
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

/** A larger store is compacted only when someone asks for it: writes wait for it, about a second for 100 MB. */
const compactedBytesMax = 1_000_000_000;

/**
 * Gives back the room of deleted rows when they held a quarter of the file, or `always`, and empties the log where no
 * one reads it. Answers whether the file was compacted.
 */
export async function compactStore(
  path: string,
  { always }: { always: boolean },
): Promise<boolean> {
  // An emptied log waits for readers and keeps writers waiting meanwhile: rather not at all than for long.
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
/** Fewer commits than these wait for company, at most `waitMaxMs`. */
const commitsMin = 8;
const waitMaxMs = 5_000;

/**
 * Copies the log of an embedded store into its file as it grows, on a thread of its own: a checkpoint writes thousands
 * of pages and syncs twice, which would keep the commit that comes upon it, and this process's event loop, waiting for
 * tens of milliseconds. It holds up neither readers nor the writer. What fails here is done by the writer later, which
 * checkpoints when the log grows too long.
 */
export function checkpointApart(path: string) {
  const db = new Database(path, { timeout: 0 });
  let [commits, firstAtMs] = [0, 0];
  let [running, closed] = [false, false];
  let timer: ReturnType<typeof setTimeout> | null = null;

  const arm = () => {
    if (timer === null && !running && !closed) timer = setTimeout(() => void look(), everyMs);
    timer?.unref();
  };
  const look = async () => {
    timer = null;
    if (commits >= commitsMin || performance.now() - firstAtMs >= waitMaxMs) {
      [commits, running] = [0, true];
      // A full disk, or another checkpoint under way: there is another try after the next commits.
      const checkpoint = () => db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      await notingDamage(path, checkpoint).catch(() => undefined);
      running = false;
      if (closed) db.close();
    }
    if (commits > 0) arm();
  };
  return {
    /** Says that something was committed. */
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
