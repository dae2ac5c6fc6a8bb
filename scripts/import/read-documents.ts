import { sha256Stream } from "#content/runtime/digest.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { brokenFile, fileSize, filesIn, isZip, type OnBytes, unpackedBytes } from "./read-file.ts";
import { Unreadable } from "./read-xml.ts";
import { brokenZip, type Member, membersOf, notReadable } from "./read-zip.ts";

/** The largest returns, of foundations that list all their gifts, unpack to about 150 MB. */
const documentBytesMax = 512 * 2 ** 20;
const tooLarge = `it unpacks to more than ${documentBytesMax / 2 ** 20} MB`;
/** XML shrinks to a tenth or a twentieth; a file that shrinks to a two-hundredth was made to fill a disk. */
const unpackedRatioMax = 200;

/** Unpacked bytes after which memory is collected, because the runtime collects too late. */
const wasteMax = 32 * 2 ** 20;

/** Names of files with documents. */
export const documentFile = /\.(?:xml|xml\.gz|zip)$/i;

/** SHA-256 in hex of names and contents of a file, or of a folder with all files below it. */
export function documentsDigest(path: string): string {
  const digest = sha256Stream();
  const piece = new Uint8Array(2 ** 20);
  for (const file of filesIn([path], documentFile)) {
    digest.update(`${basename(file)} ${fileSize(file)} `);
    const fd = openSync(file, "r");
    // One buffer for all files: a stream would leave as much garbage as the file has bytes.
    for (let size = 1; size > 0; digest.update(piece.subarray(0, size))) size = readSync(fd, piece);
    closeSync(fd);
  }
  return digest.digest("hex");
}

/** A document. `place`: its name in a zip file, null without one. Read it before asking for the next one. */
type Document = { place: string | null; bytes: AsyncIterable<Uint8Array> };

/**
 * The documents of an XML file, gzipped or not, or of a zip file with folders. Throws Unreadable before the first document
 * if the whole file is refused; reading a document may throw it, too.
 */
export async function* readDocuments(file: string, onBytes: OnBytes): AsyncGenerator<Document> {
  if (!(await isZip(file))) {
    if (/\.zip$/i.test(file))
      throw new Unreadable("this is no zip file, but perhaps an error page");
    yield { place: null, bytes: gzippedOrPlain(file, onBytes) };
    return;
  }
  await checkDirectory(file);
  let isEmpty = true;
  let waste = 0;
  for await (const member of membersOf(file)) {
    if (!/\.xml$/i.test(member.name)) continue;
    isEmpty = false;
    waste += member.size;
    if (waste > wasteMax) Bun.gc(true);
    waste %= wasteMax;
    yield { place: member.name, bytes: unzipped(member, onBytes) };
  }
  if (isEmpty) throw new Unreadable("no .xml is in the zip file");
}

async function* gzippedOrPlain(file: string, onBytes: OnBytes): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of await unpackedBytes(file, onBytes)) {
      size += chunk.length;
      if (size > documentBytesMax) throw new Unreadable(tooLarge);
      yield chunk;
    }
  } catch (error) {
    throw asUnreadable(error, brokenFile);
  }
}

/** Errors of unpacking are faults of the file, which `broken` puts into words. */
const asUnreadable = (error: unknown, broken: (error: Error) => string): unknown =>
  error instanceof Error && !(error instanceof Unreadable) ? new Unreadable(broken(error)) : error;

async function* unzipped(member: Member, onBytes: OnBytes): AsyncGenerator<Uint8Array> {
  try {
    yield* member.open();
  } catch (error) {
    throw asUnreadable(error, brokenZip);
  }
  onBytes(member.packedSize);
}

/** Checks a zip file's directory before anything is unpacked. */
async function checkDirectory(file: string): Promise<void> {
  let unpacked = 0;
  try {
    for await (const { name, size, isReadable } of membersOf(file)) {
      unpacked += size;
      if (size > documentBytesMax) throw new Unreadable(`${name}: ${tooLarge}`);
      if (!isReadable) throw new Unreadable(`${name} ${notReadable}`);
    }
  } catch (error) {
    throw asUnreadable(error, brokenZip);
  }
  if (unpacked > fileSize(file) * unpackedRatioMax)
    throw new Unreadable(`it unpacks to more than ${unpackedRatioMax} times its size`);
}
