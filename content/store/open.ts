import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  type Client,
  createClient,
  type InStatement,
  type InValue,
  type ResultSet,
  type Row,
  type Transaction,
} from "@libsql/client";
import { drizzle, type LibSQLDatabase } from "drizzle-orm/libsql";
import { closeToOthers, privateFile } from "#content/runtime/files.ts";
import { CannotStart, explainStart } from "#content/runtime/start-error.ts";
import { fetchWithin, retryWhileBusy, StoreBusy } from "./busy.ts";
import { filePathOf, openEmbeddedClient } from "./embedded-client.ts";
import { forgetDamage, isDamageNoted, noteDamage, storeFiles } from "./store-files.ts";
import { checkpointApart, checkStore } from "./file-work.ts";
import { takeFile } from "./fill.ts";
import { migrateAmongOthers, migrationsAlone, refuseOtherTables } from "./upgrade.ts";

type Db = LibSQLDatabase;

/** A store or a transaction to read from: `db` takes queries in drizzle's words, `raw` those of hot paths in SQL. */
export type Queryable = {
  readonly db: Pick<Db, "select" | "selectDistinct" | "$count">;
  readonly raw: Pick<Client | Transaction, "execute">;
  /** Answers `queryEach` for several who ask at the same time; absent where each is asked for alone. */
  readonly each?: (sql: string, args: InValue[]) => Promise<Row | undefined>;
};

/** A write transaction: `db` speaks drizzle, `raw` speaks SQL for bulk and conditional statements. */
export type WriteTransaction = { readonly raw: Transaction; readonly db: Db };

/** An open store: `db` for reads in drizzle's words, `raw` for reads in SQL, `write` for all that changes something. */
export type Store = Awaited<ReturnType<typeof opened>>;

export type OpenOptions = {
  /** `file:`, `http(s):` or `libsql:` URL. */
  url: string;
  authToken?: string | undefined;
  /** How long a write waits for another process's lock before StoreBusy. Default 1,000 ms. */
  busyWaitMs?: number;
  /** How long a database server may take to answer before StoreAway. Default 60,000 ms: an import asks for much at once. */
  serverWaitMs?: number;
  /** FULL survives power loss at each commit; NORMAL survives a crash of the process. Default FULL. */
  synchronous?: "FULL" | "NORMAL" | "OFF";
  /** Memory that writing may use to keep pages of an embedded file, in MB. Default: SQLite's 2. */
  writeCacheMb?: number;
  /** Checkpoint an embedded file on another thread: for a process that must answer meanwhile. */
  checkpointsApart?: boolean;
  /** Read and write with one connection, for a command that does one thing after the other: `writeAlone` needs that. */
  oneConnection?: boolean;
  /** Called after each write that was committed. */
  onCommit?: () => void;
  /** Leave the tables as they are: for readers of a store that another process keeps up to date. Makes no store either. */
  migrated?: boolean;
  /**
   * Upgrade the store also while other processes use it: for a service, which is restarted beside others, for migrations
   * only add (decision 10). Else CannotStart is thrown. On a server no one knows who uses it.
   */
  upgradesBeside?: boolean;
  /** Whether a file that is missing or empty becomes a new store; default yes. Else CannotStart is thrown. */
  create?: boolean;
};

/** How a process opens the store that writes while it answers. The cache holds the upper pages of the indexes. */
export const servingStore = {
  writeCacheMb: 16,
  checkpointsApart: true,
  serverWaitMs: 5_000,
  upgradesBeside: true,
} as const;

/** 64 MB: a log this long is checkpointed by the writer itself, which then begins it again. */
const longestLogPages = 16_384;
const keptLogBytes = 16_000_000;
/** A process that is stopped, or a command, leaves the store soon. */
const othersMayEndMs = 2_000;

/**
 * Opens the store and brings its tables up to date. Throws CannotStart, which names the file and what helps, when the
 * store is missing, damaged, out of reach, or has the tables of another version.
 */
export async function openStore(options: OpenOptions): Promise<Store> {
  const address = storeAddress(options.url);
  try {
    return await opened(options, address);
  } catch (error) {
    return explainStart(error, address);
  }
}

/** The file of a store, or its server, without what stands in the URL for the server alone. */
export const storeAddress = (url: string): string =>
  url.startsWith("file:") ? filePathOf(url) : url.replace(/[?#].*$/, "");

async function opened(options: OpenOptions, address: string) {
  const { migrated = false, create = !migrated } = options;
  const embedded = options.url.startsWith("file:");
  if (embedded) await prepareFile(address, { migrated, create });
  const connect = () => connectTo(options, embedded);
  // Pragmas are per connection and an embedded transaction keeps its connection to itself: one client each.
  const writer = connect();
  const reader = embedded && options.oneConnection !== true ? connect() : writer;
  const prepareWriter = async () => {
    for (const pragma of embedded ? writerPragmas(options) : []) {
      await writer.execute(`PRAGMA ${pragma}`);
    }
  };
  const reconnectWriter = async () => {
    writer.reconnect();
    await prepareWriter();
  };
  const beginWriter = async () => {
    await refuseOtherTables(writer, address);
    await prepareWriter();
  };
  await retryWhileBusy(beginWriter, 10_000, async () => writer.reconnect()).catch((error) => {
    for (const client of new Set([reader, writer])) client.close();
    throw error;
  });
  if (!migrated) {
    let waiting: string[] = [];
    const seeToBeAlone = async () => {
      waiting = embedded ? await migrationsAlone(writer, options.upgradesBeside === true) : [];
      if (waiting.length === 0) return;
      // SQLite ends the log only for the one connection that uses the store. Nothing is prepared, for it may meet a lock.
      await writer.executeMultiple("PRAGMA journal_mode = DELETE");
      await prepareWriter();
    };
    // What this process has closed itself is let go when its statements are collected.
    const collect = async () => Bun.gc(true);
    await retryWhileBusy(seeToBeAlone, othersMayEndMs, collect).catch((error: unknown) => {
      if (!(error instanceof StoreBusy)) throw error;
      throw new CannotStart(
        `${address} needs an upgrade (migrations wait: ${waiting.join(", ")}), and another process uses it.`,
        "Stop what uses it (the service, its publisher, a command), then try again. A service that is restarted with this version upgrades it by itself.",
      );
    });
    const migrating = () => migrateAmongOthers(writer);
    await retryWhileBusy(migrating, 10_000, reconnectWriter);
  }
  const checkpoints =
    embedded && options.checkpointsApart === true ? checkpointApart(address) : null;
  // A connection that has read keeps the log open, and in its place, until it is closed.
  const openLog = () => reader.execute("SELECT 1 FROM sqlite_schema LIMIT 1");
  if (embedded) await openLog();
  let files = storeFiles(embedded ? address : ":memory:");
  const assertInPlace = () => {
    files.checkPlace();
    files.checkDamage();
  };
  const inPlace = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      assertInPlace();
      const value = await work();
      files.checkPlace();
      return value;
    } catch (error) {
      // This connection still has the log, and no one else ever will.
      if (files.lacksLog()) await writer.execute("PRAGMA wal_checkpoint(FULL)");
      throw error;
    }
  };
  const busyWaitMs = options.busyWaitMs ?? 1_000;
  let last: Promise<unknown> = Promise.resolve();
  let committed = 0;
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    // Only the beginning of a transaction meets a lock, and leaves nothing behind that a new connection would cure.
    const turn = last.then(() => retryWhileBusy(() => inPlace(work), busyWaitMs));
    last = turn.then(
      () => {
        committed += 1;
        checkpoints?.committed();
        options.onCommit?.();
      },
      () => undefined,
    );
    return turn;
  };
  const close = () => {
    checkpoints?.close();
    reader.close();
    if (writer !== reader) writer.close();
    if (!migrated) files.leave();
  };
  const alone = async <Value>(work: (tx: WriteTransaction) => Promise<Value>) => {
    assertInPlace();
    if (!(await takeFile(writer))) return null;
    try {
      return await runWrite(writer, work);
    } finally {
      await prepareWriter();
      await openLog();
      files = storeFiles(address);
    }
  };
  return {
    db: drizzle(reader) as Queryable["db"],
    raw: reader,
    /** True for an embedded file, false for a libSQL server. */
    embedded,
    /**
     * Runs `work` in one write transaction and commits it; when `work` throws, nothing is written. Writers of this
     * process queue; another process's lock is awaited without blocking the event loop, at most `busyWaitMs`, then
     * StoreBusy is thrown. StoreLost: its files are others now, and what was written is not stored; StoreDamaged: SQLite
     * met damage in them. `work` may run more than once, so it must have no effects but on the transaction.
     */
    write: <Value>(work: (tx: WriteTransaction) => Promise<Value>): Promise<Value> =>
      inTurn(() => runWrite(writer, work)),
    /**
     * Does statements in one transaction, all or none, in one round trip to a server, and answers what each answered. Queues as
     * `write` does and throws what it throws; of a statement that fails, LibsqlBatchError says which.
     */
    batch: (statements: readonly InStatement[]): Promise<ResultSet[]> =>
      inTurn(() => writer.batch([...statements], "write")),
    /**
     * Like `write`, for so much that others would wait for minutes: with an embedded file that nothing else has open, which is
     * closed to all then until the work is done. Answers null, and does nothing, where that cannot be.
     */
    writeAlone: async <Value>(
      work: (tx: WriteTransaction) => Promise<Value>,
    ): Promise<Value | null> => (embedded && reader === writer ? alone(work) : null),
    /** How many writes this handle has committed: a cheap sign that there may be something new to read. */
    committed: (): number => committed,
    /** Throws StoreLost once the files of an embedded store were removed, replaced or found damaged: `write` does so too. */
    assertInPlace,
    /** Has SQLite read an embedded store through, on a thread of its own; throws StoreDamaged where it finds damage. */
    checkPages: async (): Promise<void> => {
      if (!embedded || address === ":memory:") return;
      files.checkPlace();
      const fault = await checkStore(address);
      if (fault !== null) noteDamage(address, fault);
      files.checkDamage();
    },
    /** Brings the log of an embedded store into its file, where no one reads it. */
    emptyLog: async (): Promise<void> => {
      if (embedded) await reader.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    /** Changes when another connection commits; asking an embedded store costs microseconds. Null for a server. */
    version: async (): Promise<string | null> => {
      if (!embedded) return null;
      return String((await reader.execute("PRAGMA data_version")).rows[0]?.[0]);
    },
    /** Closes the store. Its log is brought into the file when no one else uses it: a copy of the file alone is whole then. */
    close,
    [Symbol.dispose]: close,
  };
}

const connectTo = (
  { url, authToken, serverWaitMs = 60_000 }: OpenOptions,
  embedded: boolean,
): Client =>
  embedded
    ? // Waiting for a lock inside SQLite is synchronous and freezes the event loop: keep it short, retry outside.
      openEmbeddedClient(url, { timeout: 20 })
    : createClient({
        url,
        fetch: fetchWithin(serverWaitMs),
        ...(authToken === undefined ? {} : { authToken }),
      });

function refuseMissing(path: string): void {
  const file = path === ":memory:" ? null : statSync(path, { throwIfNoEntry: false });
  if (file === null || (file?.size ?? 0) > 0) return;
  throw new CannotStart(
    file === undefined ? `There is no store at ${path}.` : `The store ${path} is empty: 0 bytes.`,
    "Correct ALMONER_DATA_DIR or ALMONER_DATABASE_URL, or restore a backup. A new directory begins with `bun start` or `bun run import` in an empty folder.",
  );
}

async function prepareFile(
  path: string,
  { migrated, create }: Required<Pick<OpenOptions, "migrated" | "create">>,
): Promise<void> {
  if (!create) refuseMissing(path);
  makePrivate(path);
  // Damage was noted, and another file may be in its place since. Readers leave that to those who write.
  if (!migrated && isDamageNoted(path) && (await checkStore(path)) === null) forgetDamage(path);
}

/** No other user of the machine reads the store. SQLite gives the log and its index the mode of the file. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (path === ":memory:") return;
  privateFile(path);
  for (const beside of [`${path}-wal`, `${path}-shm`]) closeToOthers(beside);
}

function writerPragmas({ synchronous, writeCacheMb, checkpointsApart }: OpenOptions): string[] {
  const pragmas = ["locking_mode = NORMAL", "journal_mode = WAL"];
  pragmas.push(`synchronous = ${synchronous ?? "FULL"}`);
  // A log that grew in a busy minute is cut when it begins again: its room is free for other files.
  pragmas.push(`journal_size_limit = ${keptLogBytes}`);
  if (writeCacheMb !== undefined) pragmas.push(`cache_size = -${writeCacheMb * 1_000}`);
  // Fewer checkpoints: each waits for the disk. The log is at most about as long as the cache is big, or much longer
  // where they are made apart.
  const logPages = checkpointsApart === true ? longestLogPages : (writeCacheMb ?? 0) * 128;
  return logPages === 0 ? pragmas : [...pragmas, `wal_autocheckpoint = ${logPages}`];
}

/** What drizzle asks of a transaction is what it asks of a client: `execute` and `batch`. */
export const queryable = <Raw extends Queryable["raw"]>(raw: Raw) => {
  let db: Db | null = null; // Made when it is first used: hot paths speak SQL.
  return {
    raw,
    get db() {
      return (db ??= drizzle(raw as Queryable["raw"] as Client));
    },
  };
};

/** An embedded store, for a thread that only reads. Its tables are up to date: the service opened it. */
export async function openReader(
  url: string,
  { lockWaitMs, pageCacheKb }: { lockWaitMs: number; pageCacheKb: number },
): Promise<Queryable> {
  const client = openEmbeddedClient(url, { timeout: lockWaitMs });
  await client.execute("PRAGMA query_only = 1");
  await client.execute(`PRAGMA cache_size = -${pageCacheKb}`);
  return queryable(client);
}

async function runWrite<Value>(writer: Client, work: (tx: WriteTransaction) => Promise<Value>) {
  const raw = await writer.transaction("write");
  try {
    const value = await work(queryable(raw));
    await raw.commit();
    return value;
  } finally {
    raw.close(); // An open transaction has no time limit of its own.
  }
}
