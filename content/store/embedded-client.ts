import type { Client } from "@libsql/client";
import { ConnectionPool, Sqlite3Client } from "@libsql/client/sqlite3";
import type Database from "libsql";
import { countedCache } from "#content/runtime/cache.ts";
import { isStoreDamage } from "./busy.ts";
import { noteDamage } from "./store-files.ts";

const statementsMax = 200;
/** Pragmas and changes of tables may take effect while they are prepared, so each is prepared again. */
const isReusable = /^\s*(?:select|insert|update|delete|with)\b/i;
const isBoundary = /^\s*(?:begin|commit|rollback)\b/i;

/**
 * A client of one connection to a file that prepares each statement once. The library's own prepares it at every
 * execution, which takes longer than the execution: 180 of 220 µs to insert a submission, whose triggers are compiled too.
 * A statement must name its columns: those of `SELECT *` are not asked for again when a table gets another. See decision 06.
 * Damage that a statement meets is noted beside the file, which stops all writes.
 */
export const openEmbeddedClient = (url: string, options: { timeout: number }): Client =>
  new Sqlite3Client(new PreparingPool(filePathOf(url), options, 1), "number");

/** The path in a `file:` URL, read as the library reads it: with %20 for a space, and nothing behind it. */
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

/** Calls the driver, and notes the damage that it meets. */
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
 * An execution is synchronous and reads all rows, so no two use one statement at a time. A statement keeps the values
 * that it was given last: a caller that gives fewer than it has places for gets those of another execution.
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
  // Looked for with `get`: `memo` copies its options at each call.
  const prepared = (sql: string) => statements.get(sql) ?? cachedOrNew(sql);
  database.prepare = prepared as typeof database.prepare;
}

/** A statement that is used once, a pragma or a change of tables. */
function watchedStatement(statement: Database.Statement, watched: Watch): Database.Statement {
  const [all, run] = [statement.all.bind(statement), statement.run.bind(statement)];
  statement.all = (...args) => watched(() => all(...args));
  statement.run = (...args) => watched(() => run(...args));
  return statement;
}

/**
 * The beginning or end of a transaction. The driver frees a prepared statement when it is collected, and until then one
 * that met a lock holds its connection back; what it executes directly is free at once.
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

/** The library asks each statement and catches this. Made once: its stack takes longer than a short statement. */
const answersNoRows = new Error("this statement does not answer rows");

/**
 * What the library asks of a statement before each execution is asked once, for each answer of the driver takes
 * microseconds. One that failed for a lock stays active until it is freed, and its connection reads what the file held
 * then, so it is forgotten.
 */
function describedOnce(
  statement: Database.Statement,
  watched: Watch,
  forget: () => void,
): Database.Statement {
  const [all, run] = [statement.all.bind(statement), statement.run.bind(statement)];
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
