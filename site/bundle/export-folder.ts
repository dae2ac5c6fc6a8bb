import { sha256Of } from "#content/runtime/digest.ts";
import { replaceFile } from "#content/runtime/files.ts";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { codeOf } from "#content/store/busy.ts";

export type ExportFolder = ReturnType<typeof openExport>;

/** Writes content into a new file. */
type WriteTo = (draft: string) => void;

/** Who edits a file in place would be surprised by the next release. */
const fileMode = 0o444;

/**
 * The bundle as a plain folder, for any web server: each file is put in place at once. Its time of change goes up by at
 * least a second whenever its content is replaced, also when an older content comes back: nginx and others make ETags of
 * that second and the size, and two versions of one second would look the same to a reader who asks whether his is current.
 */
export function openExport(folder: string) {
  mkdirSync(folder, { recursive: true });
  const show = (target: string, write: WriteTo) => {
    const writeNewer = (draft: string) => {
      write(draft);
      chmodSync(draft, fileMode);
      const shown = statSync(target, { throwIfNoEntry: false });
      const [nowMs, shownMs] = [statSync(draft).mtimeMs, shown?.mtimeMs ?? 0];
      const nextS = Math.floor(shownMs / 1_000) + 1;
      if (nowMs < nextS * 1_000) utimesSync(draft, nextS, nextS);
    };
    replaceFile(target, writeNewer, folder);
  };
  return {
    folder,
    /** Makes the path show what is written. */
    put: (path: string, write: WriteTo): void => {
      const target = `${folder}/${path}`;
      try {
        show(target, write);
      } catch (error) {
        // The first file of a folder, or somebody removed folders of ours.
        if (codeOf(error) !== "ENOENT") throw error;
        mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
        show(target, write);
      }
    },
    /** Whether the path shows this content and nothing else. */
    shows: (path: string, { digest, size }: { digest: string; size: number }): boolean => {
      const target = `${folder}/${path}`;
      const shown = statSync(target, { throwIfNoEntry: false });
      return shown?.size === size && sha256Of(readFileSync(target)) === digest;
    },
    remove: (path: string): void => rmSync(`${folder}/${path}`, { force: true }),
  };
}
