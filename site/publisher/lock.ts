import { join } from "node:path";
import { Database } from "bun:sqlite";
import { openDisposable } from "#content/runtime/files.ts";
import { machineMoment, msSinceMoment, every } from "#content/runtime/timing.ts";
import { heartbeat } from "#content/runtime/supervised-child.ts";
import { codeOf } from "#content/store/busy.ts";
import type { PublisherState } from "#site/bundle/manifest.ts";
import type { PublisherContext } from "./context.ts";

/** Another process publishes into this folder. */
export class PublisherBusy extends Error {
  override name = "PublisherBusy";
}

/**
 * Takes the lock that lets one process publish into a folder; throws PublisherBusy when another holds it. The lock is an
 * open exclusive transaction: closing it frees the lock, and so does the system, however the process ends.
 */
export function takePublisherLock(
  folder: string,
  onDamaged: (path: string) => void = () => {},
): Database {
  const path = join(folder, "publisher.lock");
  return openDisposable(path, () => lockFile(path), onDamaged);
}

function lockFile(path: string): Database {
  const db = new Database(path, { create: true });
  try {
    db.run("PRAGMA busy_timeout = 0");
    db.run("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db.close();
    if (codeOf(error)?.startsWith("SQLITE_BUSY") !== true) throw error;
    throw new PublisherBusy("another process is publishing into this folder", { cause: error });
  }
}

const everyMs = 5_000;
/** A publisher silent for this long is dead, or the machine gives it no time. */
const silentMs = 15_000;

/** Writes the time into the manifest every 5 s, so that others know that a publisher works here. `stop` clears it. */
export function startHeartbeat({ manifest }: Pick<PublisherContext, "manifest">) {
  const beat = async () => {
    // The service that started this process ends it when no heartbeat comes.
    process.send?.(heartbeat);
    manifest.setState({ heartbeat_at: machineMoment() });
  };
  // The disk may be full. The job that publishes logs it, and the next heartbeat may succeed.
  const onFailure = () => {};
  const beating = every(beat, { everyMs, onFailure });
  return {
    stop: async (): Promise<void> => {
      await beating.stop();
      try {
        manifest.setState({ heartbeat_at: "" });
      } catch {
        onFailure();
      }
    },
  };
}

/** Whether a publisher that publishes continuously works on the bundle: its last heartbeat is less than 15 s old. */
export const isPublisherAlive = ({ heartbeat_at }: Pick<PublisherState, "heartbeat_at">): boolean =>
  (msSinceMoment(heartbeat_at) ?? Infinity) < silentMs;
