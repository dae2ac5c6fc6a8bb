import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { everyPath } from "#content/runtime/files.ts";
import { type ExportFolder, monotonicMtime, openExport } from "./export-folder.ts";

/** Shorter files hardly shrink. */
export const compressFromBytes = 1_024;
const compressible = /\.(html|json|xml|txt|md|csv|yaml|css|m?js|svg)$/;
const sibling = /^(.+)\.(br|gz)$/;

/** Brotli of quality 5 costs about 0.1 ms a page; 11 costs 6.5 ms for a few per cent. */
export const compressors = {
  br: (whole: Uint8Array) =>
    brotliCompressSync(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (whole: Uint8Array) => gzipSync(whole, { level: 6 }),
};

/**
 * Opens the folder that web servers show. With `precompress` its files have `.br` and `.gz` siblings; those that an
 * earlier setting left are brought in step or removed here, because a server would go on sending them.
 */
export async function openWebExport(
  folder: string,
  { precompress }: { precompress: boolean },
): Promise<ExportFolder> {
  const exported = monotonicMtime(openExport(folder));
  const marker = `${folder}.precompressed`;
  const had = existsSync(marker);
  if (precompress) {
    writeFileSync(marker, "");
    if (!had) await precompressFolder(folder);
    return compressedExport(exported);
  }
  if (had) {
    removeAllSiblings(folder);
    rmSync(marker);
  }
  return exported;
}

/**
 * An export folder that keeps a `.br` and a `.gz` beside each file, for web servers that send them as they are. Such
 * servers do not look whether a sibling is as new as its file, so it is taken away before the file changes.
 */
export function compressedExport(exported: ExportFolder): ExportFolder {
  const { folder } = exported;
  return {
    ...exported,
    put: (path, blob) => {
      if (!compressible.test(path)) return exported.put(path, blob);
      removeSiblings(folder, path);
      exported.put(path, blob);
      renewSiblings(folder, path);
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

/** Makes the siblings of a file that is long enough; answers whether it is. */
function renewSiblings(folder: string, path: string): boolean {
  removeSiblings(folder, path);
  const content = readFileSync(`${folder}/${path}`);
  if (content.length < compressFromBytes) return false;
  placeSibling(folder, `${path}.br`, compressors.br(content));
  placeSibling(folder, `${path}.gz`, compressors.gzip(content));
  return true;
}

let drafts = 0;

/** A sibling has its file's time of change: this tells later that they belong together. */
function placeSibling(folder: string, path: string, body: Uint8Array): void {
  const { atimeMs, mtimeMs } = statSync(`${folder}/${path.replace(sibling, "$1")}`);
  const draft = `${folder}/.${process.pid}-${drafts++}.sibling.draft`;
  writeFileSync(draft, body);
  utimesSync(draft, atimeMs / 1_000, mtimeMs / 1_000);
  renameSync(draft, `${folder}/${path}`);
}

/**
 * Brings the siblings of a whole export in step with its files, after a first build or when they were switched on:
 * makes those that are missing or old, removes those whose file is gone. Others work in between, and may change files.
 */
export async function precompressFolder(folder: string) {
  const outcome = { compressed: 0, removed: 0 };
  for (const path of everyPath(folder)) {
    const original = sibling.exec(path)?.[1];
    if (original !== undefined && compressible.test(original)) {
      if (existsSync(join(folder, original))) continue;
      rmSync(join(folder, path), { force: true });
      outcome.removed++;
    } else if (compressible.test(path) && !isInStep(join(folder, path))) {
      if (renewSiblings(folder, path)) outcome.compressed++;
    }
    await Bun.sleep(0);
  }
  return outcome;
}

/** Removes every sibling; files that are archives by themselves stay. */
function removeAllSiblings(folder: string): void {
  for (const path of everyPath(folder)) {
    if (compressible.test(sibling.exec(path)?.[1] ?? "")) rmSync(join(folder, path));
  }
}

/** Times travel through seconds as floating point: a microsecond may be lost. */
const timeToleranceMs = 0.002;

/** Whether a file, if it is still there, has siblings of its own time. */
function isInStep(target: string): boolean {
  const file = statSync(target, { throwIfNoEntry: false });
  if (file === undefined) return true;
  return ["br", "gz"].every((extension) => {
    const found = statSync(`${target}.${extension}`, { throwIfNoEntry: false });
    return found !== undefined && Math.abs(found.mtimeMs - file.mtimeMs) < timeToleranceMs;
  });
}
