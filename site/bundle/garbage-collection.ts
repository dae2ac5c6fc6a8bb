import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Location } from "./segments.ts";
import type { BundleContext } from "./release.ts";

/** How long retired files, such as hashed assets of older releases, stay readable. */
export const assetGraceMs = 24 * 60 * 60 * 1_000;

type Digest = { digest: Uint8Array | null };

/** Releases deleted in one run; changes wait meanwhile. */
const releasesPerRun = 100;

/**
 * Deletes releases that a rollback can no longer reach, the oldest first and at most 100 per run, and the content that
 * nothing refers to any more. Returns whether there is more to delete.
 */
export function prune(context: BundleContext, releasesKept: number): boolean {
  return context.manifest.db.transaction(() => forgetReleases(context, releasesKept)).immediate();
}

function forgetReleases(context: BundleContext, releasesKept: number): boolean {
  const { manifest, exported, clock } = context;
  const { db } = manifest;
  const { current_release, listed_release } = manifest.state();
  const first = manifest.oldestRelease();
  const firstKept = current_release - releasesKept + 1;
  const oldest = Math.min(firstKept, first + releasesPerRun);
  // A rollback brings back pages that need the assets of their time, however long ago that was. It leaves `pagefind/`
  // alone, so its older files may go. Files that the signed list still names stay.
  const removals = db
    .query<{ path: string; digest: Uint8Array }, [number, number, number]>(
      `DELETE FROM files
       WHERE doomed_at < ? AND release <= ?
         AND (path LIKE 'pagefind/%'
           OR doomed_at < (SELECT min(created_at) FROM releases WHERE id >= ?))
       RETURNING path, digest`,
    )
    .all(clock().getTime() - assetGraceMs, listed_release, oldest);
  for (const { path } of removals) exported?.remove(path);
  const past = db
    .query<Digest, [number]>("DELETE FROM history WHERE release <= ? RETURNING digest")
    .all(oldest);
  db.query("DELETE FROM releases WHERE id < ?").run(oldest);
  removeUnnamed(context, [...removals, ...past]);
  return oldest < firstKept;
}

/** Deletes the entries, and the separate files, of content that no release refers to and no reader may be about to open. */
function removeUnnamed({ manifest, blobs }: BundleContext, digests: readonly Digest[]): void {
  const deleteQuery = manifest.db.query<{ pack: number }, [Uint8Array]>(
    `DELETE FROM blobs
     WHERE digest = ?1
       AND NOT EXISTS (SELECT 1 FROM files WHERE digest = ?1)
       AND NOT EXISTS (SELECT 1 FROM history WHERE digest = ?1)
       AND NOT EXISTS (SELECT 1 FROM spare_blobs WHERE digest = ?1)
     RETURNING pack`,
  );
  for (const { digest } of digests) {
    if (digest === null || deleteQuery.get(digest)?.pack !== 0) continue;
    rmSync(blobs.pathOf(Buffer.from(digest).toString("hex"), 0), { force: true });
  }
}

/** A younger segment or file may belong to a release that is being made. */
const youngMs = 60 * 60 * 1_000;
/** A reader opens content long before this time has passed since it looked up the location. */
const spareForMs = 60_000;
/** Each process that writes leaves a segment, however small; more than `smallSegmentsMax` smaller than this are merged. */
const smallBytes = 4 * 1024 * 1024;
const smallSegmentsMax = 16;
/** Rows of `blobs` read in one step; changes wait meanwhile. */
const rowsPerStep = 10_000;

type CompactionContext = Pick<BundleContext, "manifest" | "blobs" | "clock">;

/**
 * Returns a function that collects garbage in steps of some milliseconds; it returns whether there is more to do. It
 * removes segments and files that nothing refers to, then copies the live content of mostly dead segments, or of many
 * small ones, to the end of this process's own. Content stays readable throughout, and killing the process loses nothing.
 */
export function openCompaction(context: CompactionContext): () => boolean {
  let progress: { packs: ReadonlySet<number>; after: Uint8Array } | null = null;
  return () => {
    if (progress === null) {
      const packs = new Set(collectDead(context));
      if (packs.size === 0) return false;
      progress = { packs, after: new Uint8Array() };
    }
    const { packs, after } = progress;
    const next = moveRecords(context, packs, after);
    progress = next === null ? null : { packs, after: next };
    if (next !== null) return true;
    // Readers that have looked up a record may still read it, so the segments become old enough to delete in a minute.
    const deletable = (context.clock().getTime() - youngMs + spareForMs) / 1_000;
    for (const pack of packs) utimesSync(context.blobs.segments.pathOf(pack), deletable, deletable);
    return false;
  };
}

/**
 * Removes old segments and files to which nothing refers; returns the segments to copy. With `olderThanMs` 0 the files of
 * a failed build go at once; so do unpublished files of other jobs, which are then made again.
 */
export function collectDead(
  { manifest: { db }, blobs, clock }: CompactionContext,
  olderThanMs = youngMs,
): number[] {
  const oldBeforeMs = clock().getTime() - olderThanMs;
  const liveQuery = db.query<{ live: number }, [number]>("SELECT live FROM packs WHERE pack = ?");
  const packQuery = db.query<{ pack: number }, [Uint8Array]>(
    "SELECT pack FROM blobs WHERE digest = ?",
  );
  const liveIn = (name: string): number => {
    const pack = Number(/^(\d+)\.pack$/.exec(name)?.[1] ?? 0);
    if (pack > 0)
      return blobs.segments.isWriting(pack) ? Infinity : (liveQuery.get(pack)?.live ?? 0);
    const isOwnFile = /^[0-9a-f]{64}$/.test(name);
    return isOwnFile && packQuery.get(Buffer.from(name, "hex"))?.pack !== 0 ? 0 : Infinity;
  };
  const old = readdirSync(blobs.folder).flatMap((name) => {
    const path = join(blobs.folder, name);
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined || file.mtimeMs > oldBeforeMs) return [];
    return { path, pack: Number.parseInt(name, 10), size: file.size, live: liveIn(name) };
  });
  for (const { path } of old.filter(({ live }) => live === 0)) rmSync(path, { force: true });
  const segments = old.filter(({ live }) => live > 0 && live !== Infinity);
  const sparse = segments.filter(({ live, size }) => live < size / 2);
  const small = segments.filter(({ size }) => size < smallBytes);
  const choice = small.length > smallSegmentsMax ? [...sparse, ...small] : sparse;
  return choice.map(({ pack }) => pack);
}

type Row = Location & { digest: Uint8Array };

/** Copies records of these segments; returns the digest after which to continue, null at the end. */
function moveRecords(
  { manifest: { db }, blobs: { segments } }: CompactionContext,
  packs: ReadonlySet<number>,
  after: Uint8Array,
): Uint8Array | null {
  const rows = db
    .query<Row, [Uint8Array, number]>(
      "SELECT digest, pack, start, length FROM blobs WHERE digest > ? ORDER BY digest LIMIT ?",
    )
    .all(after, rowsPerStep);
  const copies: Row[] = [];
  for (const row of rows) {
    const record = packs.has(row.pack) ? segments.read(row) : null;
    // A truncated record is lost; it is made again once a reader misses it.
    if (record !== null) copies.push({ digest: row.digest, ...segments.append(record) });
  }
  // A power loss must not take the only copy.
  if (copies.length > 0) segments.sync();
  const moveQuery = db.query("UPDATE blobs SET pack = ?, start = ? WHERE digest = ?");
  const moveAll = db.transaction(() => {
    for (const { digest, pack, start } of copies) moveQuery.run(pack, start, digest);
  });
  moveAll.immediate();
  return rows.length < rowsPerStep ? null : (rows.at(-1)?.digest ?? null);
}

/** Deletes spare blobs to which nothing refers, once no reader can be about to open them. */
export function deletePending(context: BundleContext): void {
  const due = context.manifest.db
    .query<Digest, [number]>("DELETE FROM spare_blobs WHERE spare_since < ? RETURNING digest")
    .all(context.clock().getTime() - spareForMs);
  removeUnnamed(context, due);
}
