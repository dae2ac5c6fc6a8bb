import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { sha256Of } from "#content/runtime/digest.ts";
import { replaceFile } from "#content/runtime/files.ts";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { codeOf } from "#content/store/busy.ts";

export type ExportFolder = ReturnType<typeof openExport>;

/** Writes content into a new file. */
type WriteTo = (draft: string) => void;

/** Shorter files hardly shrink. */
export const compressFromBytes = 1_024;
const compressible = /\.(html|json|xml|txt|md|csv|yaml|css|m?js|svg)$/;

/** Brotli of quality 5 costs about 0.1 ms a page; 11 costs 6.5 ms for a few per cent. */
export const compressors = {
  br: (whole: Uint8Array) =>
    brotliCompressSync(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (whole: Uint8Array) => gzipSync(whole, { level: 6 }),
};

/** Who edits a file in place would be surprised by the next release. */
const fileMode = 0o444;

/**
 * The bundle as a plain folder, for any web server: each file is put in place at once. Its time of change goes up by at
 * least a second whenever its content is replaced, also when an older content comes back: nginx and others make ETags of
 * that second and the size, and two versions of one second would look the same to a reader who asks whether his is current.
 * With `precompress` each file has a `.br` and a `.gz` beside it, for servers that send them as they are. Such servers do
 * not look whether a sibling is as new as its file, so it is taken away before the file changes, also where an earlier
 * setting left one.
 */
export function openExport(folder: string, { precompress = false } = {}) {
  mkdirSync(folder, { recursive: true });
  const show = (target: string, write: WriteTo) => {
    const writeNewer = (draft: string) => {
      write(draft);
      chmodSync(draft, fileMode);
      const beforeMs = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const nextS = Math.floor(beforeMs / 1_000) + 1;
      if (statSync(draft).mtimeMs < nextS * 1_000) utimesSync(draft, nextS, nextS);
    };
    replaceFile(target, writeNewer, folder);
  };
  return {
    folder,
    /** Makes the path show what is written. */
    put: (path: string, write: WriteTo): void => {
      const target = `${folder}/${path}`;
      removeSiblings(target);
      try {
        show(target, write);
      } catch (error) {
        // The first file of a folder, or somebody removed folders of ours.
        if (codeOf(error) !== "ENOENT") throw error;
        mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
        show(target, write);
      }
      if (precompress) makeSiblings(folder, target);
    },
    /** Whether the path shows this content and nothing else. */
    shows: (path: string, { digest, size }: { digest: string; size: number }): boolean => {
      const target = `${folder}/${path}`;
      const sizeNow = statSync(target, { throwIfNoEntry: false })?.size;
      return sizeNow === size && sha256Of(readFileSync(target)) === digest;
    },
    remove: (path: string): void => {
      rmSync(`${folder}/${path}`, { force: true });
      removeSiblings(`${folder}/${path}`);
    },
  };
}

function removeSiblings(target: string): void {
  if (!compressible.test(target)) return;
  for (const ending of ["br", "gz"]) {
    const sibling = `${target}.${ending}`;
    // To remove what is not there costs several times as much as to look.
    if (existsSync(sibling)) rmSync(sibling, { force: true });
  }
}

function makeSiblings(folder: string, target: string): void {
  if (!compressible.test(target)) return;
  const content = readFileSync(target);
  if (content.length < compressFromBytes) return;
  // Servers make a sibling's ETag of its time of change.
  const { atimeMs, mtimeMs } = statSync(target);
  for (const [ending, compress] of [
    ["br", compressors.br],
    ["gz", compressors.gzip],
  ] as const) {
    const write = (draft: string) => {
      writeFileSync(draft, compress(content));
      utimesSync(draft, atimeMs / 1_000, mtimeMs / 1_000);
    };
    replaceFile(`${target}.${ending}`, write, folder);
  }
}
