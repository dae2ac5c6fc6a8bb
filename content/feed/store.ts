import { publicFields } from "#content/nonprofit/wire.ts";
import { type FeedEntry, feedEntriesMax } from "#content/contract/feed.ts";
import { isoTime } from "#content/contract/time.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";

/** Which changes a numbered file of the feed holds. */
export type FeedFileRange = { number: number; first_sequence: number; last_sequence: number };

export type FeedClosing = {
  /** Changes up to here are published everywhere. */
  after: number;
  /** The newest change that goes into a file now. */
  upTo: number;
  now: Date;
};

/**
 * Puts the changes that are in no feed file yet, up to `upTo`, into new ones, at most 1,000 to a file, and makes the
 * feed's epoch when there is none. Answers the numbers of all files with changes later than `after`, so that a
 * publication that was cut off after closing them finds them again. Calling it twice closes nothing twice.
 */
export async function closeFeedFiles(store: Store, closing: FeedClosing): Promise<number[]> {
  if (await isOpen(store, closing.upTo)) {
    await store.write((tx) => closeFiles(tx, closing));
  }
  const { rows } = await store.raw.execute({
    sql: "SELECT number FROM feed_files WHERE last_sequence > ? ORDER BY number",
    args: [closing.after],
  });
  return rows.map((row) => Number(row["number"]));
}

/** Whether there is anything to close: most looks find nothing and need no write lock. */
async function isOpen(store: Queryable, upTo: number): Promise<boolean> {
  const [epoch, last] = [await findEpoch(store), await newestFeedFile(store)];
  return epoch === null || (last?.last_sequence ?? 0) < upTo;
}

async function closeFiles(tx: WriteTransaction, { upTo, now }: FeedClosing): Promise<void> {
  await tx.raw.execute({
    sql: `INSERT INTO directory_facts (name, value, updated_at) VALUES ('feed_epoch', ?, ?)
          ON CONFLICT (name) DO NOTHING`,
    args: [crypto.randomUUID(), now.getTime()],
  });
  let last = await newestFeedFile(tx);
  while ((last?.last_sequence ?? 0) < upTo) {
    const { rows } = await tx.raw.execute({
      sql: `SELECT min(sequence) AS first, max(sequence) AS last
            FROM (SELECT sequence FROM changes WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?)`,
      args: [last?.last_sequence ?? 0, upTo, feedEntriesMax],
    });
    const [row] = rows;
    if (row === undefined || row["first"] === null) return;
    const next: FeedFileRange = {
      number: (last?.number ?? 0) + 1,
      first_sequence: Number(row["first"]),
      last_sequence: Number(row["last"]),
    };
    await tx.raw.execute({
      sql: "INSERT INTO feed_files (number, first_sequence, last_sequence, closed_at) VALUES (?, ?, ?, ?)",
      args: [next.number, next.first_sequence, next.last_sequence, now.getTime()],
    });
    last = next;
  }
}

/**
 * Begins a new epoch of the feed: the store is an older state of itself, and changes that readers know of are gone from
 * it. Numbers go on after `published`, the newest file readers saw, because caches keep files for ever: a file without
 * changes holds the place. Answers the epoch.
 */
export async function beginEpoch(
  store: Store,
  { published, now }: { published: number; now: Date },
): Promise<string> {
  const epoch = crypto.randomUUID();
  await store.write(async (tx) => {
    await tx.raw.execute({
      sql: "UPDATE directory_facts SET value = ?, updated_at = ? WHERE name = 'feed_epoch'",
      args: [epoch, now.getTime()],
    });
    const last = (await newestFeedFile(tx))?.last_sequence ?? 0;
    await tx.raw.execute({
      sql: `INSERT INTO feed_files (number, first_sequence, last_sequence, closed_at)
            SELECT ?1 + 1, ?2 + 1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM feed_files WHERE number > ?1)`,
      args: [published, last, now.getTime()],
    });
  });
  return epoch;
}

/** The feed's epoch, null before the first `closeFeedFiles`, which makes it. */
export async function findEpoch(store: Queryable): Promise<string | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT value FROM directory_facts WHERE name = 'feed_epoch'",
    args: [],
  });
  return rows[0] === undefined ? null : String(rows[0]["value"]);
}

/** The feed's epoch. Throws before the first `closeFeedFiles`, which makes it. */
export async function feedEpoch(store: Queryable): Promise<string> {
  const epoch = await findEpoch(store);
  if (epoch === null) throw new Error("the change feed has no epoch: close its files first");
  return epoch;
}

/** The newest feed file whose changes are all among those up to `sequence`; null for none. */
export async function newestFeedFile(
  store: Queryable,
  sequence = Number.MAX_SAFE_INTEGER,
): Promise<FeedFileRange | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT number, first_sequence, last_sequence FROM feed_files
          WHERE last_sequence <= ? ORDER BY number DESC LIMIT 1`,
    args: [sequence],
  });
  return (rows[0] ?? null) as FeedFileRange | null;
}

/** One feed file's range by its number. */
export async function feedFile(store: Queryable, number: number): Promise<FeedFileRange | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT number, first_sequence, last_sequence FROM feed_files WHERE number = ?",
    args: [number],
  });
  return (rows[0] ?? null) as FeedFileRange | null;
}

/** The changes of a feed file as the feed tells them, oldest first. Values are never told, only names of fields. */
export async function feedEntries(store: Queryable, range: FeedFileRange): Promise<FeedEntry[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT sequence, slug, kind, fields, changed_at FROM changes
          WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?`,
    args: [range.first_sequence, range.last_sequence, feedEntriesMax],
  });
  return rows.map((row) => ({
    sequence: Number(row["sequence"]),
    slug: row["slug"] === null ? null : String(row["slug"]),
    kind: row["kind"] as FeedEntry["kind"],
    fields: publicFields(JSON.parse(String(row["fields"])) as string[]),
    at: isoTime(Number(row["changed_at"])),
  }));
}
