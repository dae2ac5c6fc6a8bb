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

/** Where content lies: the segment, the first byte and the length. Segment 0: a separate file. */
export type Location = { pack: number; start: number; length: number };

/** The header of a record; the content follows. `dictionary` 0: none. */
type RecordHeader = { isPacked: boolean; dictionary: number };

const headerBytes = 12;
export const packsFolder = (bundle: string): string => join(bundle, "packs");

/** A segment is the unit of garbage collection, and its folder should not have many files. */
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

/** Reads a record; null for other bytes. */
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
 * The segments of a folder: append-only files NNNNNN.pack. Each process writes to its own, so none waits for another.
 * `newest` returns the highest number known to be used: no number is used twice, since a reader may have the older file
 * open.
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
    // Sync the full segment now: nothing can do so once it is closed.
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
    /** Appends a record to this process's segment. Throws on a full disk; nothing counts as written then. */
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
    /** Syncs what this process has written to the disk. */
    sync,
    /** Reads up to `length` bytes of a segment; null when the segment is gone. */
    read: ({ pack, start, length }: Location): Buffer<ArrayBuffer> | null => {
      try {
        const bytes = Buffer.allocUnsafe(length);
        return bytes.subarray(0, readSync(fileOf(pack), bytes, 0, length, start));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
      }
    },
    /** Whether a segment exists and is long enough. */
    has: ({ pack, start, length }: Location): boolean =>
      (statSync(pathOf(pack), { throwIfNoEntry: false })?.size ?? 0) >= start + length,
    isWriting: (pack: number): boolean => writing?.pack === pack,
    close: (): void => {
      stop();
      reading.clear();
    },
  };
}
