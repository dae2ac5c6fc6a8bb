import {
  BlobReader,
  configure,
  ERR_INVALID_CRC32,
  ERR_INVALID_UNCOMPRESSED_SIZE,
  ZipReader,
} from "@zip.js/zip.js";

// Its own pieces of 256 kB are garbage for each document of 100 kB.
configure({ useWebWorkers: false, chunkSize: 16_384 });

/** A file in a zip file, as the zip directory describes it; sizes in bytes. */
export type Member = {
  name: string;
  size: number;
  packedSize: number;
  /** Whether it is packed in a way that can be unpacked without a password. */
  isReadable: boolean;
  /** Its bytes, once. Throws unless size and checksum are those of the zip directory. */
  open: () => AsyncIterable<Uint8Array>;
};

/** The files in a zip file, in the order of its directory. Throws if it is cut short or damaged. */
export async function* membersOf(file: string): AsyncGenerator<Member> {
  const zip = new ZipReader(new BlobReader(Bun.file(file)), { checkCrc32: true });
  for await (const entry of zip.getEntriesGenerator()) {
    if (entry.directory) continue;
    yield {
      name: entry.filename,
      size: entry.uncompressedSize,
      packedSize: entry.compressedSize,
      isReadable: !entry.encrypted && readableMethods.has(entry.compressionMethod),
      open: () => {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
        // The reader reports this failure, for which the library leaves the stream open if it never began to write.
        entry.getData(writable).catch((error) => writable.abort(error).catch(() => {}));
        return readable;
      },
    };
  }
  await zip.close();
}

/** Stored, Deflate and Deflate64. */
const readableMethods = new Set([0, 8, 9]);

const faults = new Map([
  [ERR_INVALID_CRC32, "its checksum is wrong"],
  [ERR_INVALID_UNCOMPRESSED_SIZE, "it unpacks to another size than the zip file says"],
]);

/** What is wrong with a member that is not readable. */
export const notReadable = "is encrypted, or packed in an unknown way";

/** What is wrong with a zip file that could not be read. */
export const brokenZip = ({ message }: Error): string =>
  faults.get(message) ?? `the zip file is cut short or damaged (${message})`;
