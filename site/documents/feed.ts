import { type FeedFile, feedPaths } from "#content/contract/feed.ts";
import { feedEntries, feedEpoch, feedFile, newestFeedFile } from "#content/feed/store.ts";
import {
  type DocumentKey,
  type DocumentKind,
  partsOf,
  type Rendered,
  type Source,
} from "./document.ts";
import { keyOf } from "./keys.ts";

const filesPerBatch = 20;

/** The numbered files of the change feed. Which changes a file holds is fixed in the store, so it never changes. */
export const feed: DocumentKind = {
  kind: "feed",
  async *all({ store }) {
    const newest = (await newestFeedFile(store))?.number ?? 0;
    for (let first = 1; first <= newest; first += filesPerBatch) {
      const count = Math.min(filesPerBatch, newest - first + 1);
      yield Array.from({ length: count }, (_, at) => keyOf.feed(first + at));
    }
  },
  render: (keys, source) => Promise.all(keys.map((key) => renderFile(key, source))),
};

async function renderFile(key: DocumentKey, { store }: Source): Promise<Rendered> {
  const number = Number(partsOf(key)[1]);
  const path = feedPaths.file(number);
  const range = await feedFile(store, number);
  // Numbers are left out where a new epoch began.
  if (range === null) return { key, files: [{ path, body: null }] };
  const file: FeedFile = {
    epoch: await feedEpoch(store),
    number,
    first_sequence: range.first_sequence,
    last_sequence: range.last_sequence,
    entries: await feedEntries(store, range),
  };
  return { key, files: [{ path, body: `${JSON.stringify(file)}\n` }] };
}
