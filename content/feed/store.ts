import { asc, between, desc, eq, getTableColumns, gt, lte } from "drizzle-orm";
import { z } from "zod";
import { isoTime } from "#content/contract/base/time.ts";
import { type FeedEntry, feedEntriesMax } from "#content/contract/feed.ts";
import {
  nextChanges,
  type Change,
  changesAfter,
  newestSequence,
} from "#content/nonprofit/changes-store.ts";
import { publicFields } from "#content/nonprofit/wire.ts";
import { directoryFact, jsonFact, noteFact } from "#content/store/facts.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { changes, feedFiles } from "#content/store/tables/publishing.ts";
import { KeySet, type PublicKey, publicKeysMax } from "./signing-keys.ts";
import { valuesOf } from "#content/store/query.ts";

const { closed_at: _, ...rangeColumns } = getTableColumns(feedFiles);
/** The changes in a numbered file of the feed. */
export type FeedFileRange = Omit<typeof feedFiles.$inferSelect, "closed_at">;

const epochFact = "feed_epoch";

export type FeedClosing = {
  /** Changes up to this one are published everywhere. */
  after: number;
  /** The newest change to put into a file now. */
  upTo: number;
  now: Date;
};

/**
 * Puts changes that are in no feed file yet, up to `upTo`, into new files of at most 1,000, and creates the feed's epoch if
 * there is none. Returns the numbers of all files with changes after `after`, so that a publication that was interrupted
 * after closing them finds them again. Safe to repeat.
 */
export async function closeFeedFiles(store: Store, closing: FeedClosing): Promise<number[]> {
  if (await isOpen(store, closing.upTo)) {
    await store.write((tx) => closeFiles(tx, closing));
  }
  const { number, last_sequence } = feedFiles;
  return valuesOf(store, number, gt(last_sequence, closing.after), { by: number });
}

/** Whether there is anything to close; most calls find nothing and need no write lock. */
async function isOpen(store: Queryable, upTo: number): Promise<boolean> {
  const epoch = await findEpoch(store);
  const last = await newestFeedFile(store);
  return epoch === null || (last?.last_sequence ?? 0) < upTo;
}

async function closeFiles(tx: WriteTransaction, { upTo, now }: FeedClosing): Promise<void> {
  if ((await findEpoch(tx)) === null) {
    await noteFact(tx, { name: epochFact, value: crypto.randomUUID(), now });
  }
  let last = await newestFeedFile(tx);
  while ((last?.last_sequence ?? 0) < upTo) {
    const after = last?.last_sequence ?? 0;
    const range = await nextChanges(tx, { after, upTo, limit: feedEntriesMax });
    if (range === null) return;
    const number = (last?.number ?? 0) + 1;
    const next = { number, first_sequence: range.first, last_sequence: range.last };
    await tx.db.insert(feedFiles).values({ ...next, closed_at: now.getTime() });
    last = next;
  }
}

/**
 * Begins a new epoch of the feed, because the store is not the one that readers saw, or has another past. All changes are
 * closed again in files numbered after `published`, the newest file that readers saw, because caches keep files forever;
 * without changes, an empty file takes that place. Returns the epoch.
 */
export async function beginEpoch(
  store: Store,
  { published, now }: { published: number; now: Date },
): Promise<string> {
  const value = crypto.randomUUID();
  await store.write(async (tx) => {
    await noteFact(tx, { name: epochFact, value, now });
    const ownNumber = (await newestFeedFile(tx))?.number ?? 0;
    await tx.db.delete(feedFiles);
    const number = Math.max(published, ownNumber) + 1;
    const empty = { number, first_sequence: 1, last_sequence: 0 };
    await tx.db.insert(feedFiles).values({ ...empty, closed_at: now.getTime() });
  });
  return value;
}

const issueFact = "signed_list";
/** An unchanged list is issued again after this long; it expires some days later. */
export const renewListAfterMs = 24 * 3_600_000;

const StoredIssue = z.object({ digest: z.string(), sequence: z.int(), issued_at: z.int() });
export type StoredIssue = z.infer<typeof StoredIssue>;

/**
 * The number and time (milliseconds since 1970) of the list with this content: the existing ones while it is the newest list
 * and younger than a day, else new ones. They are stored, so that a rebuilt bundle has them too. The number is the time in
 * milliseconds or higher, so that it keeps growing when an older store is restored.
 */
export async function issueList(
  store: Store,
  { digest, now }: { digest: string; now: Date },
): Promise<StoredIssue> {
  const atMs = now.getTime();
  return store.write(async (tx) => {
    const last = await findIssue(tx);
    const ageMs = atMs - (last?.issued_at ?? 0);
    if (last?.digest === digest && ageMs >= 0 && ageMs < renewListAfterMs) return last;
    const issue = { digest, sequence: Math.max((last?.sequence ?? 0) + 1, atMs), issued_at: atMs };
    await noteFact(tx, { name: issueFact, value: JSON.stringify(issue), now });
    return issue;
  });
}

const keysFact = "signing_keys";

/** The directory's public keys, the current one first; none before it first signs. */
export const signingKeys = async (store: Queryable): Promise<PublicKey[]> =>
  (await jsonFact(store, keysFact, KeySet))?.keys ?? [];

/** Stores the directory's keys, the current one first; of more than 16 the oldest are dropped. */
export async function noteSigningKeys(
  tx: WriteTransaction,
  keys: readonly PublicKey[],
  now: Date,
): Promise<void> {
  const keySet: KeySet = { keys: keys.slice(0, publicKeysMax) };
  await noteFact(tx, { name: keysFact, value: JSON.stringify(keySet), now });
}

/** Whether the directory has ever published a signed list, even before its keys were stored. */
export const hasSigned = async (store: Queryable): Promise<boolean> =>
  (await findIssue(store)) !== null;

const findIssue = (store: Queryable): Promise<StoredIssue | null> =>
  jsonFact(store, issueFact, StoredIssue);

/** The feed's epoch; null before the first `closeFeedFiles`, which creates it. */
export const findEpoch = (store: Queryable): Promise<string | null> =>
  directoryFact(store, epochFact);

/** The feed's epoch. Throws before the first `closeFeedFiles`, which creates it. */
export async function feedEpoch(store: Queryable): Promise<string> {
  const epoch = await findEpoch(store);
  if (epoch === null) throw new Error("the change feed has no epoch: close its files first");
  return epoch;
}

/** The newest feed file whose changes are all up to `sequence`; null if there is none. */
export async function newestFeedFile(
  store: Queryable,
  sequence = Number.MAX_SAFE_INTEGER,
): Promise<FeedFileRange | null> {
  const [newest] = await store.db
    .select(rangeColumns)
    .from(feedFiles)
    .where(lte(feedFiles.last_sequence, sequence))
    .orderBy(desc(feedFiles.number))
    .limit(1);
  return newest ?? null;
}

/** The numbers of all feed files, ascending, with gaps where a new epoch began. */
export const feedFileNumbers = (store: Queryable): Promise<number[]> =>
  valuesOf(store, feedFiles.number, undefined, { by: feedFiles.number });

export async function feedFile(store: Queryable, number: number): Promise<FeedFileRange | null> {
  const [file] = await store.db
    .select(rangeColumns)
    .from(feedFiles)
    .where(eq(feedFiles.number, number));
  return file ?? null;
}

/** The changes in a feed file in public form, oldest first: only names of fields, never values. */
export async function feedEntries(store: Queryable, range: FeedFileRange): Promise<FeedEntry[]> {
  const { sequence, slug, kind, fields, changed_at } = changes;
  const rows = await store.db
    .select({ sequence, slug, kind, fields, changed_at })
    .from(changes)
    .where(between(sequence, range.first_sequence, range.last_sequence))
    .orderBy(asc(sequence))
    .limit(feedEntriesMax);
  return rows.map(({ changed_at: at, ...change }) => ({
    ...change,
    fields: publicFields(change.fields),
    at: isoTime(at),
  }));
}

/** Reports every change of public data, by any process. */
export type Watch = ReturnType<typeof watchChanges>;
type Listener = (changes: readonly Change[] | null) => void;

const changesToldMax = 500;

/**
 * Watches `changes`. Writes of this handle are seen at the next look, those of other processes within `pollMs` (20 for a
 * file, 200 for a server, where each look is a request).
 */
export function watchChanges(store: Store, pollMs = store.embedded ? 20 : 200) {
  const listeners: Listener[] = [];
  let sequence = -1;
  let committedSeen = -1;
  let lookedAtMs = -Infinity;
  let looking: Promise<void> | null = null;
  const look = async () => {
    const committed = store.committed();
    const startedAtMs = performance.now();
    if (sequence === -1) sequence = await newestSequence(store);
    else {
      const newChanges = await changesAfter(store, sequence, changesToldMax + 1);
      const tooMany = newChanges.length > changesToldMax;
      sequence = tooMany ? await newestSequence(store) : (newChanges.at(-1)?.sequence ?? sequence);
      if (newChanges.length > 0)
        for (const listener of listeners) listener(tooMany ? null : newChanges);
    }
    committedSeen = committed;
    lookedAtMs = startedAtMs;
  };
  const isFresh = () =>
    committedSeen === store.committed() && performance.now() - lookedAtMs < pollMs;
  return {
    /** The newest change seen. */
    sequence: (): number => sequence,
    /** Whether everything that this process wrote, and others until a moment ago, has been seen. */
    isFresh,
    /** Reads new changes and tells the listeners before it returns, even if it has just looked but not reached `atLeast`. */
    refresh: async (atLeast = -1): Promise<void> => {
      // A running look may have begun before the newest write; then another is needed.
      await looking?.catch(() => undefined);
      if (isFresh() && sequence >= atLeast) return;
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
    },
    /** Calls `listener` with new changes, oldest first, or with null if there are too many. */
    listen: (listener: Listener): void => {
      listeners.push(listener);
    },
  };
}
