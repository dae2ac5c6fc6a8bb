import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type FeedFile, feedPaths } from "#content/contract/feed.ts";
import { feedEntries, feedEpoch, feedFile, feedFileNumbers } from "#content/feed/store.ts";
import { newestNonprofitId, recordsById } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import {
  type DocumentKey,
  type DocumentKind,
  numbered,
  oneByOne,
  type Source,
  profileIn,
} from "./document.ts";

const filesPerBatch = 20;

export const feedKey = (number: number): DocumentKey => `feed ${number}`;

/** The numbered files of the change feed. The store fixes which changes a file holds, so it never changes. */
export const feed: DocumentKind = oneByOne(
  "feed",
  async function* ({ store }) {
    const keys = (await feedFileNumbers(store)).map(feedKey);
    for (let at = 0; at < keys.length; at += filesPerBatch)
      yield keys.slice(at, at + filesPerBatch);
  },
  async ({ store }: Source, word) => {
    const number = Number(word);
    const path = feedPaths.file(number);
    const range = await feedFile(store, number);
    // A new epoch skips numbers.
    if (range === null) return { path, body: null };
    const file: FeedFile = {
      epoch: await feedEpoch(store),
      number,
      first_sequence: range.first_sequence,
      last_sequence: range.last_sequence,
      entries: await feedEntries(store, range),
    };
    return { path, body: `${JSON.stringify(file)}\n` };
  },
);

const snapshotPartSize = 100;
export const snapshotPartOf = (nonprofitId: number): number =>
  Math.floor((nonprofitId - 1) / snapshotPartSize) + 1;
export const snapshotPartKey = (part: number): DocumentKey => `snapshot-part ${part}`;

const partsPerBatch = 5;
const compress = promisify(gzip);
const expand = promisify(gunzip);

/**
 * The snapshot in parts: the profiles of 100 ids each, withdrawn ones too, one JSON object per line. Each part is a whole
 * gzip file, and gzip files in a row are a gzip file: a change rewrites one part, and the joined parts are the snapshot.
 */
export const snapshotPart: DocumentKind = {
  ...oneByOne(
    "snapshot-part",
    async function* ({ store }) {
      const parts = snapshotPartOf(await newestNonprofitId(store));
      yield* numbered(parts, partsPerBatch, snapshotPartKey);
    },
    async (source: Source, word) => {
      const part = Number(word);
      const firstId = (part - 1) * snapshotPartSize + 1;
      const ids = Array.from({ length: snapshotPartSize }, (_, step) => firstId + step);
      const lines = await snapshotLines(source, ids);
      return { path: feedPaths.snapshotPart(part), body: await packed(lines) };
    },
  ),
  staleLater: (change) => {
    const id = profileIn(change);
    return id === null ? [] : [snapshotPartKey(snapshotPartOf(id))];
  },
};

/** The line of each of these nonprofits, by id. Pass about 1,000 ids at a time. */
export async function snapshotLines(
  { store, baseUrl, givingLinks }: Pick<Source, "store" | "baseUrl" | "givingLinks">,
  ids: Iterable<number>,
): Promise<Map<number, string>> {
  const records = await recordsById(store, [...ids]);
  return new Map(
    records.map((record) => [
      record.id,
      `${JSON.stringify(toDetail(record, baseUrl, givingLinks))}\n`,
    ]),
  );
}

/**
 * A part with some lines replaced, in a quarter of the time: if other lines are current, the same bytes as a new rendering.
 */
export async function patchedPart(
  held: Uint8Array,
  fresh: ReadonlyMap<number, string>,
): Promise<Uint8Array> {
  const lines = new Map<number, string>();
  for (const line of (await expand(held)).toString().split(/(?<=\n)/)) {
    if (line !== "") lines.set(Number(/^\{"id":"(\d+)"/.exec(line)?.[1]), line);
  }
  for (const [id, line] of fresh) lines.set(id, line);
  return packed(lines);
}

/** Compresses lines by ascending id, on another thread. Node's gzip header has no time, so equal text gives equal bytes. */
function packed(lines: ReadonlyMap<number, string>): Promise<Buffer> {
  const sorted = [...lines].sort(([id], [other]) => id - other);
  return compress(sorted.map(([, line]) => line).join(""), { level: 6 });
}
