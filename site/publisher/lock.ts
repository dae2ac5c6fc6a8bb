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

/** The place of the one publisher. */
type PublisherLock = Disposable & { release(): void };

/**
 * Takes the one publisher's place in a folder; throws PublisherBusy when it is taken. The place is an open exclusive
 * transaction, so the system frees it when the process ends, however it ends.
 */
export function takePublisherLock(
  folder: string,
  onDamaged: (path: string) => void = () => {},
): PublisherLock {
  const path = join(folder, "publisher.lock");
  return openDisposable(path, () => lockFile(path), onDamaged);
}

function lockFile(path: string): PublisherLock {
  const db = new Database(path, { create: true });
  try {
    db.run("PRAGMA busy_timeout = 0");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (codeOf(error)?.startsWith("SQLITE_BUSY") !== true) throw error;
    throw new PublisherBusy("another process is publishing into this folder", { cause: error });
  }
  const release = () => db.close();
  return { release, [Symbol.dispose]: release };
}

const everyMs = 5_000;
/** A publisher that was not heard of for this long does not live, or the machine has no time for it. */
const silentMs = 15_000;

/**
 * Notes in the manifest, whatever else the process is busy with, that a publisher works here for as long as it lives. Stopping it says that
 * it does not.
 */
export function startHeartbeat({ manifest }: Pick<PublisherContext, "manifest">) {
  const beat = async () => {
    // The service that started this process ends it when it hears none.
    process.send?.(heartbeat);
    manifest.setState({ heartbeat_at: machineMoment() });
  };
  // The disk is full, say. Anyone who publishes tells of it, and the next sign may be noted.
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

/** Whether a publisher works on the bundle for as long as it lives. */
export const isPublisherAlive = ({ heartbeat_at }: Pick<PublisherState, "heartbeat_at">): boolean =>
  (msSinceMoment(heartbeat_at) ?? Infinity) < silentMs;
