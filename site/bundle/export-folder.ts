import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { codeOf } from "./blobs.ts";

export type ExportFolder = ReturnType<typeof openExport>;

/** The bundle as a plain folder, for any web server: hard links to blobs, each put in place at once. */
export function openExport(folder: string) {
  mkdirSync(folder, { recursive: true });
  const known = new Set<string>();
  const parentOf = (target: string) => {
    const parent = target.slice(0, target.lastIndexOf("/"));
    if (known.has(parent)) return;
    mkdirSync(parent, { recursive: true });
    known.add(parent);
  };
  let drafts = 0;
  const show = (blob: string, target: string) => {
    parentOf(target);
    try {
      linkSync(blob, target);
    } catch (error) {
      if (codeOf(error) !== "EEXIST" && !withoutLink.has(codeOf(error))) throw error;
      if (codeOf(error) === "EEXIST" && isSameFile(target, blob)) return;
      const draft = `${folder}/.${process.pid}-${drafts++}.draft`;
      linkOrCopy(blob, draft);
      renameSync(draft, target);
    }
  };
  return {
    folder,
    /** Makes the path show this blob. */
    put: (path: string, blob: string): void => {
      const target = `${folder}/${path}`;
      try {
        show(blob, target);
      } catch (error) {
        // Somebody removed folders of ours: they are made again, once.
        if (codeOf(error) !== "ENOENT" || !existsSync(blob)) throw error;
        known.clear();
        show(blob, target);
      }
    },
    /** Whether the path shows this blob and nothing else. */
    shows: (path: string, blob: string): boolean => {
      const target = `${folder}/${path}`;
      if (!existsSync(target)) return false;
      return isSameFile(target, blob) || readFileSync(target).equals(readFileSync(blob));
    },
    remove: (path: string): void => rmSync(`${folder}/${path}`, { force: true }),
    clear: (): void => {
      known.clear();
      for (const name of readdirSync(folder)) {
        rmSync(`${folder}/${name}`, { recursive: true, force: true });
      }
    },
  };
}

/**
 * An export folder in which a file's time of change goes up by at least a second whenever its content is replaced, also
 * when an older content comes back. nginx and others make ETags of that second and the size: two versions of one
 * second would look the same to a reader who asks whether his is current.
 */
export function monotonicMtime(exported: ExportFolder): ExportFolder {
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

/** Renaming one name of a file over another does nothing and leaves the draft behind. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
}

/**
 * Why a file gets no second name: a file system allows only so many (65,000 on ext4), or knows none, or the folder is
 * mounted from elsewhere. Then its content is copied.
 */
const withoutLink: ReadonlySet<string> = new Set(["EMLINK", "EXDEV", "EPERM", "ENOTSUP"]);

function linkOrCopy(blob: string, draft: string): void {
  try {
    linkSync(blob, draft);
  } catch (error) {
    if (!withoutLink.has(codeOf(error))) throw error;
    try {
      copyFileSync(blob, draft);
    } catch (failed) {
      rmSync(draft, { force: true });
      throw failed;
    }
  }
}
