import { statSync, utimesSync } from "node:fs";
import type { ExportFolder } from "./blobs.ts";

/**
 * An export folder in which a file's time of change goes up by at least a second whenever its content is replaced, also
 * when an older content comes back. nginx and others make ETags of that second and the size: two versions of one
 * second would look the same to a reader who asks whether his is current.
 */
export function steadyTimes(exported: ExportFolder): ExportFolder {
  return {
    ...exported,
    put: (path, blob) => {
      const shown = statSync(`${exported.folder}/${path}`, { throwIfNoEntry: false });
      if (shown !== undefined) {
        const next = statSync(blob);
        const shownS = Math.floor(shown.mtimeMs / 1_000);
        if (next.ino !== shown.ino && Math.floor(next.mtimeMs / 1_000) <= shownS) {
          utimesSync(blob, next.atimeMs / 1_000, shownS + 1);
        }
      }
      exported.put(path, blob);
    },
  };
}
