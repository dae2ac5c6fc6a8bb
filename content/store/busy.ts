/** Another process held the store's write lock for longer than the caller would wait. Nothing was written. */
export class StoreBusy extends Error {
  override name = "StoreBusy";
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  ("code" in error && typeof error.code === "string"
    ? error.code.startsWith("SQLITE_BUSY") || error.code.startsWith("SQLITE_LOCKED")
    : isBusy(error.cause));

/** Repeats `work` until it is not refused for a busy lock, at most for `waitMs`; then throws StoreBusy. */
export async function retryWhileBusy<Value>(
  work: () => Promise<Value>,
  waitMs: number,
  reconnect: () => Promise<void>,
): Promise<Value> {
  const deadlineMs = performance.now() + waitMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      // After SQLITE_BUSY the connection's next commit fails (libsql-client-ts #352); only reconnecting mends it.
      await reconnect().catch(() => undefined);
      if (performance.now() > deadlineMs) {
        throw new StoreBusy("another process is writing to the store", { cause: error });
      }
      await Bun.sleep(pauseMs);
    }
  }
}
