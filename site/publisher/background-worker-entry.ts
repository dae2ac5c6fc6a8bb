import { openListIndex } from "#content/nonprofit/list-index.ts";
import { openStore } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import type { WorkerSettings } from "./build-worker.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import type { FeedJob, ListsJob } from "./slow-jobs.ts";
import { slowWorkHere } from "./slow-work.ts";

export type SlowWorkSettings = Omit<WorkerSettings, "exportFolder"> & { bundleFolder: string };

/** One piece of work, and what became of it. */
export type SlowTask = { name: "makeLists"; job: ListsJob } | { name: "draftFeed"; job: FeedJob };
export type SlowAnswer = "ready" | { done: unknown } | { error: string };

/** Rendered pages and lists of files soon are garbage, which would be kept for as long as there is memory. */
const collectEveryMs = 250;

/** Does slow work for a publisher in another process, one piece after the other. */
async function serve(settings: SlowWorkSettings): Promise<void> {
  const { storeUrl: url, storeToken, baseUrl, network } = settings;
  const manifest = openManifest(settings.bundleFolder, { readonly: true });
  const store = await openStore({ url, authToken: storeToken ?? undefined, migrated: true });
  const work = slowWorkHere({
    source: {
      store,
      lists: openListIndex(store),
      renderer: await openRenderer(settings.compiledFolder),
      baseUrl,
      network,
    },
    kinds: documentKinds,
    manifest,
    blobs: openBlobs(settings.blobsFolder),
  });
  // The publisher commits between any two pieces of work; its log is copied here, where nobody waits.
  const checkpoint = () => {
    try {
      manifest.checkpoint();
    } catch {
      // A full disk, say: the publisher does it when its log has grown long.
    }
  };
  process.on("message", (task: SlowTask) => {
    const collecting = setInterval(() => Bun.gc(true), collectEveryMs);
    const done = task.name === "makeLists" ? work.makeLists(task.job) : work.draftFeed(task.job);
    void done
      .then(
        (value) => process.send?.({ done: value } satisfies SlowAnswer),
        (error: unknown) =>
          process.send?.({
            error: error instanceof Error ? (error.stack ?? error.message) : "unknown",
          } satisfies SlowAnswer),
      )
      .then(checkpoint)
      .finally(() => {
        clearInterval(collecting);
        Bun.gc(true);
      });
  });
  process.send?.("ready" satisfies SlowAnswer);
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the publisher decides what is still to be done.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
await serve(JSON.parse(process.argv[2] ?? "{}"));
