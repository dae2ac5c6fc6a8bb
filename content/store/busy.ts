import { isDamaged } from "#content/runtime/files.ts";
import { retry } from "#content/runtime/concurrency.ts";

/** Another process held the store's write lock for longer than the caller would wait. Nothing was written. */
export class StoreBusy extends Error {
  override name = "StoreBusy";
}

/** The files of an embedded store were removed or replaced while in use. The last write is not stored. */
export class StoreLost extends Error {
  override name = "StoreLost";
  /** A description without paths, so that it may be public. */
  readonly why: string = "the store was removed or replaced";
}

/** SQLite found damaged pages in an embedded store. Nothing more is written, because it would be lost with them. */
export class StoreDamaged extends StoreLost {
  override name = "StoreDamaged";
  override readonly why = "the store is damaged, and a backup has to be restored (bun run restore)";
}

/** The database server cannot be reached or does not answer in time. The statements may or may not have run. */
export class StoreAway extends Error {
  override name = "StoreAway";
}

/** A `fetch` for a libSQL server that throws StoreAway when the server does not answer within `waitMs`. */
export const fetchWithin =
  (waitMs: number) =>
  async (request: Request): Promise<Response> => {
    try {
      const response = await fetch(request, { signal: AbortSignal.timeout(waitMs) });
      // Read the body here, because the server may also disappear in the middle of its answer.
      return new Response(await response.arrayBuffer(), response);
    } catch (cause) {
      throw new StoreAway("the database server does not answer", { cause });
    }
  };

/** Whether an error means that the server, or a proxy before it, is unreachable: a failed HTTP request or a lost stream. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof StoreAway ||
    ("code" in error && /^(?:SERVER_ERROR|HRANA_)/.test(String(error.code))) ||
    isStoreAway(error.cause));

/** The code of an error or of its cause; errors of SQLite and of a libSQL server have one. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error
    ? "code" in error && typeof error.code === "string"
      ? error.code
      : codeOf(error.cause)
    : null;

/** Whether the store's driver met damaged pages or a file that is no database. Bun's SQLite reads the other files. */
export const isStoreDamage = (error: unknown): boolean =>
  error instanceof StoreDamaged ||
  (!isDamaged(error) && /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(error) ?? ""));

const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error) ?? "");

/**
 * Whether a write failed because of the store and not of its own content: a full disk, a lock, an unreachable server. The
 * next write would fail as well.
 */
export function isStoreTrouble(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof StoreBusy || error instanceof StoreLost || isStoreAway(error)) return true;
  return code !== null && !/^(?:SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|TOOBIG|RANGE)|ERR_)/.test(code);
}

/**
 * Repeats `work` while it fails on a busy lock, for at most `waitMs`; then throws StoreBusy. Pass `reconnect` for work that
 * prepares statements: a statement that met a lock makes its connection's next commit fail (libsql-client-ts #352).
 */
export async function retryWhileBusy<Value>(
  work: () => Promise<Value>,
  waitMs: number,
  reconnect?: () => Promise<void>,
): Promise<Value> {
  const deadlineMs = performance.now() + waitMs;
  const attempt = async (): Promise<{ value: Value } | { busy: unknown }> => {
    try {
      return { value: await work() };
    } catch (error) {
      if (!isBusy(error)) throw error;
      await reconnect?.().catch(() => undefined);
      return { busy: error };
    }
  };
  const mayPass = (outcome: object) => "busy" in outcome && performance.now() <= deadlineMs;
  const waits = { triesMax: Infinity, firstMs: 2, waitMaxMs: 50 };
  const outcome = await retry(attempt, mayPass, waits);
  if ("value" in outcome) return outcome.value;
  throw new StoreBusy("another process is writing to the store", { cause: outcome.busy });
}
