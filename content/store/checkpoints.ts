import Database from "libsql/promise";

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
      await db.exec("PRAGMA wal_checkpoint(PASSIVE)").catch(() => undefined);
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
