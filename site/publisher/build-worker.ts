import type { DonationNetwork } from "#content/contract/network.ts";
import { openListIndex } from "#content/nonprofit/list-index.ts";
import { openStore } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { openBlobs, openExport } from "#site/bundle/blobs.ts";
import type { DocumentKey } from "#site/documents/document.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { storeFiles } from "#site/bundle/publish-files.ts";
import { renderKeys } from "#site/documents/render-keys.ts";

/** What a rendering process is told when it starts. */
export type WorkerSettings = {
  storeUrl: string;
  storeToken: string | null;
  compiledFolder: string;
  baseUrl: string;
  network: DonationNetwork;
  blobsFolder: string;
  /** Where to put files at once, null to leave that to the publisher. */
  exportFolder: string | null;
};

/** What became of one batch of documents. */
export type BatchResult = {
  keys: number;
  files: NewFile[];
  /** Of these, paths whose content lay damaged among the blobs, and is whole again. */
  mended: string[];
  failed: { key: DocumentKey; error: string }[];
};

/** Renders batches of documents into blobs, for a publisher in another process. */
async function serve(settings: WorkerSettings): Promise<void> {
  const store = await openStore({
    url: settings.storeUrl,
    authToken: settings.storeToken ?? undefined,
    migrated: true,
  });
  const renderer = await openRenderer(settings.compiledFolder);
  const { baseUrl, network } = settings;
  const source = { store, lists: openListIndex(store), renderer, baseUrl, network };
  const damaged = new Set<string>();
  const blobs = openBlobs(settings.blobsFolder, {
    exclusive: settings.exportFolder !== null,
    onDamaged: (digest) => damaged.add(digest),
  });
  const exported = settings.exportFolder === null ? null : openExport(settings.exportFolder);
  const render = async (keys: DocumentKey[]): Promise<BatchResult> => {
    const { files, failed } = await renderKeys(keys, documentKinds, source);
    const { kept } = storeFiles({ blobs }, files);
    for (const { path, digest } of kept) exported?.put(path, blobs.pathOf(digest));
    const mended = kept.filter(({ digest }) => damaged.has(digest)).map(({ path }) => path);
    return { keys: keys.length, files: kept, mended, failed };
  };
  let last: Promise<void> = Promise.resolve();
  process.on("message", (keys: DocumentKey[]) => {
    last = last.then(async () => {
      try {
        process.send?.(await render(keys));
      } catch (error) {
        process.send?.({
          error: error instanceof Error ? (error.stack ?? error.message) : "unknown",
        });
      }
    });
  });
  process.send?.("ready");
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the publisher ends what it started.
process.on("SIGINT", () => {});
await serve(JSON.parse(process.argv[2] ?? "{}"));
