import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { replaceFile } from "#content/runtime/files.ts";
import { type ExportFolder, openExport } from "./export-folder.ts";

/** Shorter files hardly shrink. */
export const compressFromBytes = 1_024;
const compressible = /\.(html|json|xml|txt|md|csv|yaml|css|m?js|svg)$/;

/** Brotli of quality 5 costs about 0.1 ms a page; 11 costs 6.5 ms for a few per cent. */
export const compressors = {
  br: (whole: Uint8Array) =>
    brotliCompressSync(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (whole: Uint8Array) => gzipSync(whole, { level: 6 }),
};

/**
 * Opens the folder that web servers show. With `precompress` each of its files has a `.br` and a `.gz` beside it, for servers that
 * send them as they are. Such servers do not look whether a sibling is as new as its file, so it is taken away before
 * the file changes, also where an earlier setting left one.
 */
export function openWebExport(
  folder: string,
  { precompress }: { precompress: boolean },
): ExportFolder {
  const exported = openExport(folder);
  return {
    ...exported,
    put: (path, write) => {
      if (compressible.test(path)) removeSiblings(folder, path);
      exported.put(path, write);
      if (precompress && compressible.test(path)) makeSiblings(folder, path);
    },
    remove: (path) => {
      exported.remove(path);
      if (compressible.test(path)) removeSiblings(folder, path);
    },
  };
}

function removeSiblings(folder: string, path: string): void {
  rmSync(`${folder}/${path}.br`, { force: true });
  rmSync(`${folder}/${path}.gz`, { force: true });
}

function makeSiblings(folder: string, path: string): void {
  const content = readFileSync(`${folder}/${path}`);
  if (content.length < compressFromBytes) return;
  placeSibling(folder, `${path}.br`, compressors.br(content));
  placeSibling(folder, `${path}.gz`, compressors.gzip(content));
}

/** A sibling has its file's time of change, of which servers make its ETag. */
function placeSibling(folder: string, path: string, body: Uint8Array): void {
  const { atimeMs, mtimeMs } = statSync(`${folder}/${path.slice(0, -".br".length)}`);
  const write = (draft: string) => {
    writeFileSync(draft, body);
    utimesSync(draft, atimeMs / 1_000, mtimeMs / 1_000);
  };
  replaceFile(`${folder}/${path}`, write, folder);
}
