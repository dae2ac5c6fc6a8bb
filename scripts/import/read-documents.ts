import { sha256Stream } from "#content/runtime/digest.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { BlobReader, configure, ZipReader } from "@zip.js/zip.js";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { brokenFile, fileSize, filesIn, isZip, type OnBytes, unpackedBytes } from "./read-file.ts";
import { Unreadable } from "./read-xml.ts";

/** The largest returns, of foundations that list all their gifts, unpack to about 150 MB. */
const documentBytesMax = 512 * 2 ** 20;
const tooLarge = `it unpacks to more than ${documentBytesMax / 2 ** 20} MB`;
/** XML shrinks to a tenth or a twentieth; a file that shrinks to a two-hundredth was made to fill a disk. */
const unpackedRatioMax = 200;

/** Unpacked bytes after which memory is collected, because the runtime collects too late. */
const wasteMax = 64 * 2 ** 20;

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
  let isEmpty = true;
  let waste = 0;
  for await (const member of (await isDeflate64(file)) ? members64(file) : members(file)) {
    if (!/\.xml$/i.test(member.name)) continue;
    isEmpty = false;
    waste += member.size;
    if (waste > wasteMax) Bun.gc(true);
    waste %= wasteMax;
    yield { place: member.name, bytes: checked(member, onBytes) };
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
    throw asUnreadable(error);
  }
}

/** Errors of unpacking are faults of the file. */
const asUnreadable = (error: unknown): unknown =>
  error instanceof Error && !(error instanceof Unreadable)
    ? new Unreadable(brokenFile(error))
    : error;

/** A member of a zip file, as the zip directory describes it. */
type Member = {
  name: string;
  size: number;
  packedSize: number;
  checksum: number | undefined;
  open: () => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>;
};

/** The bytes of a member. Throws unless size and checksum are those of the zip directory. */
async function* checked(member: Member, onBytes: OnBytes): AsyncGenerator<Uint8Array> {
  let size = 0;
  let checksum = 0;
  try {
    for await (const chunk of await member.open()) {
      size += chunk.length;
      if (size > member.size) throw new Unreadable("it unpacks to more than the zip file says");
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    throw asUnreadable(error);
  }
  onBytes(member.packedSize);
  if (checksum !== member.checksum) throw new Unreadable("its checksum is wrong");
}

const openZip = (file: string): Promise<ZipFile> =>
  openPromise(file, { autoClose: false }).catch((error: Error) => {
    throw new Unreadable(`the zip file is cut short or damaged (${error.message})`);
  });

/** Checks a zip file's directory before anything is unpacked. Returns whether a member uses Deflate64. */
async function isDeflate64(file: string): Promise<boolean> {
  const zip = await openZip(file);
  let unpacked = 0;
  let isFound = false;
  try {
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, uncompressedSize: size, compressionMethod: method } = entry;
      unpacked += size;
      if (size > documentBytesMax) throw new Unreadable(`${name}: ${tooLarge}`);
      if (entry.isEncrypted() || ![0, 8, 9].includes(method))
        throw new Unreadable(`${name} is encrypted, or packed in an unknown way (${method})`);
      isFound ||= method === 9;
    }
  } catch (error) {
    throw asUnreadable(error);
  } finally {
    zip.close();
  }
  if (unpacked > fileSize(file) * unpackedRatioMax)
    throw new Unreadable(`it unpacks to more than ${unpackedRatioMax} times its size`);
  return isFound;
}

async function* members(file: string): AsyncGenerator<Member> {
  const zip = await openZip(file);
  const fd = openSync(file, "r");
  try {
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, uncompressedSize: size, compressedSize: packedSize } = entry;
      const isSmall = Math.max(size, packedSize) <= wholeBytesMax;
      const open = () => (isSmall ? wholeOf(zip, entry, fd) : zip.openReadStreamPromise(entry));
      yield { name, size, packedSize, checksum: entry.crc32, open };
    }
  } finally {
    closeSync(fd);
    zip.close();
  }
}

/** Most returns are smaller, and opening a stream for each would take as long as unpacking it. */
const wholeBytesMax = 2 ** 20;

async function wholeOf(zip: ZipFile, entry: Entry, fd: number): Promise<[Uint8Array]> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const bytes = new Uint8Array(entry.compressedSize);
  readSync(fd, bytes, 0, bytes.length, fileDataStart);
  if (entry.compressionMethod === 0) return [bytes];
  // Unpacked in one piece if it is as long as the zip directory says.
  const chunkSize = Math.max(entry.uncompressedSize + 1, 64);
  return [inflateRawSync(bytes, { chunkSize, maxOutputLength: wholeBytesMax + 1 })];
}

/** Members of a zip file that uses Deflate64, which yauzl cannot unpack. */
async function* members64(file: string): AsyncGenerator<Member> {
  configure({ useWebWorkers: false, useCompressionStream: false });
  const zip = new ZipReader(new BlobReader(Bun.file(file)));
  for await (const entry of zip.getEntriesGenerator()) {
    if (entry.directory) continue;
    const { filename: name, uncompressedSize: size, compressedSize: packedSize } = entry;
    const open = () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      // The reader reports this failure.
      entry.getData(writable).catch(() => {});
      return Promise.resolve(readable);
    };
    yield { name, size, packedSize, checksum: entry.signature, open };
  }
  await zip.close();
}
