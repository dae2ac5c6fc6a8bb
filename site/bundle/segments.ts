import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { countedCache } from "#content/runtime/cache.ts";
import { codeOf } from "#content/store/busy.ts";

/** Where content lies: from which byte of which segment. Segment 0: in a file of its own. */
export type Location = { pack: number; start: number; length: number };

/** What a record says of its content, which follows. `dictionary` 0: none. */
type RecordHeader = { isPacked: boolean; dictionary: number };

const headerBytes = 12;
/** Where the segments of a bundle lie. */
export const packsFolder = (bundle: string): string => join(bundle, "packs");

/** A segment is a unit of garbage collection, and a file in a folder that should not have many. */
const segmentBytesMax = 64 * 1024 * 1024;
const openMax = 64;
const magic = 0x41_4c_4d_00;

/** A record: "ALM" and whether the content is compressed, its stored length, its dictionary, and the content itself. */
export function recordOf({ isPacked, dictionary }: RecordHeader, content: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(headerBytes + content.length);
  record.writeUInt32BE(magic + Number(isPacked), 0);
  record.writeUInt32BE(content.length, 4);
  record.writeUInt32BE(dictionary, 8);
  record.set(content, headerBytes);
  return record;
}

/** What a record holds; null for other bytes. */
export function readRecord(
  record: Buffer<ArrayBuffer>,
): (RecordHeader & { content: Buffer<ArrayBuffer> }) | null {
  if (record.length < headerBytes) return null;
  const kind = record.readUInt32BE(0) - magic;
  if (kind !== 0 && kind !== 1) return null;
  const dictionary = record.readUInt32BE(8);
  return { isPacked: kind === 1, dictionary, content: record.subarray(headerBytes) };
}

/**
 * The segments of a folder: files NNNNNN.pack that are only appended to. Each process that writes has one of its own, so
 * none waits for another. `newest` answers a number that was used; none is used twice, for a reader may have the older
 * file open.
 */
export function openSegments(folder: string, newest: () => number = () => 0) {
  const pathOf = (pack: number) => `${folder}/${String(pack).padStart(6, "0")}.pack`;
  const reading = countedCache<number, number>(openMax, {
    dispose: (file) => closeSync(file),
  });
  let writing: { pack: number; file: number; end: number } | null = null;
  const packs = () =>
    readdirSync(folder).flatMap((name) => Number(/^(\d{6,})\.pack$/.exec(name)?.[1] ?? []));
  const sync = () => {
    if (writing !== null) fdatasyncSync(writing.file);
  };
  const stop = () => {
    if (writing !== null) closeSync(writing.file);
    writing = null;
  };
  const begin = () => {
    // Nobody can bring the full one onto the disk afterwards.
    sync();
    stop();
    for (let pack = Math.max(newest(), ...packs()) + 1; ; pack++) {
      try {
        return (writing = { pack, file: openSync(pathOf(pack), "wx", 0o600), end: 0 });
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
    }
  };
  const fileOf = (pack: number): number => {
    const open = reading.get(pack);
    if (open !== undefined) return open;
    const file = openSync(pathOf(pack), "r");
    reading.set(pack, file);
    return file;
  };
  return {
    pathOf,
    /** Writes a record at the end of this process's segment; throws on a full disk and has written nothing then. */
    append: (record: Uint8Array): Location => {
      const isUsable =
        writing !== null && writing.end < segmentBytesMax && existsSync(pathOf(writing.pack));
      const into = writing !== null && isUsable ? writing : begin();
      const start = into.end;
      for (let offset = 0; offset < record.length;) {
        offset += writeSync(into.file, record, offset, record.length - offset, start + offset);
      }
      into.end += record.length;
      return { pack: into.pack, start, length: record.length };
    },
    /** Brings what this process has written onto the disk. */
    sync,
    /** At most so many bytes of a segment; null when it is gone. */
    read: ({ pack, start, length }: Location): Buffer<ArrayBuffer> | null => {
      try {
        const bytes = Buffer.allocUnsafe(length);
        return bytes.subarray(0, readSync(fileOf(pack), bytes, 0, length, start));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
      }
    },
    /** Whether a segment is there and long enough. */
    has: ({ pack, start, length }: Location): boolean =>
      (statSync(pathOf(pack), { throwIfNoEntry: false })?.size ?? 0) >= start + length,
    isWriting: (pack: number): boolean => writing?.pack === pack,
    close: (): void => {
      stop();
      reading.clear();
    },
  };
}
