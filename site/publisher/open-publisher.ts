import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#content/rules/time.ts";
import { closeFeedFiles } from "#content/store/feed.ts";
import { openStore } from "#content/store/open.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { publishLunrList } from "#site/search/publish-indexes.ts";
import { openSearchLane, type SearchLane } from "#site/search/search-lane.ts";
import { openBlobs, removeDrafts } from "./blobs.ts";
import type { DocumentKind } from "./document.ts";
import { survivedBoot, syncAll } from "./durable.ts";
import { type FeedLane, openFeedLane } from "./feed-lane.ts";
import { sweepBlobs } from "./sweep.ts";
import { buildAll, type FullBuildOptions, type FullBuildOutcome } from "./full-build.ts";
import { takePublisherLock } from "./lock.ts";
import { openManifest } from "./manifest.ts";
import { precompressFolder } from "./precompress.ts";
import { bringExportInStep } from "./publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { openWebExport } from "./web-export.ts";
import { openSigner } from "./signing.ts";

export type PublisherSettings = {
  dataDir: string;
  databaseUrl: string;
  databaseToken: string | undefined;
  /** Without a trailing slash. */
  baseUrl: string;
  /** Where compiled sites are kept; default in the data folder. */
  compiledFolder?: string;
  /** Ed25519 private key by which the list of all files is signed: PKCS#8, PEM. */
  signingKey: string;
  /** Whether exported files have compressed siblings; default no. */
  precompress?: boolean;
  /** Whether there is a search index for people; default no. */
  searchIndex?: boolean;
  log: PublisherParts["log"];
};

/** Where things lie in the data folder. */
export const publisherFolders = (dataDir: string) => ({
  bundle: join(dataDir, "bundle"),
  blobs: join(dataDir, "bundle", "blobs"),
  /** The bundle as plain files, for any web server. */
  exported: join(dataDir, "public"),
  compiled: join(dataDir, "site"),
});

type BuildOptions = Pick<FullBuildOptions, "processes" | "onProgress"> & {
  /** Only these documents, for measuring them; the bundle is not complete then. */
  kinds?: readonly DocumentKind[];
};

export type Publisher = {
  readonly parts: PublisherParts;
  /** What tells mirrors of the releases; to run after each lane that made one. */
  readonly feedLane: FeedLane;
  /** What keeps search indexes in step; to run when nobody waits. */
  readonly searchLane: SearchLane;
  /** Renders everything anew and makes it durable. */
  buildAll(options?: BuildOptions): Promise<FullBuildOutcome>;
  /** Whether there is no release yet, or the site or the base URL is another than the release's. */
  isOutdated(): boolean;
  close(): void;
};

/**
 * Opens all that publishing needs and takes the publisher's place in the data folder. Compiles the site when its
 * sources changed (about 2 s). Throws PublisherBusy when another process publishes there.
 */
export async function openPublisher(settings: PublisherSettings): Promise<Publisher> {
  const folders = publisherFolders(settings.dataDir);
  const { precompress = false, searchIndex: pagefind = false } = settings;
  mkdirSync(folders.bundle, { recursive: true });
  const signer = await openSigner(settings.signingKey);
  const lock = takePublisherLock(folders.bundle);
  const store = await openStore({ url: settings.databaseUrl, authToken: settings.databaseToken });
  const compiled = await compileSite(settings.compiledFolder ?? folders.compiled);
  const renderer = await openRenderer(compiled.folder);
  const parts: PublisherParts = {
    source: { store, renderer, baseUrl: settings.baseUrl },
    kinds: documentKinds,
    manifest: openManifest(folders.bundle),
    blobs: openBlobs(folders.blobs),
    exported: await openWebExport(folders.exported, { precompress }),
    clock: systemClock,
    inputsDigest: inputsDigestOf(renderer.digest, settings.baseUrl),
    log: settings.log,
  };
  repair(parts);
  const workerSettings = {
    storeUrl: settings.databaseUrl,
    storeToken: settings.databaseToken ?? null,
    compiledFolder: compiled.folder,
  };
  const building = { settings: workerSettings, prepare: closeFeed };
  const feedLane = openFeedLane(parts, signer);
  const buildSome = async (some: PublisherParts, options: BuildOptions) => {
    const outcome = await buildAll(some, { ...options, settings: workerSettings });
    await syncAll(parts);
    return outcome;
  };
  return {
    parts,
    feedLane,
    searchLane: openSearchLane(parts, { ...workerSettings, pagefind }),
    buildAll: async ({ kinds, ...options } = {}) => {
      if (kinds !== undefined) return buildSome({ ...parts, kinds }, options);
      // A snapshot that merely lags behind its parts must not be told as a difference.
      if (parts.manifest.state().current_release > 0) await feedLane.run({});
      const outcome = await buildAll(parts, { ...options, ...building });
      const indexes = publishLunrList(parts);
      const { release, changed } = await feedLane.run({ full: true });
      await syncAll(parts);
      // Workers that fill an export nobody reads yet leave siblings to this.
      if (precompress) await precompressFolder(folders.exported);
      await sweepBlobs(parts);
      const later = [...indexes.changed, ...changed];
      const differing = [...outcome.differing, ...later.map(({ path }) => path)];
      return { ...outcome, release, differing };
    },
    isOutdated: () => parts.manifest.state().inputs_digest !== parts.inputsDigest,
    close: () => {
      parts.manifest.close();
      store.close();
      lock.release();
    },
  };
}

/** A build renders the change feed as well: files that are due have to be closed before. */
async function closeFeed({ manifest, source, clock }: PublisherParts, upTo: number): Promise<void> {
  const { slow_sequence } = manifest.state();
  await closeFeedFiles(source.store, { after: slow_sequence, upTo, now: clock() });
}

/** Mends what a publisher that was killed, or a machine that went down, left behind. */
function repair(parts: PublisherParts): void {
  const { manifest, blobs, exported } = parts;
  removeDrafts(exported.folder);
  removeDrafts(blobs.folder);
  if (survivedBoot(parts)) return bringExportInStep(parts);
  const { exported_release, durable_release } = manifest.state();
  manifest.setState({
    inputs_digest: "",
    exported_release: Math.min(exported_release, durable_release),
  });
}

/** All that goes into a page beside the store. */
const inputsDigestOf = (siteDigest: string, baseUrl: string): string =>
  createHash("sha256").update(`${siteDigest}\0${baseUrl}`).digest("hex");
