import type { UnissuedList } from "#site/bundle/signed-list.ts";
import type { GivingLink } from "#content/nonprofit/ways-to-give.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { BundleContext } from "#site/bundle/release.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import type { DataFile, DataTask, DataFileSet } from "#site/data/make-data.ts";
import type { DocumentKey, DocumentKind, Source } from "#site/documents/document.ts";
import type { IndexTask, IndexFiles } from "#site/search/make-indexes.ts";

/** What publishing needs, handed in once. */
export type PublisherContext = BundleContext & {
  readonly source: Source;
  readonly kinds: readonly DocumentKind[];
  /** Does what takes seconds, here or in another process. */
  readonly background: BackgroundWork;
  /** How processes are started that work on the same bundle. */
  readonly workers: WorkerSettings;
  /** Digest of all that goes into a page beside the store. */
  readonly inputsDigest: string;
};

/** What a worker is told when it starts. */
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

/** What takes seconds and commits nothing: what it makes lies in segments of its own until a job publishes it. */
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
  /** Gives up what is going on, where that is another process. */
  close: () => void;
};

export type RenderedBatch = {
  keys: number;
  files: NewFile[];
  /** Of these, paths whose content lay damaged among the blobs, and is whole again. */
  repaired: string[];
  failed: { key: DocumentKey; error: string }[];
};

/** Which changes the list job takes: those after `after`, up to `upTo`. */
export type ListsTask = { after: number; upTo: number; feedFiles: readonly number[] };

/** What the changes made stale, rendered into blobs and not published yet. */
export type ListFiles = {
  keys: DocumentKey[];
  files: NewFile[];
  removed: string[];
  failed: { key: DocumentKey; error: string }[];
};

export type FeedTask = {
  /** Everything again, as a full build does. */
  full: boolean;
  /** The public keys, as they are published. */
  keySet: string;
};

/** What tells mirrors of a release, among the blobs but not published or signed yet. */
export type FeedDraft = {
  files: NewFile[];
  /** Lists that are split otherwise now, and a snapshot that has outgrown its file. */
  removed: string[];
  /** The list of all files, to be issued and signed. */
  root: UnissuedList;
  /** The release of whose files it tells. */
  release: number;
  /** What told the parts of the snapshot that it goes with. */
  snapshot_parts: string;
  epoch: string;
};
