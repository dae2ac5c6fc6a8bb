import { Database } from "bun:sqlite";
import { join } from "node:path";
import { codeOf } from "#site/bundle/blobs.ts";

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
