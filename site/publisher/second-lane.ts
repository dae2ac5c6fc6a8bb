import { type Change, changesAfter } from "#content/store/changes.ts";
import { closeFeedFiles } from "#content/store/feed.ts";
import { countInList, listCounts, placesInLists } from "#content/store/lists.ts";
import { keyOf, pageSizeOf } from "#site/documents/keys.ts";
import type { BundleFile, DocumentKey } from "./document.ts";
import type { Manifest } from "./manifest.ts";
import { noteFailures, publishFiles, storeFiles } from "./publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { renderKeys } from "./render-keys.ts";
import { staleLater } from "./stale-paths.ts";

/** Changes taken in one go; more than this many and the places of each are not worth asking for. */
const changesMax = 20_000;
const askPlacesUpTo = 200;
/** So many documents are rendered before the fast lane gets its turn. */
const keysPerSlice = 2;

/** Lets the fast lane run; called between slices of work. */
export type GiveWay = () => Promise<void>;

/**
 * Brings up to date all that shifts many pages: list pages, counts, sitemaps, the change feed and the snapshot. The
 * work is cut into slices of a few milliseconds, with `giveWay` between them; the outcome is one release. Answers how
 * many changes it took.
 */
export async function runSecondLane(parts: PublisherParts, giveWay: GiveWay): Promise<number> {
  const { manifest, source, clock } = parts;
  const { slow_sequence, fast_sequence } = manifest.state();
  const changes = (await changesAfter(source.store.raw, slow_sequence, changesMax)).filter(
    ({ sequence }) => sequence <= fast_sequence,
  );
  const last = changes.at(-1);
  if (last === undefined) return 0;
  const keys = await staleKeys(parts, changes, giveWay);
  const closed = { after: slow_sequence, upTo: last.sequence, now: clock() };
  for (const number of await closeFeedFiles(source.store, closed)) keys.add(keyOf.feed(number));
  await renderInSlices(parts, keys, last.sequence, giveWay);
  return changes.length;
}

async function renderInSlices(
  parts: PublisherParts,
  keys: ReadonlySet<DocumentKey>,
  asOf: number,
  giveWay: GiveWay,
): Promise<void> {
  const stored: ReturnType<typeof storeFiles> = { kept: [], removed: [] };
  const failures: { key: DocumentKey; error: string }[] = [];
  const queue = [...keys];
  for (let at = 0; at < queue.length; at += keysPerSlice) {
    const slice = queue.slice(at, at + keysPerSlice);
    const { files, failed } = await renderKeys(slice, parts.kinds, parts.source);
    const { kept, removed } = storeFiles(parts, changedOnly(parts, files));
    stored.kept.push(...kept);
    stored.removed.push(...removed);
    failures.push(...failed);
    await giveWay();
  }
  noteFailures(parts, keys, failures);
  publishFiles(parts, stored, { reason: `lists to ${asOf}`, asOf, state: { slow_sequence: asOf } });
}

/** Paths that must not exist and do not are no work. */
const changedOnly = ({ manifest }: PublisherParts, files: BundleFile[]): BundleFile[] =>
  files.filter(({ path, body }) => body !== null || manifest.find(path) !== null);

async function staleKeys(
  parts: PublisherParts,
  changes: readonly Change[],
  giveWay: GiveWay,
): Promise<Set<DocumentKey>> {
  const keys = new Set<DocumentKey>();
  const lists = new Set<string>();
  const byNonprofit = Map.groupBy(changes, (change) => change.nonprofit_id);
  const asking = byNonprofit.size <= askPlacesUpTo;
  for (const [id, own] of byNonprofit) {
    const places =
      id !== null && asking
        ? await placesInLists(parts.source.store.raw, id)
        : new Map<string, number>();
    for (const change of own) {
      const stale = staleLater(change, places);
      for (const key of stale.keys) keys.add(key);
      for (const list of stale.lists) lists.add(list);
    }
    if (asking) await giveWay();
  }
  // Counting all lists takes 100 ms in a big directory, and most changes move nothing.
  const { raw } = parts.source.store;
  const counts = asking ? new Map<string, number>() : await listCounts(raw);
  for (const list of counts.keys()) lists.add(list);
  for (const list of lists) {
    const count = counts.get(list) ?? (asking ? await countInList(raw, list) : 0);
    for (const key of pagesOf(list, count, parts.manifest)) keys.add(key);
    if (asking) await giveWay();
  }
  return keys;
}

/** All pages of a list, and those beyond its end that an earlier release still holds. */
function pagesOf(list: string, count: number, manifest: Manifest): DocumentKey[] {
  if (list === "thin") return [];
  const pages = Math.max(1, Math.ceil(count / pageSizeOf(list)), pagesHeld(list, manifest));
  return Array.from({ length: pages }, (_, at) => keyOf.listPage(list, at + 1));
}

function pagesHeld(list: string, manifest: Manifest): number {
  const folder = list === "all" ? "api/nonprofits/pages/" : `${folderOf(list)}/`;
  const held = manifest.db
    .query<{ count: number }, [string, string]>(
      "SELECT count(*) AS count FROM files WHERE path >= ? AND path < ?",
    )
    .get(folder, `${folder.slice(0, -1)}0`); // "0" follows "/".
  return (held?.count ?? 0) + 1;
}

const folderOf = (list: string): string => {
  const [kind = "", value = ""] = list.split(":");
  return kind === "cause" ? `causes/${value}` : `countries/${value.toLowerCase()}`;
};
