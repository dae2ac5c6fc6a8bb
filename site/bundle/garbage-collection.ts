import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Location } from "./segments.ts";
import type { BundleContext } from "./release.ts";

/** How long hashed assets of older releases stay. */
export const assetGraceMs = 24 * 60 * 60 * 1_000;

type Digest = { digest: Uint8Array | null };

/** Releases forgotten in one go: changes wait meanwhile. */
const releasesPerRun = 100;

/**
 * Forgets releases beyond those that are kept (a rollback can reach no others), the oldest first and some at a time, and
 * the content that nothing names any more. Answers whether there is more to forget.
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
  // A rollback brings back pages that name the assets of their time, however long ago that was. It leaves the index for
  // people alone, so what an older one named may go. What the signed list still tells stays until it does not.
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

/** Forgets where content lies that neither a release names nor a reader may be about to open. */
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

/** A younger segment or file may hold what belongs to a release that is being made. */
const youngMs = 60 * 60 * 1_000;
/** A reader that has looked up where content lies opens it long before this. */
const spareForMs = 60_000;
/** Each process that writes leaves a segment, however little it wrote. */
const smallBytes = 4 * 1024 * 1024;
const smallSegmentsMax = 16;
/** Of the index looked through in one step; changes wait meanwhile. */
const rowsPerStep = 10_000;

type CompactionContext = Pick<BundleContext, "manifest" | "blobs" | "clock">;

/**
 * Collects garbage in steps of some milliseconds, to be called again and again: removes segments and files that nothing
 * names, then copies what lives in mostly dead segments, or in many small ones, to the end of this process's own. A step
 * answers whether there is more to do. Content stays readable throughout, and a process that is killed has lost nothing.
 */
export function openCompaction(context: CompactionContext): () => boolean {
  let progress: { packs: ReadonlySet<number>; after: Uint8Array } | null = null;
  return () => {
    if (progress === null) {
      const packs = new Set(removeDead(context));
      if (packs.size === 0) return false;
      progress = { packs, after: new Uint8Array() };
    }
    const { packs, after } = progress;
    const next = moveRecords(context, packs, after);
    progress = next === null ? null : { packs, after: next };
    if (next !== null) return true;
    // Readers that have looked up a record may still read it for a while.
    const deletable = (context.clock().getTime() - youngMs + spareForMs) / 1_000;
    for (const pack of packs) utimesSync(context.blobs.segments.pathOf(pack), deletable, deletable);
    return false;
  };
}

/**
 * Removes segments and files of which nothing is named, once they are so old; answers which of the others are to be copied.
 * With 0 what a build that failed has left goes at once, and what another job has made and not published is made again.
 */
export function removeDead(
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

/** Copies records of these segments; answers after which digest to go on, null at the end. */
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
    // What is cut off is lost, and made again once a reader misses it.
    if (record !== null) copies.push({ digest: row.digest, ...segments.append(record) });
  }
  // What a power loss takes must not be all there is.
  if (copies.length > 0) segments.sync();
  const moveQuery = db.query("UPDATE blobs SET pack = ?, start = ? WHERE digest = ?");
  const moveAll = db.transaction(() => {
    for (const { digest, pack, start } of copies) moveQuery.run(pack, start, digest);
  });
  moveAll.immediate();
  return rows.length < rowsPerStep ? null : (rows.at(-1)?.digest ?? null);
}

/** Removes what was set aside and is named by nothing, once no reader can be about to open it. */
export function deletePending(context: BundleContext): void {
  const due = context.manifest.db
    .query<Digest, [number]>("DELETE FROM spare_blobs WHERE spare_since < ? RETURNING digest")
    .all(context.clock().getTime() - spareForMs);
  removeUnnamed(context, due);
}
