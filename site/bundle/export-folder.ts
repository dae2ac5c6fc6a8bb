import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { sha256Of } from "#content/runtime/digest.ts";
import { replaceFile } from "#content/runtime/files.ts";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { compressFromBytes } from "#content/contract/base/request.ts";
import { codeOf } from "#content/store/busy.ts";

export type ExportFolder = ReturnType<typeof openExport>;

/** Writes content into a new file. */
type WriteTo = (draft: string) => void;

const compressible = /\.(html|json|xml|txt|md|csv|yaml|css|m?js|svg)$/;

/** Brotli of quality 5 costs about 0.1 ms a page; 11 costs 6.5 ms for a few per cent. */
export const compressors = {
  br: (bytes: Uint8Array) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => gzipSync(bytes, { level: 6 }),
};

/** Read-only, because the next release replaces a file that somebody edits. */
const fileMode = 0o444;

/**
 * The bundle as a plain folder for any web server; each file is replaced atomically. A replaced file's time of change
 * rises by at least a second, even when older content returns: nginx and others make ETags of that second and the size,
 * so two versions in one second would look the same to a client that revalidates. With `precompress` each file has a
 * `.br` and a `.gz` sibling, for servers that send them as they are. Such servers do not check that a sibling is as new
 * as its file, so siblings are removed before the file changes, also those of an earlier setting.
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
    /** Puts what `write` writes at the path. */
    put: (path: string, write: WriteTo): void => {
      const target = `${folder}/${path}`;
      removeSiblings(target);
      try {
        show(target, write);
      } catch (error) {
        // The folder does not exist yet, or somebody removed it.
        if (codeOf(error) !== "ENOENT") throw error;
        mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
        show(target, write);
      }
      if (precompress) makeSiblings(folder, target);
    },
    /** Whether the file at the path has exactly this content. */
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
  for (const ending of ["br", "gz"]) rmSync(`${target}.${ending}`, { force: true });
}

function makeSiblings(folder: string, target: string): void {
  if (!compressible.test(target)) return;
  const content = readFileSync(target);
  if (content.length < compressFromBytes) return;
  // The same time of change, because servers make a sibling's ETag of it.
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
