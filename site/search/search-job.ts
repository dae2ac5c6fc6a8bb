import { oneByOne } from "#content/runtime/concurrency.ts";
import { sha256OfFiles } from "#content/runtime/digest.ts";
import { join } from "node:path";
import type { Blobs } from "#site/bundle/blobs.ts";
import { publishInSlices, publishRelease } from "#site/bundle/export-release.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { type ReleaseOutcome, storeFiles, type BundleContext } from "#site/bundle/release.ts";
import { lunrHead } from "#site/documents/lunr.ts";
import type { IndexTask, IndexFiles } from "./make-indexes.ts";

/** The slowest of the publisher's jobs: search indexes, made beside all else. */
export type SearchJob = ReturnType<typeof openSearchJob>;

export type SearchSettings = {
  /** Whether there is an index for people; those for programs are always kept in step. */
  pagefind: boolean;
  /** Makes indexes, here or in another process. */
  makeIndexes: (job: IndexTask, signal?: AbortSignal) => Promise<IndexFiles>;
};

/** From one run that changed indexes to the next. */
const gapMs = 30_000;
const afterFailureMs = 300_000;

const root = join(import.meta.dirname, "../..");
/** What goes into an index for people beside the store: another version of these makes all shards stale. */
const inputFiles = [
  "site/documents/lunr.ts",
  "site/search/make-indexes.ts",
  "content/editorial/causes.json",
  "content/editorial/countries.json",
  "node_modules/pagefind/package.json",
];

/** Opens the job. Its first run looks at everything; later ones only when the lists have moved on. */
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
    // An operator went back to an older release meanwhile: it has to show its own.
    if (context.manifest.state().held_at > 0) return null;
    const outcome = await publishIndexes(context, indexes, inputs);
    looked = true;
    return outcome.changed.length + outcome.removed.length > 0 ? outcome : null;
  };
  const inTurn = oneByOne();
  const run = ({ signal }: { signal?: AbortSignal } = {}): Promise<ReleaseOutcome | null> =>
    inTurn(() => once(signal));
  // What an earlier process published just before it ended may not be in the indexes.
  let isNoticed = true;
  let afterMs = 0;
  return {
    /** Says that there is a release whose content the indexes may not have. */
    notice: (): void => {
      isNoticed = true;
    },
    dueAtMs: (): number | null => (isNoticed ? afterMs : null),
    /** Runs at a distance from the run before, and logs a failure: no one waits for an index. */
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
    /** Has the next run look at everything: files may be gone. */
    lookAgain: (): void => {
      looked = !settings.pagefind;
    },
    /**
     * Makes all indexes again that changes since the last run touch, and publishes them as one release; null when there
     * was nothing to do. Waits for the run before it. Throws when it fails; what is published stays as it is then.
     */
    run,
  };
}

/** Whether lists have moved on, or an operator went back and forth again. */
function isBehind({ manifest }: BundleContext): boolean {
  const { search_sequence, slow_sequence } = manifest.state();
  if (search_sequence < slow_sequence) return true;
  return manifest.under("search/").some(({ as_of }) => as_of === 0);
}

/**
 * Makes indexes current, as one release. What older indexes of Pagefind named stays a while for pages that are open.
 * Throws when a file went from the blobs meanwhile: then the indexes have to be made again.
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
    // A rollback leaves Pagefind's files alone, for half of an index finds nothing.
    withoutHistory: "pagefind/",
    // The first change is number 1, and a file as of 0 counts as old.
    asOf: Math.max(made.asOf, 1),
    state: { search_inputs, search_sequence: made.asOf },
  });
}

/** Brings the list of lunr files in step with those of a full build. */
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
    // A full build overtook this one.
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
 * The list of all lunr files: which cause and part, where, how many documents and bytes. Depends on those files alone,
 * and reads no more than the beginning of each.
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
