import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type DataPackage, feedPaths } from "#content/contract/feed.ts";
import { type Blobs, writeHashed } from "./blobs.ts";
import type { Manifest, NewFile } from "./manifest.ts";

const compress = promisify(gzip);

const partsFolder = feedPaths.snapshotPart("{n}").split("{n}")[0] ?? "";

/** With more parts than this (50,000 profiles, 15 MB), the snapshot is not joined: the cost grows with the directory. */
export const joinedPartsMax = 500;

/** How many parts of the snapshot are published, and a mark that changes when one of them changes. */
export function snapshotState({ db }: Manifest): { parts: number; mark: string } {
  const row = db
    .query<{ parts: number; newest: number | null }, [string, string]>(
      "SELECT count(*) AS parts, max(release) AS newest FROM files WHERE path >= ? AND path < ?",
    )
    .get(partsFolder, `${partsFolder}~`);
  const parts = row?.parts ?? 0;
  return { parts, mark: `${parts} ${row?.newest ?? 0}` };
}

/** The published parts of the snapshot, in order. */
export const snapshotParts = (manifest: Manifest): NewFile[] =>
  manifest
    .under(partsFolder)
    .map((file) => ({ file, number: Number.parseInt(file.path.slice(partsFolder.length), 10) }))
    .sort((a, b) => a.number - b.number)
    .map(({ file }) => file);

/** The parts one by one, so that memory stays flat: gzip files in a row are a gzip file (RFC 1952, section 2.2). */
export async function* snapshotPieces(blobs: Blobs, parts: readonly NewFile[]) {
  // A file without any gzip member is no valid gzip file.
  if (parts.length === 0) yield compress("");
  for (const { digest } of parts) yield blobs.read(digest);
}

export async function joinSnapshot(blobs: Blobs, parts: readonly NewFile[]): Promise<NewFile> {
  const draft = blobs.draftPath();
  const content = await writeHashed(snapshotPieces(blobs, parts), draft);
  return { path: feedPaths.snapshot, ...blobs.adopt(draft, content) };
}

/** Returns a function that reads the list of the files of /data; null before they are first made. */
export const dataPackageIn = (manifest: Manifest, blobs: Blobs) => (): DataPackage | null => {
  const file = manifest.find(feedPaths.dataPackage);
  const content = file && blobs.find(file.digest);
  return content && JSON.parse(content.toString());
};
