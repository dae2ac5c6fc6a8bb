import { existsSync, rmSync, writeFileSync } from "node:fs";
import { type ExportFolder, openExport } from "./blobs.ts";
import { compressedExport, precompressFolder, removeAllSiblings } from "./precompress.ts";
import { steadyTimes } from "./monotonic-mtime.ts";

/**
 * Opens the folder that web servers show. With `precompress` its files have `.br` and `.gz` siblings; those that an
 * earlier setting left are brought in step or removed here, because a server would go on sending them.
 */
export async function openWebExport(
  folder: string,
  { precompress }: { precompress: boolean },
): Promise<ExportFolder> {
  const exported = steadyTimes(openExport(folder));
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
