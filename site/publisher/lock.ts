import { join } from "node:path";
import { Database } from "bun:sqlite";
import { codeOf } from "#site/bundle/blobs.ts";
import type { Manifest, PublisherState } from "#site/bundle/manifest.ts";
import type { PublisherContext } from "./context.ts";

/** Another process publishes into this folder. */
export class PublisherBusy extends Error {
  override name = "PublisherBusy";
}

/**
 * Takes the one publisher's place in a folder; throws PublisherBusy when it is taken. The place is an open exclusive
 * transaction, so the system frees it when the process ends, however it ends.
 */
export function takePublisherLock(folder: string): { release(): void } {
  const db = new Database(join(folder, "publisher.lock"), { create: true });
  try {
    db.run("PRAGMA busy_timeout = 0");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
    throw new PublisherBusy("another process is publishing into this folder", { cause: error });
  }
  return { release: () => db.close() };
}

const everyMs = 5_000;
/** A publisher that was not heard of for so long does not live, or the machine has no time for it. */
const silentMs = 15_000;

/**
 * Notes in the manifest, whatever else the process is busy with, that a resident publisher lives. Stopping it says that
 * it does not.
 */
export function startHeartbeat({ manifest, clock }: Pick<PublisherContext, "manifest" | "clock">): {
  stop(): void;
} {
  const note = (seen_at: number) => noteQuietly(manifest, seen_at);
  note(clock().getTime());
  const timer = setInterval(() => note(clock().getTime()), everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      note(0);
    },
  };
}

function noteQuietly(manifest: Manifest, seen_at: number): void {
  try {
    manifest.setState({ seen_at });
  } catch {
    // The disk is full, say. Whoever publishes tells of it, and the next sign may be noted.
  }
}

/** Whether a resident publisher works on the bundle. */
export const isPublisherAlive = (
  { seen_at }: Pick<PublisherState, "seen_at">,
  now: Date,
): boolean => now.getTime() - seen_at < silentMs;
