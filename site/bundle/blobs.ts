import type { Database } from "bun:sqlite";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { sha256Of, sha256Stream } from "#content/runtime/digest.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { replaceFile } from "#content/runtime/files.ts";
import type { Manifest } from "./manifest.ts";
import { type Location, openSegments, packsFolder, readRecord, recordOf } from "./segments.ts";

/** Content by its SHA-256; releases share it. */
export type Blobs = ReturnType<typeof openBlobs>;

/** Stored content. `at` is set for new content that no release refers to yet. */
export type StoredContent = { digest: string; size: number; at?: Location };

/** Writes pieces into a file; returns the SHA-256 and the size of the whole. Removes the file when writing fails. */
export async function writeHashed(
  pieces: AsyncIterable<Uint8Array>,
  target: string,
): Promise<{ digest: string; size: number }> {
  const hasher = sha256Stream();
  let size = 0;
  const file = await open(target, "w");
  try {
    for await (const piece of pieces) {
      size += piece.length;
      hasher.update(piece);
      await file.writeFile(piece);
    }
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { digest: hasher.digest("hex"), size };
}

/** Larger content gets an uncompressed file of its own, so that it is sent from the disk and never whole in memory. */
export const inSegmentBytesMax = 4 * 1024 * 1024;
/** Files in formats that are compressed already. */
const packedAlready = /\.(?:gz|png|woff2|parquet|sqlite|pagefind|pf_[a-z]+)$/;
/** With a dictionary, level 3 would save a tenth more and take half as long again (decision 01). */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };
const freshMax = 10_000;

/**
 * Opens (and creates) the content of a bundle: append-only segments, and a separate file for each large content. The
 * manifest holds the location once a release refers to the content; before that, `put` returns it. With `onDamaged`,
 * `put` verifies content that exists already, and writes it again when it does not match its digest.
 */
export function openBlobs(
  { db, folder: bundle }: Pick<Manifest, "db" | "folder">,
  { onDamaged }: { onDamaged?: (digest: string) => void } = {},
) {
  const folder = packsFolder(bundle);
  mkdirSync(folder, { recursive: true });
  const newest = db.query<{ pack: number | null }, []>("SELECT max(pack) AS pack FROM packs");
  const segments = openSegments(folder, () => newest.get()?.pack ?? 0);
  const dictionaries = openDictionaries(db);
  const finding = db.query<Location, [Uint8Array]>(
    "SELECT pack, start, length FROM blobs WHERE digest = ?",
  );
  const deleteQuery = db.query<null, [Uint8Array]>("DELETE FROM blobs WHERE digest = ?");
  /** What this process has written and no release refers to yet. */
  const freshLocations = countedCache<Location>(freshMax);
  const draftPath = () => `${folder}/${process.pid}-${performance.now()}.draft`;
  const ownPath = (digest: string) => `${folder}/${digest}`;
  const committedLocation = (digest: string) => finding.get(Buffer.from(digest, "hex"));
  const find = (digest: string): Location | null =>
    committedLocation(digest) ?? freshLocations.get(digest) ?? null;
  const pathOf = (digest: string, pack: number) =>
    pack > 0 ? segments.pathOf(pack) : ownPath(digest);
  const isThere = (digest: string, at: Location): boolean =>
    at.pack > 0
      ? segments.has(at)
      : statSync(ownPath(digest), { throwIfNoEntry: false })?.size === at.length;

  /** Content that matches its digest; null when it is missing or damaged. */
  const contentOf = (digest: string, at = find(digest)): Buffer<ArrayBuffer> | null => {
    if (at === null || !isThere(digest, at)) return null;
    if (at.pack === 0) return verified(readFileSync(ownPath(digest)), digest);
    const bytes = segments.read(at);
    const record = bytes && readRecord(bytes);
    if (record === null) return null;
    if (!record.isPacked) return verified(record.content, digest);
    const dictionary = dictionaries.byId(record.dictionary);
    try {
      return verified(unpacked(record.content, dictionary), digest);
    } catch {
      return null; // Bytes that zstd cannot read are damaged.
    }
  };
  const read = (digest: string): Buffer => {
    const content = contentOf(digest);
    if (content !== null) return content;
    throw Object.assign(new Error(`content ${digest} is gone or damaged`), { code: "ENOENT" });
  };
  const write = (digest: string, body: Uint8Array, path: string): Location => {
    if (body.length > inSegmentBytesMax) {
      replaceFile(ownPath(digest), (draft) => writeFileSync(draft, body), folder);
      return { pack: 0, start: 0, length: body.length };
    }
    const dictionary = dictionaries.newestFor(path);
    const packedBody = packedAlready.test(path)
      ? body
      : zstdCompressSync(body, { params, ...(dictionary && { dictionary: dictionary.body }) });
    const isPacked = packedBody.length < body.length;
    const id = isPacked ? (dictionary?.id ?? 0) : 0;
    return segments.append(recordOf({ isPacked, dictionary: id }, isPacked ? packedBody : body));
  };
  const storedContent = (digest: string, size: number, at: Location): StoredContent => {
    freshLocations.set(digest, at);
    return { digest, size, at };
  };
  return {
    folder,
    segments,
    dictionaries,
    /** A path for a new draft, which `adopt` then takes. */
    draftPath,
    /** Writes content once. `path` gives its kind, and so how it is compressed. */
    put: (body: Uint8Array, path = ""): StoredContent => {
      const digest = sha256Of(body);
      const committedPlace = committedLocation(digest);
      const place = committedPlace ?? freshLocations.get(digest);
      if (place !== undefined && isThere(digest, place)) {
        const at = committedPlace === null ? { at: place } : {};
        if (onDamaged === undefined || contentOf(digest, place) !== null)
          return { digest, size: body.length, ...at };
        onDamaged(digest);
      }
      return storedContent(digest, body.length, write(digest, body, path));
    },
    /** Makes a draft the separate file of its content. */
    adopt: (draft: string, { digest, size }: { digest: string; size: number }): StoredContent => {
      renameSync(draft, ownPath(digest));
      return storedContent(digest, size, { pack: 0, start: 0, length: size });
    },
    /** Content that matches its digest, else null. `at`: the location, for content that no release refers to yet. */
    find: contentOf,
    /** As `find`, but throws with code ENOENT where `find` returns null. */
    read,
    /** Whether content seems to exist: its size is checked, it is not read. */
    has: (digest: string): boolean => {
      const at = find(digest);
      return at !== null && isThere(digest, at);
    },
    /** The file of large content; null for content in a segment and for missing content. */
    ownFile: (digest: string): string | null => (find(digest)?.pack === 0 ? ownPath(digest) : null),
    pathOf,
    /** The file that holds content; null for missing content. */
    placeOf: (digest: string): string | null => {
      const at = find(digest);
      return at && pathOf(digest, at.pack);
    },
    /** Copies content into a file. Throws as `read` does. */
    copyTo: (digest: string, target: string): void => {
      if (find(digest)?.pack === 0) copyFileSync(ownPath(digest), target);
      else writeFileSync(target, read(digest));
    },
    /** Forgets content, so that `put` writes it again. */
    remove: (digest: string): void => {
      const at = find(digest);
      freshLocations.delete(digest);
      deleteQuery.run(Buffer.from(digest, "hex"));
      if (at?.pack === 0) rmSync(ownPath(digest), { force: true });
    },
    close: (): void => segments.close(),
  };
}

/** Limits the output, because a damaged record may claim any size. */
const unpacked = (content: Uint8Array, dictionary: Uint8Array | null): Buffer<ArrayBuffer> =>
  zstdDecompressSync(content, {
    maxOutputLength: inSegmentBytesMax,
    ...(dictionary && { dictionary }),
  });

const verified = (content: Buffer<ArrayBuffer>, digest: string) =>
  sha256Of(content) === digest ? content : null;

/** Removes drafts that a killed process left. Only call it while no other process publishes. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^\.?\d+-[^/]*\.draft$/.test(name)) {
      rmSync(join(folder, name), { force: true, recursive: true });
    }
  }
}

/** Text that documents of one kind have in common. */
type Dictionary = { id: number; body: Uint8Array };

/** Twice as many bytes make documents a fifth smaller and take a third longer (decision 01). */
const dictionaryBytes = 16_384;
/** A kind with fewer documents gets no dictionary. */
const samplesLeast = 8;

/** The kind of document at a path: its folder and its ending. */
const kindOf = (path: string): string => path.replace(/[^/]*?(?=(?:\.[a-z0-9]+)?$)/, "*");

/**
 * The dictionaries that compress documents, one per kind of document, kept in the manifest. Replaced ones stay, because
 * older documents need them.
 */
export function openDictionaries(db: Database) {
  const reading = db.query<Dictionary, [number]>("SELECT id, body FROM dictionaries WHERE id = ?");
  const newest = db.query<Dictionary & { kind: string }, []>(
    "SELECT max(id) AS id, kind, body FROM dictionaries GROUP BY kind",
  );
  const bodies = new Map<number, Uint8Array>();
  let byKind: Map<string, Dictionary> | null = null;
  return {
    /** Null for 0 and for an unknown dictionary. */
    byId: (id: number): Uint8Array | null => {
      const body = bodies.get(id) ?? (id === 0 ? null : (reading.get(id)?.body ?? null));
      if (body !== null) bodies.set(id, body);
      return body;
    },
    newestFor: (path: string): Dictionary | null => {
      byKind ??= new Map(newest.all().map((dictionary) => [dictionary.kind, dictionary]));
      return byKind.get(kindOf(path)) ?? null;
    },
    /** Makes new dictionaries from sample documents. */
    learn: (samples: readonly { path: string; body: Uint8Array }[]): void => {
      const insertQuery = db.query("INSERT INTO dictionaries (kind, body) VALUES (?, ?)");
      const learn = db.transaction(() => {
        for (const [kind, alike] of Map.groupBy(samples, ({ path }) => kindOf(path))) {
          if (alike.length < samplesLeast) continue;
          const sample = Buffer.concat(alike.map(({ body }) => body));
          insertQuery.run(kind, sample.subarray(0, dictionaryBytes));
        }
      });
      learn.immediate();
      byKind = null;
    },
  };
}
