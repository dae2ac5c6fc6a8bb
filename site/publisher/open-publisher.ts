import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock } from "#content/contract/base/time.ts";
import { feedPaths } from "#content/contract/feed.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { beginEpoch, findEpoch } from "#content/feed/store.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import { changeMark, newestSequence } from "#content/nonprofit/changes-store.ts";
import type { GivingLink } from "#content/nonprofit/ways-to-give.ts";
import { holdsSample, sampleTrouble } from "#content/operation/directory-facts-store.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import { openDisposable, setAside } from "#content/runtime/files.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { openBlobs, removeDrafts } from "#site/bundle/blobs.ts";
import { survivedBoot } from "#site/bundle/durable.ts";
import { type ExportFolder, openExport } from "#site/bundle/export-folder.ts";
import { checkExport, exportRelease } from "#site/bundle/export-release.ts";
import { openCompaction } from "#site/bundle/garbage-collection.ts";
import {
  isManifestDamaged,
  type Manifest,
  manifestPath,
  openManifest,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import { dataPackageIn } from "#site/bundle/snapshot.ts";
import { documentKinds, picture } from "#site/documents/kinds.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer } from "#site/renderer/renderer.ts";
import { openSearchJob } from "#site/search/search-job.ts";
import { workApart, workHere } from "./background-worker.ts";
import type { PublisherContext } from "./context.ts";
import { openFeedJob } from "./feed-job.ts";
import { type BuildOptions, type FullBuildOutcome, buildBundle } from "./full-build.ts";
import { takePublisherLock } from "./lock.ts";

export type PublisherSettings = {
  dataDir: string;
  /** The bundle as plain files, for any web server; null for none, the default. */
  publicDir?: string | null;
  databaseUrl: string;
  databaseToken: string | undefined;
  /** Without a trailing slash. */
  baseUrl: string;
  network: DonationNetwork;
  /** Services that take donations for nonprofits; default none. */
  givingLinks?: readonly GivingLink[];
  /** The folder of compiled sites; default in the data folder. */
  compiledFolder?: string;
  /** Ed25519 private key that signs the list of all files: PKCS#8, PEM. */
  signingKey: string;
  /** For how many days mirrors accept the signed list as the newest one; default 7. */
  listValidDays?: number;
  /** Whether exported files have compressed siblings; default no. */
  precompress?: boolean;
  /** Whether there is a search index for people; default no. */
  searchIndex?: boolean;
  /** Whether there are pictures for other sites; default no. */
  pictures?: boolean;
  /** Whether slow work runs in child processes, so that a running publisher stays free; default no. */
  apart?: boolean;
  log: PublisherContext["log"];
};

/** Logged for a damaged file that is made again from the store. */
const damagedMessage =
  "a damaged file was moved away (.damaged); what it held is made again from the store";

export type Publisher = Awaited<ReturnType<typeof openPublisher>>;

/**
 * Opens all that publishing needs and takes the publisher's lock in the data folder. Compiles the site when its sources
 * changed (about 2 s). Throws PublisherBusy when another process publishes there.
 */
export async function openPublisher(settings: PublisherSettings) {
  const folders = publisherFolders(settings.dataDir);
  const {
    baseUrl,
    network,
    givingLinks = [],
    apart = false,
    listValidDays = 7,
    publicDir = null,
    precompress = false,
    searchIndex: pagefind = false,
  } = settings;
  mkdirSync(folders.bundle, { recursive: true });
  const signer = await openSigner(settings.signingKey);
  const onDamaged = (file: string) => settings.log(damagedMessage, { error: "damaged", file });
  const lock = takePublisherLock(folders.bundle, onDamaged);
  const store = await openedStore(settings, lock);
  const site = await compileSite(settings.compiledFolder ?? folders.compiled);
  const renderer = await openRenderer(site.folder);
  const inputs = { baseUrl, network, givingLinks, isSample: await holdsSample(store) };
  const workers = {
    storeUrl: settings.databaseUrl,
    storeToken: settings.databaseToken ?? null,
    compiledFolder: site.folder,
    ...inputs,
    bundleFolder: folders.bundle,
  };
  const manifest = openDisposable(
    manifestPath(folders.bundle),
    () => openManifest(folders.bundle, { checkpointsApart: apart }),
    onDamaged,
  );
  const blobs = openBlobs(manifest);
  const dataPackage = dataPackageIn(manifest, blobs);
  const parts = {
    source: { store, lists: openListIndex(store), renderer, dataPackage, ...inputs },
    kinds: kindsOf(settings),
    manifest,
    blobs,
  };
  const context: PublisherContext = {
    ...parts,
    workers,
    background: apart ? workApart(workers) : workHere(parts, workers),
    exported: publicDir === null ? null : openExport(publicDir, { precompress }),
    clock: systemClock,
    inputsDigest: sha256Of(`${renderer.digest}\0${JSON.stringify(inputs)}`),
    log: settings.log,
  };
  const close = (): void => {
    for (const open of [context.background, blobs, context.manifest, store, lock]) open.close();
  };
  try {
    repair(context, precompress);
  } catch (error) {
    close();
    throw error;
  }
  await detectRestoredStore(context);
  const feedJob = openFeedJob(context, signer, { listValidDays });
  const { makeIndexes } = context.background;
  const searchJob = openSearchJob(context, { pagefind, makeIndexes });
  return {
    context,
    signer,
    /** Publishes the feed and the signed list for mirrors. Run it after each job that made a release. */
    feedJob,
    /** Keeps search indexes up to date. Run it when nothing else waits. */
    searchJob,
    /** Renders everything again. The caller makes the result durable (`syncAll`, `makeDurable`). */
    buildAll: (options: BuildOptions = {}): Promise<FullBuildOutcome> =>
      buildBundle({ context, feedJob, searchJob }, options),
    /**
     * Work after a build for which no one waits: restores files that were changed in the export folder, and compacts the
     * segments. `first`: the export is new, so it is not checked.
     */
    tidy: (options: { first: boolean }): Promise<void> => tidy(context, options),
    /** Whether there is no release yet, or the site, the base URL or another input differs from that of the release. */
    isOutdated: (): boolean => context.manifest.state().inputs_digest !== context.inputsDigest,
    close,
  };
}

/**
 * Moves a manifest away if SQLite finds it damaged, so that the next publisher builds everything. Then calls `onDropped`,
 * for those who have it open.
 */
export function dropDamagedManifest(
  dataDir: string,
  log: Pick<Logger, "error">,
  onDropped: () => void = () => {},
): void {
  const { bundle } = publisherFolders(dataDir);
  if (!isManifestDamaged(bundle)) return;
  const file = manifestPath(bundle);
  setAside(file);
  log.error({ file }, damagedMessage);
  onDropped();
}

/** Opens the store. Throws when it holds data that must not be shown on this network. */
async function openedStore(
  { databaseUrl, databaseToken, network }: PublisherSettings,
  lock: { close(): void },
): Promise<Store> {
  const store = await openStore({ url: databaseUrl, authToken: databaseToken, create: false });
  const trouble = await sampleTrouble(store, network);
  if (trouble === null) return store;
  store.close();
  lock.close();
  throw new Error(trouble);
}

const kindsOf = ({ pictures = false }: PublisherSettings) =>
  pictures ? documentKinds : documentKinds.filter((kind) => kind !== picture);

async function tidy(context: PublisherContext, { first }: { first: boolean }): Promise<void> {
  const wrongPaths = first ? [] : await checkExport(context);
  if (wrongPaths.length > 0) {
    const detail = { files: wrongPaths.length, paths: wrongPaths.slice(0, pathsLoggedMax) };
    context.log("files in the export folder had been changed; they are restored", detail);
  }
  const compact = openCompaction(context);
  while (compact()) await Bun.sleep(0);
}

const pathsLoggedMax = 20;

/** Repairs what a killed publisher or a crashed machine left behind. */
function repair(context: PublisherContext, precompress: boolean): void {
  const { manifest, blobs, exported } = context;
  if (exported !== null) {
    takeFolder(manifest, exported, precompress);
    removeDrafts(exported.folder);
  }
  removeDrafts(blobs.folder);
  if (survivedBoot(context)) return exportRelease(context);
  const { exported_release, durable_release } = manifest.state();
  manifest.setState({
    inputs_digest: "",
    exported_release: Math.min(exported_release, durable_release),
  });
}

/**
 * Notes the export folder in the manifest, and has it filled if it is new or empty or `precompress` changed. Throws when
 * it holds files that no publisher put there, because files in it are replaced and removed.
 */
function takeFolder(manifest: Manifest, { folder }: ExportFolder, precompress: boolean): void {
  const { exported_folder } = manifest.state();
  const isEmpty = readdirSync(folder).length === 0;
  const folderNote = precompress ? `${folder} precompressed` : folder;
  const isNoted = exported_folder === folderNote;
  // The manifest may have been lost, and with it the note.
  if (!isEmpty && !isNoted && !existsSync(join(folder, feedPaths.manifest))) {
    throw new Error(
      `ALMONER_PUBLIC_DIR: ${folder} is not empty, and holds no published directory. Name an empty folder, or remove its contents.`,
    );
  }
  manifest.setState({ exported_folder: folderNote });
  if (isEmpty || !isNoted) manifest.setState({ exported_release: 0 });
}

/**
 * Finds out whether the bundle was made from another store, or from another past of this one (a restored backup, which
 * may have grown since). Then what is published is wrong, new changes would count as published, and their numbers mean
 * other changes. So everything becomes stale, the feed begins a new epoch, and older releases serve for a rollback only.
 */
export async function detectRestoredStore({
  manifest,
  source: { store },
  clock,
  log,
}: PublisherContext): Promise<void> {
  const { current_release, fast_sequence, epoch, known_change } = manifest.state();
  if (current_release === 0) return;
  const newest = await newestSequence(store);
  const mark = await changeMark(store, Number.parseInt(known_change || `${fast_sequence}`, 10));
  const isAnother = epoch !== "" && (await findEpoch(store)) !== epoch;
  if (!isAnother && newest >= fast_sequence && (known_change || mark) === mark) {
    return manifest.setState({ known_change: mark });
  }
  log(
    "the store is another one, or has another past, than what is published: rendering everything again",
    { error: "restored", published_to: fast_sequence, newest_change: newest },
  );
  const numbers = manifest
    .under("changes/")
    .map(({ path }) => Number(/\/(\d+)\.json$/.exec(path)?.[1] ?? 0));
  const published = Math.max(0, ...numbers);
  const begun = await beginEpoch(store, { published, now: clock() });
  const newestMark = await changeMark(store, newest);
  const transaction = manifest.db.transaction(() => {
    manifest.db.run("UPDATE files SET as_of = 0");
    manifest.db.run("UPDATE releases SET fast_sequence = 0, slow_sequence = 0, inputs_digest = ''");
    manifest.setState({
      fast_sequence: newest,
      slow_sequence: newest,
      known_change: newestMark,
      search_sequence: 0,
      inputs_digest: "",
      epoch: begun,
    });
  });
  transaction.immediate();
}
