import type { Clock } from "#content/contract/base/time.ts";
import type { Blobs } from "./blobs.ts";
import type { ExportFolder } from "./export-folder.ts";
import type { Manifest } from "./manifest.ts";

/** A bundle and what is needed to change it. */
export type BundleContext = {
  readonly manifest: Manifest;
  readonly blobs: Blobs;
  /** The bundle as a plain folder, for any web server. */
  readonly exported: ExportFolder;
  readonly clock: Clock;
  readonly log: (event: string, detail?: Record<string, unknown>) => void;
};
