import type { Client } from "@libsql/client";
import { ConnectionPool, Sqlite3Client } from "@libsql/client/sqlite3";
import type Database from "libsql";
import { countedCache } from "#content/runtime/cache.ts";
import { isStoreDamage } from "./busy.ts";
import { noteDamage } from "./store-files.ts";

/** The URL of a store that ends with its process. */
export const inMemory = ":memory:";

const statementsMax = 200;
/** Pragmas and schema changes may take effect while they are prepared, so they are prepared each time. */
const isReusable = /^\s*(?:select|insert|update|delete|with)\b/i;
const isBoundary = /^\s*(?:begin|commit|rollback)\b/i;

/**
 * A client with one connection, to a file or to memory, that prepares each statement once. The library's own prepares at
 * every execution, which takes longer than executing: 180 of 220 µs to insert a submission, because its triggers are compiled
 * too. Statements must name their columns: `SELECT *` would not notice a new column. Damage that a statement meets is noted
 * beside the file, which stops all writes.
 */
export const openEmbeddedClient = (url: string, options: { timeout: number }): Client =>
  new Sqlite3Client(
    new PreparingPool(url === inMemory ? url : filePathOf(url), options, 1),
    "number",
  );

/** The path of a `file:` URL, read as the library reads it: %20 is a space, and nothing may follow the path. */
export function filePathOf(url: string): string {
  const path = /^file:(?:\/\/(?:localhost)?(?=\/)|(?!\/\/))([^?#]+)$/i.exec(url)?.[1];
  if (path === undefined) throw new Error(`The URL of a store on disk is file:<path>, not ${url}`);
  return decodeURIComponent(path);
}

class PreparingPool extends ConnectionPool {
  readonly #path: string;

  constructor(path: string, options: { timeout: number }, connections: number) {
    super(path, options, connections);
    this.#path = path;
  }

  override acquireSync(forTransaction?: boolean): Database.Database {
    const database = super.acquireSync(forTransaction);
    if (!Object.hasOwn(database, "prepare")) prepareOnce(database, watchFor(this.#path));
    return database;
  }
}

/** Calls the driver and notes any damage that it reports. */
type Watch = <Answer>(call: () => Answer) => Answer;

const watchFor =
  (path: string): Watch =>
  (call) => {
    try {
      return call();
    } catch (error) {
      if (isStoreDamage(error)) noteDamage(path, String(error));
      throw error;
    }
  };

/**
 * Caches prepared statements. That is safe because an execution is synchronous and reads all rows. A statement keeps the
 * values it was last given, so a caller that passes too few gets values of another execution.
 */
function prepareOnce(database: Database.Database, watched: Watch): void {
  const prepareNow = database.prepare.bind(database);
  const prepare = (sql: string) => watched(() => prepareNow(sql));
  const statements = countedCache<Database.Statement>(statementsMax, {
    memoMethod: (sql) => {
      const forget = () => statements.delete(sql);
      return describedOnce(prepare(sql), watched, forget);
    },
  });
  const cachedOrNew = (sql: string) => {
    if (isReusable.test(sql)) return statements.memo(sql);
    return isBoundary.test(sql)
      ? boundaryOf(database, sql, watched)
      : watchedStatement(prepare(sql), watched);
  };
  // Try `get` first: `memo` copies its options at each call.
  const prepared = (sql: string) => statements.get(sql) ?? cachedOrNew(sql);
  database.prepare = prepared as typeof database.prepare;
}

/** A statement that is used once: a pragma or a schema change. */
function watchedStatement(statement: Database.Statement, watched: Watch): Database.Statement {
  const all = statement.all.bind(statement);
  const run = statement.run.bind(statement);
  statement.all = (...args) => watched(() => all(...args));
  statement.run = (...args) => watched(() => run(...args));
  return statement;
}

/**
 * The beginning or end of a transaction, executed directly. A prepared statement is freed only when it is garbage-collected;
 * until then one that met a lock would block its connection.
 */
function boundaryOf(database: Database.Database, sql: string, watched: Watch): Database.Statement {
  const boundary = {
    safeIntegers: () => boundary,
    raw: () => {
      throw answersNoRows;
    },
    run: () => {
      watched(() => database.exec(sql));
      return { changes: 0, lastInsertRowid: 0 };
    },
  };
  return boundary as unknown as Database.Statement;
}

/** The library catches this for each statement. Made once: its stack trace takes longer than a short statement. */
const answersNoRows = new Error("this statement does not answer rows");

/**
 * Answers from memory what the library asks of a statement before each execution, because each answer of the driver takes
 * microseconds. A statement that met a lock stays active until it is freed, and its connection would keep reading old data,
 * so it is dropped from the cache.
 */
function describedOnce(
  statement: Database.Statement,
  watched: Watch,
  forget: () => void,
): Database.Statement {
  const all = statement.all.bind(statement);
  const run = statement.run.bind(statement);
  const executed = <Answer>(execute: () => Answer): Answer => {
    try {
      return watched(execute);
    } catch (error) {
      forget();
      throw error;
    }
  };
  const columns = statement.columns();
  statement.safeIntegers(true);
  if (columns.length > 0) statement.raw(true);
  statement.safeIntegers = () => statement;
  statement.raw = () => {
    if (columns.length === 0) throw answersNoRows;
    return statement;
  };
  statement.columns = () => columns;
  statement.all = (...args) => executed(() => all(...args));
  statement.run = (...args) => executed(() => run(...args));
  return statement;
}
