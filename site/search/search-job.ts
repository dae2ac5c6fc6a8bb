import { oneByOne } from "#content/runtime/concurrency.ts";
import { sha256OfFiles } from "#content/runtime/digest.ts";
import { join } from "node:path";
import type { Blobs } from "#site/bundle/blobs.ts";
import { publishInSlices, publishRelease } from "#site/bundle/export-release.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { type ReleaseOutcome, storeFiles, type BundleContext } from "#site/bundle/release.ts";
import { lunrHead } from "#site/documents/lunr.ts";
import type { IndexTask, IndexFiles } from "./make-indexes.ts";

/** The slowest of the publisher's jobs: it makes search indexes while other jobs run. */
export type SearchJob = ReturnType<typeof openSearchJob>;

export type SearchSettings = {
  /** Whether there is an index for people; those for programs are always made. */
  pagefind: boolean;
  /** Makes indexes, here or in another process. */
  makeIndexes: (job: IndexTask, signal?: AbortSignal) => Promise<IndexFiles>;
};

/** The least time between a run that changed indexes and the next one. */
const gapMs = 30_000;
const afterFailureMs = 300_000;

const root = join(import.meta.dirname, "../..");
/** The inputs of the index for people other than the store: when one changes, all shards are stale. */
const inputFiles = [
  "site/documents/lunr.ts",
  "site/search/make-indexes.ts",
  "content/editorial/causes.json",
  "content/editorial/countries.json",
  "node_modules/pagefind/package.json",
];

/** Opens the job. Its first run checks everything; later ones run only when the lists have changed. */
export function openSearchJob(context: BundleContext, settings: SearchSettings) {
  const inputs = settings.pagefind ? sha256OfFiles(root, inputFiles) : "off";
  let looked = !settings.pagefind;
  const once = async (signal: AbortSignal | undefined): Promise<ReleaseOutcome | null> => {
    const { current_release, held_at, search_sequence, search_inputs } = context.manifest.state();
    if (current_release === 0 || held_at > 0) return null;
    const inputsChanged = search_inputs !== inputs;
    if (looked && !inputsChanged && !isBehind(context)) return null;
    const job = { after: search_sequence, pagefind: settings.pagefind, inputsChanged };
    const indexes = await settings.makeIndexes(job, signal);
    // An operator rolled back meanwhile: the older release must keep its own indexes.
    if (context.manifest.state().held_at > 0) return null;
    const outcome = await publishIndexes(context, indexes, inputs);
    looked = true;
    return outcome.changed.length + outcome.removed.length > 0 ? outcome : null;
  };
  const inTurn = oneByOne();
  const run = ({ signal }: { signal?: AbortSignal } = {}): Promise<ReleaseOutcome | null> =>
    inTurn(() => once(signal));
  // The indexes may lack what an earlier process published just before it ended.
  let isNoticed = true;
  let afterMs = 0;
  return {
    /** Reports a release whose content the indexes may not have. */
    notice: (): void => {
      isNoticed = true;
    },
    dueAtMs: (): number | null => (isNoticed ? afterMs : null),
    /** Runs the job and logs a failure instead of throwing it; sets when the next run is due. */
    follow: async ({ signal }: { signal: AbortSignal }): Promise<void> => {
      const { log } = context;
      isNoticed = false;
      try {
        const outcome = await run({ signal });
        if (outcome === null) return;
        log("search indexes are up to date", { release: outcome.release });
        afterMs = performance.now() + gapMs;
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : "unknown";
        log("search indexes could not be made; trying again later", { error: reason });
        afterMs = performance.now() + afterFailureMs;
        isNoticed = true;
      }
    },
    /** Makes the next run check everything, because files may be gone. */
    lookAgain: (): void => {
      looked = !settings.pagefind;
    },
    /**
     * Makes all indexes again that changes since the last run affect, and publishes them as one release; null when there
     * was nothing to do. Waits for the previous run. Throws on failure; the published indexes then stay as they are.
     */
    run,
  };
}

/** Whether lists have changed since, or a rollback has restored older indexes. */
function isBehind({ manifest }: BundleContext): boolean {
  const { search_sequence, slow_sequence } = manifest.state();
  if (search_sequence < slow_sequence) return true;
  return manifest.under("search/").some(({ as_of }) => as_of === 0);
}

/**
 * Publishes indexes as one release. Pagefind files of older indexes stay a while for open pages. Throws when a file is gone
 * from the blobs: then the indexes must be made again.
 */
async function publishIndexes(
  context: BundleContext,
  made: IndexFiles,
  search_inputs: string,
): Promise<ReleaseOutcome> {
  const files = [...made.lunr, ...listFile(context, made), ...made.pagefind];
  return publishInSlices(context, {
    reason: "search indexes",
    files,
    removed: made.lunrGone,
    retired: made.superseded,
    // A rollback leaves Pagefind's files alone, because half of an index finds nothing.
    withoutHistory: "pagefind/",
    // At least 1, the number of the first change, because a file with `as_of` 0 counts as old.
    asOf: Math.max(made.asOf, 1),
    state: { search_inputs, search_sequence: made.asOf },
  });
}

/** Publishes the list of lunr files as a full build left them. */
export function publishLunrList(context: BundleContext): ReleaseOutcome {
  const asOf = Math.max(context.manifest.state().slow_sequence, 1);
  const files = listFile(context, { asOf, lunr: [], lunrGone: [] });
  return publishRelease(context, { reason: "list of search indexes", files, asOf, state: {} });
}

function listFile(
  { manifest, blobs }: BundleContext,
  { asOf, lunr, lunrGone }: Pick<IndexFiles, "asOf" | "lunr" | "lunrGone">,
): NewFile[] {
  const files = new Map<string, NewFile>();
  const newer = new Set<string>();
  for (const { as_of, ...file } of manifest.under("search/")) {
    if (!file.path.endsWith(".lunr.json")) continue;
    files.set(file.path, file);
    // A full build made this file from newer data meanwhile.
    if (as_of > asOf) newer.add(file.path);
  }
  for (const path of lunrGone) if (!newer.has(path)) files.delete(path);
  for (const file of lunr) if (!newer.has(file.path)) files.set(file.path, file);
  const body = lunrList(blobs, [...files.values()]);
  return storeFiles({ blobs }, [{ path: lunrListPath, body }]).files;
}

/** Path of the list of all indexes for programs, without a leading slash. */
const lunrListPath = "search/index.json";

const headBytesMax = 200;

/**
 * The list of all lunr files: the cause, the part, the path, how many documents and bytes. Depends on those files alone,
 * and parses only the beginning of each.
 */
function lunrList(blobs: Pick<Blobs, "find">, files: readonly NewFile[]): string {
  const shards = files.flatMap(({ path, digest, size, at }) => {
    const content = blobs.find(digest, at);
    const head = content && lunrHead(content.toString("utf8", 0, headBytesMax));
    if (head === null) return [];
    const { cause, part, parts, count } = head;
    return [
      { cause, part, parts, path: `/${path}`, documents: count, bytes: size, sha256: digest },
    ];
  });
  shards.sort((a, b) => (a.cause === b.cause ? a.part - b.part : a.cause < b.cause ? -1 : 1));
  return `${JSON.stringify({ format: "lunr 2.3", shards }, null, 1)}\n`;
}
