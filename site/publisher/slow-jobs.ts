import type { DocumentKey } from "#site/documents/document.ts";
import type { NewFile } from "#site/bundle/manifest.ts";

/** What takes seconds and commits nothing: what it makes lies among the blobs until a lane publishes it. */
export type SlowWork = {
  makeLists(job: ListsJob): Promise<MadeLists>;
  draftFeed(job: FeedJob): Promise<FeedDraft>;
  /** Gives up what is going on, where that is another process. */
  close(): void;
};

/** Which changes the second lane takes: those after `after`, up to `upTo`. */
export type ListsJob = { after: number; upTo: number; feedFiles: readonly number[] };

/** What the changes made stale, rendered into blobs and not published yet. */
export type MadeLists = {
  keys: DocumentKey[];
  kept: NewFile[];
  removed: string[];
  failed: { key: DocumentKey; error: string }[];
};

export type FeedJob = {
  /** Everything anew, as a full build does. */
  full: boolean;
  /** Whether the snapshot is joined again when its parts have changed. */
  joining: boolean;
  /** The public keys, as they are published. */
  keySet: string;
};

/** What tells mirrors of a release, among the blobs but not published or signed yet. */
export type FeedDraft = {
  files: NewFile[];
  /** The list of all files, to be signed. */
  root: string;
  /** The release of whose files it tells. */
  release: number;
  joined: Joined;
  epoch: string;
};

export type Joined = { snapshot_parts: string; snapshot_number: number; parts: number };
