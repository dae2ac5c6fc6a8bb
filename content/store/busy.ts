import { isDamaged } from "#content/runtime/files.ts";
import { retry } from "#content/runtime/concurrency.ts";

/** Another process held the store's write lock for longer than the caller would wait. Nothing was written. */
export class StoreBusy extends Error {
  override name = "StoreBusy";
}

/** The files of an embedded store were removed or replaced while they were in use. What was asked for last is not stored. */
export class StoreLost extends Error {
  override name = "StoreLost";
  /** In words that name no path, for anyone. */
  readonly why: string = "the store was removed or replaced";
}

/** SQLite found pages of an embedded store damaged: nothing is written, for it would be lost with them. */
export class StoreDamaged extends StoreLost {
  override name = "StoreDamaged";
  override readonly why = "the store is damaged, and a backup has to be restored (bun run restore)";
}

/** The database server cannot be reached, or does not answer in time. What was sent may have been done or not. */
export class StoreAway extends Error {
  override name = "StoreAway";
}

/** How a libSQL server is asked: what it does not answer within `waitMs` ends in StoreAway. */
export const fetchWithin =
  (waitMs: number) =>
  async (request: Request): Promise<Response> => {
    try {
      const response = await fetch(request, { signal: AbortSignal.timeout(waitMs) });
      // Read here, because a server may also go away in the middle of its answer.
      return new Response(await response.arrayBuffer(), response);
    } catch (cause) {
      throw new StoreAway("the database server does not answer", { cause });
    }
  };

/** Whether a server is out of reach, or what stands before it says so: a failed HTTP request, a stream it has forgotten. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof StoreAway ||
    ("code" in error && /^(?:SERVER_ERROR|HRANA_)/.test(String(error.code))) ||
    isStoreAway(error.cause));

/** The code of an error or of its cause: those of SQLite and of a libSQL server carry one. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error
    ? "code" in error && typeof error.code === "string"
      ? error.code
      : codeOf(error.cause)
    : null;

/** Whether the driver of the store met damaged pages, or a file that is no database. Other files have Bun's SQLite. */
export const isStoreDamage = (error: unknown): boolean =>
  error instanceof StoreDamaged ||
  (!isDamaged(error) && /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(error) ?? ""));

const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error) ?? "");

/**
 * Whether the store, and not what was asked of it, is why a write failed: a full disk, a lock, a server out of reach.
 * Then the next one would fail as well.
 */
export function isStoreTrouble(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof StoreBusy || error instanceof StoreLost || isStoreAway(error)) return true;
  return code !== null && !/^(?:SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|TOOBIG|RANGE)|ERR_)/.test(code);
}

/**
 * Repeats `work` until it is not refused for a busy lock, at most for `waitMs`; then throws StoreBusy. `reconnect`: for
 * work that prepares statements, since one that met a lock makes its connection's next commit fail (libsql-client-ts #352).
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
