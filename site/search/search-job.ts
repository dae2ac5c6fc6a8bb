import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import type { Committed } from "#site/bundle/release.ts";
import { givesWay } from "#site/publisher/background-worker.ts";
import type { IndexChildSettings } from "./index-child.ts";
import { type IndexJob, type MadeIndexes, makeIndexes } from "./make-indexes.ts";
import { publishIndexes } from "./publish-indexes.ts";

/** The slowest of the publisher's lanes: search indexes, made beside all else. */
export type SearchLane = {
  /**
   * Makes all indexes anew that changes since the last run touch, and publishes them as one release; null when there
   * was nothing to do. Waits for the run before it. Throws when it fails; what is published stays as it is then.
   */
  run(options?: { signal?: AbortSignal }): Promise<Committed | null>;
};

export type SearchLaneSettings = {
  storeUrl: string;
  storeToken: string | null;
  /** Whether there is an index for people; those for programs are always kept in step. */
  pagefind: boolean;
  /** Whether indexes are made in a process of its own, so that this one goes on answering. */
  apart: boolean;
};

const childWaitMs = 600_000;

/** Opens the lane. Its first run looks at everything; later ones only when the lists have moved on. */
export function openSearchLane(parts: PublisherParts, settings: SearchLaneSettings): SearchLane {
  const inputs = settings.pagefind ? inputsDigest() : "off";
  let looked = !settings.pagefind;
  const once = async (signal: AbortSignal | undefined): Promise<Committed | null> => {
    const { current_release, held_at, search_sequence, search_inputs } = parts.manifest.state();
    if (current_release === 0 || held_at > 0) return null;
    const inputsChanged = search_inputs !== inputs;
    if (looked && !inputsChanged && !isBehind(parts)) return null;
    const job = { after: search_sequence, pagefind: settings.pagefind, inputsChanged };
    const made = settings.apart
      ? await makeApart(parts, { ...settings, job }, signal)
      : await makeIndexes({ ...parts, store: parts.source.store }, job);
    // An operator went back to an older release meanwhile: it has to show its own.
    if (parts.manifest.state().held_at > 0) return null;
    looked = true;
    const committed = await publishIndexes(parts, made, { search_inputs: inputs });
    return committed.changed.length + committed.removed.length > 0 ? committed : null;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: ({ signal } = {}) => {
      const running = last.then(() => once(signal));
      last = running.catch(() => null);
      return running;
    },
  };
}

/** Whether lists have moved on, or an operator went back and forth again. */
function isBehind({ manifest }: PublisherParts): boolean {
  const { search_sequence, slow_sequence } = manifest.state();
  if (search_sequence < slow_sequence) return true;
  const old = manifest.db
    .query<{ found: number }, []>(
      `SELECT EXISTS (
         SELECT 1 FROM files WHERE path > 'search/' AND path < 'search0' AND as_of = 0
       ) AS found`,
    )
    .get();
  return old?.found === 1;
}

async function makeApart(
  { manifest, blobs }: PublisherParts,
  { storeUrl, storeToken, job }: SearchLaneSettings & { job: IndexJob },
  signal?: AbortSignal,
): Promise<MadeIndexes> {
  const settings: IndexChildSettings = {
    storeUrl,
    storeToken,
    bundleFolder: dirname(manifest.db.filename),
    blobsFolder: blobs.folder,
    job,
  };
  let made: MadeIndexes | null = null;
  const child = Bun.spawn(
    [
      process.execPath,
      "--smol",
      join(import.meta.dirname, "index-child.ts"),
      JSON.stringify(settings),
    ],
    {
      stdio: ["ignore", "ignore", "pipe"],
      serialization: "json",
      timeout: childWaitMs,
      ...(signal === undefined ? {} : { signal }),
      ipc: (message: MadeIndexes) => {
        made = message;
      },
    },
  );
  givesWay(child.pid);
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (made === null) {
    throw new Error(`indexing ended with ${code}: ${complaint.trim().slice(-complaintMax)}`);
  }
  return made;
}

const complaintMax = 2_000;

/** Digest over what goes into an index for people beside the store: another one makes all shards stale. */
function inputsDigest(): string {
  const digest = createHash("sha256");
  for (const file of [
    "site/search/documents.ts",
    "site/search/pagefind-shard.ts",
    "content/editorial/causes.json",
    "content/editorial/countries.json",
    "node_modules/pagefind/package.json",
  ]) {
    digest.update(readFileSync(join(import.meta.dirname, "../..", file)));
  }
  return digest.digest("hex");
}
