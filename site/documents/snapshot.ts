import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { toDetail } from "#content/rules/wire.ts";
import { feedPaths } from "#content/shapes/feed.ts";
import { recordsById } from "#content/store/records.ts";
import {
  type DocumentKey,
  type DocumentKind,
  partsOf,
  type Rendered,
  type Source,
} from "#site/publisher/document.ts";
import { keyOf, snapshotPartOf, snapshotPartSize } from "./keys.ts";

const partsPerBatch = 5;
/** Loaded in one go: about two milliseconds of the event loop. */
const nonprofitsPerQuery = 25;
const compress = promisify(gzip);

/**
 * The snapshot in parts: the profiles of 100 ids each, withdrawn ones too, one JSON object per line. Each part is a
 * whole gzip file, and gzip files one after the other are a gzip file: so a change costs one part, and the snapshot
 * is the parts joined together.
 */
export const snapshotPart: DocumentKind = {
  kind: "snapshot-part",
  async *all({ store }) {
    const { rows } = await store.raw.execute("SELECT max(id) AS newest FROM nonprofits");
    const parts = snapshotPartOf(Number(rows[0]?.["newest"] ?? 0));
    for (let first = 1; first <= parts; first += partsPerBatch) {
      const count = Math.min(partsPerBatch, parts - first + 1);
      yield Array.from({ length: count }, (_, at) => keyOf.snapshotPart(first + at));
    }
  },
  async render(keys, source) {
    const rendered: Rendered[] = [];
    for (const key of keys) rendered.push(await renderPart(key, source));
    return rendered;
  },
};

async function renderPart(key: DocumentKey, { store }: Source): Promise<Rendered> {
  const part = Number(partsOf(key)[1]);
  const firstId = (part - 1) * snapshotPartSize + 1;
  const lines: string[] = [];
  for (let at = 0; at < snapshotPartSize; at += nonprofitsPerQuery) {
    const ids = Array.from({ length: nonprofitsPerQuery }, (_, step) => firstId + at + step);
    for (const record of await recordsById(store.raw, ids)) {
      lines.push(`${JSON.stringify(toDetail(record))}\n`);
    }
    // An embedded store answers without leaving this turn of the event loop; readers get theirs here.
    await setImmediate();
  }
  // The compressor runs on another thread. Node's gzip header holds no time, so equal text gives equal bytes.
  const body = await compress(lines.join(""), { level: 6 });
  return { key, files: [{ path: feedPaths.snapshotPart(part), body }] };
}
