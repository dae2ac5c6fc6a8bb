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
import { filePathOf, inMemory, openEmbeddedClient } from "./embedded-client.ts";
import { forgetDamage, isDamageNoted, noteDamage, storeFiles } from "./store-files.ts";
import { checkpointApart, checkStore } from "./file-work.ts";
import { migrateAmongOthers, migrationsAlone, refuseOtherTables } from "./upgrade.ts";

type Db = LibSQLDatabase;

/** A store or transaction to read from: `db` for queries in drizzle, `raw` for hot paths in SQL. */
export type Queryable = {
  readonly db: Pick<Db, "select" | "selectDistinct" | "$count">;
  readonly raw: Pick<Client | Transaction, "execute">;
  /** Runs `queryEach` for several callers at once; absent where each call runs alone. */
  readonly each?: (sql: string, args: InValue[]) => Promise<Row | undefined>;
};

/** A write transaction: `db` for drizzle, `raw` for bulk and conditional statements in SQL. */
export type WriteTransaction = { readonly raw: Transaction; readonly db: Db };

/** An open store: `db` for reads in drizzle, `raw` for reads in SQL, `write` for all changes. */
export type Store = Awaited<ReturnType<typeof opened>>;

export type OpenOptions = {
  /** `file:`, `http(s):` or `libsql:` URL. */
  url: string;
  authToken?: string | undefined;
  /** How long a write waits for another process's lock before StoreBusy is thrown. Default: 1,000 ms. */
  busyWaitMs?: number;
  /** FULL survives power loss at each commit; NORMAL survives a crash of the process. Default FULL. */
  synchronous?: "FULL" | "NORMAL" | "OFF";
  /** Memory for pages of an embedded file while writing, in MB. Default: SQLite's 2. */
  writeCacheMb?: number;
  /** Read and write on one connection, for a command that does one thing after another; `writeAlone` needs it. */
  oneConnection?: boolean;
  /** Called after each write that was committed. */
  onCommit?: () => void;
  /** Do not migrate or create: for readers of a store that another process keeps up to date. */
  migrated?: boolean;
  /**
   * For a process that answers requests meanwhile: another thread checkpoints an embedded file, and a service that is
   * restarted beside others upgrades the store, because migrations only add (docs/decisions/10-upgrades.md). Else
   * CannotStart, if others use the file; a server's users are unknown.
   */
  serves?: boolean;
  /** Whether a missing or empty file becomes a new store; default true. Otherwise CannotStart is thrown. */
  create?: boolean;
};

/** Holds the upper pages of the indexes. */
const servingCacheMb = 16;
/** How long a database server may take to answer before StoreAway; commands send it large imports. */
const serverWaitMs = { serving: 5_000, other: 60_000 } as const;
/** 64 MB: when the log is this long, the writer itself checkpoints and restarts it. */
const longestLogPages = 16_384;
const keptLogBytes = 16_000_000;
/** A command, or a process that is being stopped, soon releases the store. */
const othersMayEndMs = 2_000;

/**
 * Opens the store and migrates its tables. Throws CannotStart, with the file and a remedy, when the store is missing,
 * damaged, unreachable, or has the tables of another version.
 */
export async function openStore(options: OpenOptions): Promise<Store> {
  const address = storeAddress(options.url);
  try {
    return await opened(options, address);
  } catch (error) {
    return explainStart(error, address);
  }
}

/** The file of a store, or the server's URL without its query and fragment. */
export const storeAddress = (url: string): string =>
  url.startsWith("file:") ? filePathOf(url) : url.replace(/[?#].*$/, "");

async function opened(options: OpenOptions, address: string) {
  const { migrated = false, create = !migrated } = options;
  const embedded = options.url.startsWith("file:");
  if (embedded) await prepareFile(address, { migrated, create });
  const connect = () => connectTo(options, embedded);
  // Pragmas are per connection, and a transaction in an embedded store occupies its connection: one client each.
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
      waiting = embedded ? await migrationsAlone(writer, options.serves === true) : [];
      if (waiting.length === 0) return;
      // SQLite leaves the log mode only for a store's only connection. Prepare nothing, because it may meet a lock.
      await writer.executeMultiple("PRAGMA journal_mode = DELETE");
      await prepareWriter();
    };
    // Connections that this process closed are released when their statements are garbage-collected.
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
  const checkpoints = embedded && options.serves === true ? checkpointApart(address) : null;
  // A connection that has read keeps the log open and in place until it is closed.
  const openLog = () => reader.execute("SELECT 1 FROM sqlite_schema LIMIT 1");
  if (embedded) await openLog();
  let files = embedded ? storeFiles(address) : null;
  const assertInPlace = () => {
    files?.checkPlace();
    files?.checkDamage();
  };
  const inPlace = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      assertInPlace();
      const value = await work();
      files?.checkPlace();
      return value;
    } catch (error) {
      // This connection still has the log open, and no other ever will.
      if (files?.lacksLog() === true) await writer.execute("PRAGMA wal_checkpoint(FULL)");
      throw error;
    }
  };
  const busyWaitMs = options.busyWaitMs ?? 1_000;
  let last: Promise<unknown> = Promise.resolve();
  let committed = 0;
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    // Only the beginning of a transaction meets a lock, and it leaves nothing behind that needs a new connection.
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
    if (!migrated) files?.leave();
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
     * Runs `work` in one write transaction and commits it; nothing is written if `work` throws. Writers of this process
     * queue. Another process's lock is awaited, without blocking the event loop, for at most `busyWaitMs`; then StoreBusy is
     * thrown. StoreLost: the files were replaced, and the write is not stored. StoreDamaged: SQLite met damage. `work` may
     * run more than once, so its only effects must be on the transaction.
     */
    write: <Value>(work: (tx: WriteTransaction) => Promise<Value>): Promise<Value> =>
      inTurn(() => runWrite(writer, work)),
    /**
     * Runs statements in one transaction, all or none, in one round trip to a server, and returns their results. Queues and
     * throws like `write`; if a statement fails, LibsqlBatchError says which.
     */
    batch: (statements: readonly InStatement[]): Promise<ResultSet[]> =>
      inTurn(() => writer.batch([...statements], "write")),
    /**
     * Like `write`, for work that would block others for minutes. It needs an embedded file that no one else has open, and
     * keeps others out until it is done. Returns null, and does nothing, if it cannot have the file alone.
     */
    writeAlone: async <Value>(
      work: (tx: WriteTransaction) => Promise<Value>,
    ): Promise<Value | null> => (embedded && reader === writer ? alone(work) : null),
    /** How many writes this handle has committed: a cheap sign that there may be something new to read. */
    committed: (): number => committed,
    /** Throws StoreLost if the files of an embedded store were removed, replaced or found damaged, as `write` does. */
    assertInPlace,
    /** Checks an embedded store on a thread of its own; throws StoreDamaged if SQLite finds damage. */
    checkPages: async (): Promise<void> => {
      if (files === null) return;
      files.checkPlace();
      const fault = await checkStore(address);
      if (fault !== null) noteDamage(address, fault);
      files.checkDamage();
    },
    /** Empties the log of an embedded store into its file if no one reads the log. */
    emptyLog: async (): Promise<void> => {
      if (embedded) await reader.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    /** A value that changes when another connection commits; it costs microseconds. Null for a server. */
    version: async (): Promise<string | null> => {
      if (!embedded) return null;
      return String((await reader.execute("PRAGMA data_version")).rows[0]?.[0]);
    },
    /** Closes the store. If no one else uses it, the log is emptied into the file: a copy of it is complete. */
    close,
    [Symbol.dispose]: close,
  };
}

const connectTo = ({ url, authToken, serves = false }: OpenOptions, embedded: boolean): Client =>
  embedded || url === inMemory
    ? // Waiting for a lock inside SQLite is synchronous and freezes the event loop: keep it short, retry outside.
      openEmbeddedClient(url, { timeout: 20 })
    : createClient({
        url,
        fetch: fetchWithin(serverWaitMs[serves ? "serving" : "other"]),
        ...(authToken === undefined ? {} : { authToken }),
      });

function refuseMissing(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if ((file?.size ?? 0) > 0) return;
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
  // Damage was noted, but the file may have been replaced since. Only processes that write decide that.
  if (!migrated && isDamageNoted(path) && (await checkStore(path)) === null) forgetDamage(path);
}

/** Only the owner may read the store. SQLite gives the log and its index the file's mode. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  privateFile(path);
  for (const beside of [`${path}-wal`, `${path}-shm`]) closeToOthers(beside);
}

function writerPragmas({
  synchronous = "FULL",
  serves = false,
  writeCacheMb = serves ? servingCacheMb : undefined,
}: OpenOptions): string[] {
  const pragmas = ["locking_mode = NORMAL", "journal_mode = WAL"];
  pragmas.push(`synchronous = ${synchronous}`);
  // A log that grew in a busy minute is truncated when it restarts, which frees its space.
  pragmas.push(`journal_size_limit = ${keptLogBytes}`);
  if (writeCacheMb !== undefined) pragmas.push(`cache_size = -${writeCacheMb * 1_000}`);
  // Checkpoint rarely, because each checkpoint waits for the disk. The log grows to about the size of the cache, or much
  // longer when another thread makes the checkpoints.
  const logPages = serves ? longestLogPages : (writeCacheMb ?? 0) * 128;
  return logPages === 0 ? pragmas : [...pragmas, `wal_autocheckpoint = ${logPages}`];
}

/** Drizzle needs only `execute` and `batch`, which a transaction has like a client. */
export const queryable = <Raw extends Queryable["raw"]>(raw: Raw) => {
  let db: Db | null = null; // Created on first use: hot paths use SQL.
  return {
    raw,
    get db() {
      return (db ??= drizzle(raw as Queryable["raw"] as Client));
    },
  };
};

/** An embedded store for a thread that only reads. The service has already migrated it. */
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

/**
 * Takes an embedded file for one connection alone, with a rollback journal instead of the log: new pages are then written
 * only once, and if the process ends in the middle of a transaction the file stays as it was. Returns false, and changes
 * nothing, if another process has the file open.
 */
async function takeFile(writer: Client): Promise<boolean> {
  // SQLite leaves the log mode only for a store's only connection. Sorting uses files, because it may not fit in memory.
  const take = () =>
    writer.executeMultiple(
      "PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = FILE; BEGIN EXCLUSIVE; COMMIT",
    );
  try {
    await retryWhileBusy(take, othersMayEndMs);
    return true;
  } catch (error) {
    if (error instanceof StoreBusy) return false;
    throw error;
  }
}
