import type { NewFile } from "#site/bundle/manifest.ts";
import { exportCommitted, exportInSlices } from "#site/bundle/export-step.ts";
import { commitNextFiles, openNextFiles } from "#site/publisher/next-files.ts";
import { storeFiles } from "#site/bundle/publish-files.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import { type Committed, commitRelease } from "#site/bundle/release.ts";
import { setAside } from "#site/bundle/pending-deletes.ts";
import { lunrList, lunrListPath } from "./lunr-list.ts";
import type { MadeIndexes } from "./make-indexes.ts";
import { pagefindFolder, pagefindShards } from "./pagefind-shard.ts";
import { heldUnder } from "./plan.ts";

/** Names the shards that pages have to load. Without it there is no index for people. */
export const shardsPath = "pagefind/shards.json";

/**
 * Makes indexes current, as one release. What older indexes of Pagefind named stays a while for pages that are open.
 * Throws when a file went from the blobs meanwhile: then the indexes have to be made again.
 */
export async function publishIndexes(
  parts: PublisherParts,
  made: MadeIndexes,
  state: { search_inputs: string },
): Promise<Committed> {
  const pagefind = [...made.pagefind.flatMap(({ files }) => files), ...shardsFile(parts, made)];
  const lunr = [...made.lunr, ...listFile(parts, made)];
  for (const { path, digest } of [...lunr, ...pagefind]) {
    if (!parts.blobs.has(digest)) throw new Error(`${path} went before it was published`);
  }
  const { manifest, clock } = parts;
  const now = clock();
  const committing = manifest.db.transaction((): Committed => {
    setAside(manifest, pagefind, now);
    const next = openNextFiles(manifest);
    next.add([...lunr, ...pagefind]);
    const committed = commitNextFiles(manifest, next, {
      reason: "search indexes",
      removed: made.lunrGone,
      removeOthers: false,
      // The first change is number 1, and a file as of 0 counts as old.
      asOf: Math.max(made.asOf, 1),
      state: { ...state, search_sequence: made.asOf },
      now,
    });
    // What Pagefind made keeps no history: a rollback leaves it alone, for half of an index finds nothing.
    manifest.db
      .query("DELETE FROM history WHERE release = ? AND path > 'pagefind/' AND path < 'pagefind0'")
      .run(committed.release);
    for (let shard = 1; shard <= pagefindShards; shard++)
      doomOld(parts, shard, made, { now, release: committed.release });
    return committed;
  });
  const committed = committing.immediate();
  await exportInSlices(parts, committed, () => Bun.sleep(0));
  return committed;
}

/** Brings the list of lunr files in step with those of a full build. */
export function publishLunrList(parts: PublisherParts): Committed {
  const asOf = Math.max(parts.manifest.state().slow_sequence, 1);
  const files = listFile(parts, { asOf, lunr: [], lunrGone: [] });
  const draft = { reason: "list of search indexes", files, removed: [], asOf, state: {} };
  const committed = commitRelease(parts.manifest, { ...draft, now: parts.clock() });
  exportCommitted(parts, committed);
  return committed;
}

function listFile(
  { manifest, blobs }: PublisherParts,
  { asOf, lunr, lunrGone }: Pick<MadeIndexes, "asOf" | "lunr" | "lunrGone">,
): NewFile[] {
  const files = new Map<string, NewFile>();
  const newer = new Set<string>();
  for (const { as_of, ...file } of heldUnder(manifest.db, "search/")) {
    if (!file.path.endsWith(".lunr.json")) continue;
    files.set(file.path, file);
    // A full build overtook this one.
    if (as_of > asOf) newer.add(file.path);
  }
  for (const path of lunrGone) if (!newer.has(path)) files.delete(path);
  for (const file of lunr) if (!newer.has(file.path)) files.set(file.path, file);
  const body = lunrList(blobs, [...files.values()]);
  return storeFiles({ blobs }, [{ path: lunrListPath, body }]).kept;
}

function shardsFile({ manifest, blobs }: PublisherParts, { shards }: MadeIndexes): NewFile[] {
  if (shards.length === 0 && manifest.find(shardsPath) === null) return [];
  const body = `${JSON.stringify({ shards })}\n`;
  return storeFiles({ blobs }, [{ path: shardsPath, body }]).kept;
}

/** Marks files that the shard's new index does not name; `prune` removes them a day later. */
function doomOld(
  { manifest }: PublisherParts,
  shard: number,
  { pagefind, shards }: MadeIndexes,
  { now, release }: { now: Date; release: number },
): void {
  const files = pagefind.find((one) => one.shard === shard)?.files;
  if (files === undefined && shards.includes(shard)) return;
  const named = new Set((files ?? []).map(({ path }) => path));
  // Marked as changed, so that the signed list of all files leaves it out from now on.
  const dooming = manifest.db.query(
    "UPDATE files SET doomed_at = ?1, release = ?2 WHERE path = ?3 AND doomed_at IS NULL",
  );
  for (const { path } of heldUnder(manifest.db, pagefindFolder(shard))) {
    if (!named.has(path)) dooming.run(now.getTime(), release, path);
  }
}
