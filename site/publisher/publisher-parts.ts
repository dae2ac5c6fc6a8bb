import type { Clock } from "#content/contract/time.ts";
import type { Blobs, ExportFolder } from "#site/bundle/blobs.ts";
import type { DocumentKey, DocumentKind, Source } from "#site/documents/document.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import type { SlowWork } from "./slow-jobs.ts";

/** What publishing needs, handed in once. */
export type PublisherParts = {
  readonly source: Source;
  readonly kinds: readonly DocumentKind[];
  readonly manifest: Manifest;
  readonly blobs: Blobs;
  readonly exported: ExportFolder;
  /** Does what takes seconds, here or in another process. */
  readonly slowWork: SlowWork;
  /** List pages that a burst of changes made stale, for when no change waits. The second lane renders them anyway. */
  readonly soon: Set<DocumentKey>;
  readonly clock: Clock;
  /** Digest of all that goes into a page beside the store. */
  readonly inputsDigest: string;
  readonly log: (event: string, detail?: Record<string, unknown>) => void;
};
