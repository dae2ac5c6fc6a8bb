import { setPriority } from "node:os";
import { openStore } from "#content/store/open.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { type IndexJob, makeIndexes } from "./make-indexes.ts";

/** What an indexing process is told when it starts. */
export type IndexChildSettings = {
  storeUrl: string;
  storeToken: string | null;
  bundleFolder: string;
  blobsFolder: string;
  job: IndexJob;
};

const lowestPriority = 19;

// Run by search-lane.ts: makes indexes, tells what was made, ends. Whoever waits for a page goes first.
process.on("disconnect", () => process.exit(0));
setPriority(lowestPriority);
const settings = JSON.parse(process.argv[2] ?? "{}") as IndexChildSettings;
const store = await openStore({
  url: settings.storeUrl,
  authToken: settings.storeToken ?? undefined,
  migrated: true,
});
const manifest = openManifest(settings.bundleFolder, { readonly: true });
const blobs = openBlobs(settings.blobsFolder);
process.send?.(await makeIndexes({ store, manifest, blobs }, settings.job), () => process.exit(0));
