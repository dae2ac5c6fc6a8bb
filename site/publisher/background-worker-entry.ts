import { codeOf } from "#content/store/busy.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import { atMostEvery, processorMs } from "#content/runtime/timing.ts";
import { openStore } from "#content/store/open.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { dataPackageIn } from "#site/bundle/snapshot.ts";
import { makeData, writeDataFiles } from "#site/data/make-data.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { makeIndexes } from "#site/search/make-indexes.ts";
import { renderBatch, type Task, type WorkerMessage } from "./background-worker.ts";
import type { SlowTasks, WorkerSettings } from "./context.ts";
import { draftFeed } from "./feed-job.ts";
import { makeLists } from "./list-job.ts";

/**
 * Rendered pages and lists of files soon become garbage; the engine would keep them for as long as memory lasts. This is
 * processor time: beside busy processes there is little of it, and collecting by the clock would leave none for the work.
 */
const collectEveryMs = 250;
const isGarbageDue = atMostEvery(collectEveryMs, processorMs);

// background-worker.ts starts this process: it does one task after the other for a publisher in another process.
const settings: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");
const { baseUrl, network, isSample, givingLinks } = settings;
const store = await openStore({
  url: settings.storeUrl,
  authToken: settings.storeToken ?? undefined,
  migrated: true,
});
const manifest = openManifest(settings.bundleFolder, { readonly: true });
const damagedDigests = new Set<string>();
const blobs = openBlobs(manifest, { onDamaged: (digest) => damagedDigests.add(digest) });
let opened: ReturnType<typeof openRendering> | undefined;
/** The first task that renders opens it; making an index needs no compiled site. */
const rendering = () => (opened ??= openRendering());

async function openRendering() {
  const renderer = await openRenderer(settings.compiledFolder);
  const lists = openListIndex(store);
  const dataPackage = dataPackageIn(manifest, blobs);
  const source = { store, lists, renderer, dataPackage, baseUrl, network, isSample, givingLinks };
  return { source, kinds: documentKinds, manifest, blobs };
}

const tasks: SlowTasks = {
  makeIndexes: (job) => makeIndexes({ store, manifest, blobs }, job),
  makeData: () => makeData({ manifest, blobs, baseUrl }),
  writeDataFiles,
  renderBatch: async (keys) => renderBatch(await rendering(), damagedDigests, keys),
  makeLists: async (job) => makeLists(await rendering(), job),
  draftFeed: async (job) => draftFeed(await rendering(), job),
};

const answer = ({ id, name, input }: Task): Promise<WorkerMessage> =>
  // The publisher sends the input that the task of this name takes.
  tasks[name](input as never).then(
    (done) => ({ id, done }),
    (error: Error) => ({ id, failure: error.stack ?? error.message, code: codeOf(error) }),
  );

function collectGarbage(): void {
  if (isGarbageDue()) Bun.gc(true);
}

/** Runs after every task but `renderBatch`: gives memory back, and copies the manifest's write-ahead log into its file. */
function tidyUp(): void {
  Bun.gc(true);
  try {
    // The publisher commits between two tasks and must not wait for the disk; no one waits for this process.
    manifest.checkpoint();
  } catch {
    // The disk may be full. The publisher checkpoints when the log has grown long.
  }
}

let last: Promise<void> = Promise.resolve();
process.on("message", (task: Task) => {
  last = last.then(async () => {
    const isBatch = task.name === "renderBatch";
    const collector = isBatch ? undefined : setInterval(collectGarbage, collectEveryMs);
    process.send?.(await answer(task));
    clearInterval(collector);
    if (!isBatch) tidyUp();
  });
});
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole process group; the publisher ends the processes that it started.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
process.send?.("ready" satisfies WorkerMessage);
