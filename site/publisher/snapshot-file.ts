import { open, readFile, rename, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { feedPaths } from "#content/contract/feed.ts";
import { digestOf } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import type { PublisherParts } from "./publisher-parts.ts";

const compress = promisify(gzip);

/** The parts of the snapshot as they are published, in order, and a digest that tells whether any has changed. */
export function snapshotParts({ db }: Manifest): { parts: NewFile[]; digest: string } {
  const folder = feedPaths.snapshotPart("{n}").split("{n}")[0] ?? "";
  const parts = db
    .query<NewFile, [string, string]>(
      "SELECT path, digest, size FROM files WHERE path >= ? AND path < ?",
    )
    .all(folder, `${folder.slice(0, -1)}0`) // "0" follows "/".
    .map((file) => ({ file, number: Number.parseInt(file.path.slice(folder.length), 10) }))
    .sort((a, b) => a.number - b.number)
    .map(({ file }) => file);
  const all = parts.map(({ digest }) => digest).join("\n");
  return { parts, digest: digestOf(new TextEncoder().encode(all)) };
}

/**
 * Joins the parts into one file among the blobs, piece by piece, so that memory stays flat. Gzip files one after the
 * other are a gzip file (RFC 1952, section 2.2).
 */
export async function joinSnapshot(
  { blobs }: Pick<PublisherParts, "blobs">,
  parts: readonly NewFile[],
): Promise<NewFile> {
  const draft = `${blobs.folder}/${process.pid}-snapshot.draft`;
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  const file = await open(draft, "w");
  try {
    const add = async (bytes: Uint8Array) => {
      hasher.update(bytes);
      size += bytes.length;
      await file.writeFile(bytes);
    };
    // A file without any gzip member would be no gzip file.
    if (parts.length === 0) await add(await compress(""));
    for (const { digest } of parts) await add(await readFile(blobs.pathOf(digest)));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  const digest = hasher.digest("hex");
  await rename(draft, blobs.pathOf(digest));
  return { path: feedPaths.snapshot, digest, size };
}
