import type { UnissuedList } from "#site/bundle/signed-list.ts";
import type { GivingLink } from "#content/nonprofit/ways-to-give.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { BundleContext } from "#site/bundle/release.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import type { DataFile, DataTask, DataFileSet } from "#site/data/make-data.ts";
import type { DocumentKey, DocumentKind, Source } from "#site/documents/document.ts";
import type { IndexTask, IndexFiles } from "#site/search/make-indexes.ts";

/** What all jobs of the publisher need. */
export type PublisherContext = BundleContext & {
  readonly source: Source;
  readonly kinds: readonly DocumentKind[];
  /** Runs tasks that take seconds, in this process or another. */
  readonly background: BackgroundWork;
  /** The settings of processes that work on the same bundle. */
  readonly workers: WorkerSettings;
  /** Digest of everything that determines a page except the store: the compiled site and its settings. */
  readonly inputsDigest: string;
};

/** What a worker receives when it starts. */
export type WorkerSettings = {
  storeUrl: string;
  storeToken: string | null;
  compiledFolder: string;
  baseUrl: string;
  network: DonationNetwork;
  isSample: boolean;
  givingLinks: readonly GivingLink[];
  bundleFolder: string;
};

/** Tasks that take seconds and commit nothing: their output lies in the worker's own segments until a job publishes it. */
export type SlowTasks = {
  makeLists(job: ListsTask): Promise<ListFiles>;
  draftFeed(job: FeedTask): Promise<FeedDraft>;
  makeIndexes(job: IndexTask): Promise<IndexFiles>;
  makeData(): Promise<DataFileSet>;
  writeDataFiles(task: DataTask): Promise<DataFile[]>;
  renderBatch(keys: DocumentKey[]): Promise<RenderedBatch>;
};

export type BackgroundWork = Pick<SlowTasks, "makeLists" | "draftFeed" | "makeData"> & {
  makeIndexes: (job: IndexTask, signal?: AbortSignal) => Promise<IndexFiles>;
  /** Aborts the running tasks if they run in another process. */
  close: () => void;
};

export type RenderedBatch = {
  keys: number;
  files: NewFile[];
  /** Paths in `files` whose content was damaged among the blobs and has been written again. */
  repaired: string[];
  failed: { key: DocumentKey; error: string }[];
};

/** Which changes the list job takes: those after `after`, up to `upTo`. */
export type ListsTask = { after: number; upTo: number; feedFiles: readonly number[] };

/** Documents that the changes made stale, rendered into blobs and not published yet. */
export type ListFiles = {
  keys: DocumentKey[];
  files: NewFile[];
  removed: string[];
  failed: { key: DocumentKey; error: string }[];
};

export type FeedTask = {
  /** Whether to make everything again, as a full build does. */
  full: boolean;
  /** The public keys, as they are published. */
  keySet: string;
};

/** The files by which mirrors learn of a release. They lie among the blobs, not published or signed yet. */
export type FeedDraft = {
  files: NewFile[];
  /** Shards that are split differently now, and a snapshot that is now published in parts alone. */
  removed: string[];
  /** The list of all files, not issued or signed yet. */
  root: UnissuedList;
  /** The release whose files the list names. */
  release: number;
  /** The mark of the snapshot parts from which the snapshot was joined (`snapshotState`). */
  snapshot_parts: string;
  epoch: string;
};
