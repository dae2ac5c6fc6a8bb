import type { Clock } from "#content/rules/time.ts";
import type { Blobs, ExportFolder } from "./blobs.ts";
import type { DocumentKind, Source } from "./document.ts";
import type { Manifest } from "./manifest.ts";

/** What publishing needs, handed in once. */
export type PublisherParts = {
  readonly source: Source;
  readonly kinds: readonly DocumentKind[];
  readonly manifest: Manifest;
  readonly blobs: Blobs;
  readonly exported: ExportFolder;
  readonly clock: Clock;
  /** Digest of all that goes into a page beside the store. */
  readonly inputsDigest: string;
  readonly log: (event: string, detail?: Record<string, unknown>) => void;
};
