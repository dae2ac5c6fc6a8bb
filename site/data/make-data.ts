import { copyFileSync, createWriteStream, mkdirSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import about from "#content/editorial/data-package.json";
import {
  type DataPackage,
  type DataResource,
  type DataSource,
  feedPaths,
} from "#content/contract/feed.ts";
import type { NonprofitDetail, RegisterFacts } from "#content/contract/nonprofit.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import type { Blobs, StoredContent } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { snapshotParts, snapshotPieces, snapshotState } from "#site/bundle/snapshot.ts";
import { detailFields, schemaOf } from "./detail-fields.ts";
import { writeSqlite } from "./sqlite-file.ts";
import { detailsIn, pack, writeCsv, writeParquet } from "./table-files.ts";

/** What lies among the blobs and waits for a release; `parts` is the mark of the snapshot that it is made of. */
export type MadeData = { parts: string; files: NewFile[]; dataPackage: DataPackage };

/** A larger directory has files by country and register, too: of each that has a twentieth of this. */
const splitAboveDefault = 20_000;

/** Each writes a file from packed lines of JSON, and answers what the data package says of its content. */
const writers = { csv: writeCsv, ndjson: copyLines, parquet: writeParquet, sqlite: writeSqlite };
const formats = Object.keys(writers) as (keyof typeof writers)[];

/** Makes the files of /data from the parts of the snapshot, so that they hold what details hold, 5,000 at a time in memory. */
export async function makeData(
  { manifest, blobs, baseUrl }: { manifest: Manifest; blobs: Blobs; baseUrl: string },
  splitAbove = splitAboveDefault,
): Promise<MadeData> {
  const folder = blobs.draftPath();
  mkdirSync(folder);
  const files: NewFile[] = [];
  const resources: DataResource[] = [];
  const { mark } = snapshotState(manifest);
  const parts = snapshotParts(manifest);
  try {
    const all = `${folder}/all`;
    await pipeline(snapshotPieces(blobs, parts), createWriteStream(all));
    for (const [path, { title, rows, sources: found }] of await slicesIn(all, splitAbove)) {
      const start = `${folder}/${path.replace("/", "-")}`;
      const lines = path === whole ? all : `${start}-lines`;
      if (path !== whole) await pack(linesOf(path, all), lines);
      const sources = [...found.values()].sort((a, b) => b.rows - a.rows);
      const licenses = [...new Map(sources.map(({ licence }) => [licence.path, licence])).values()];
      for (const format of formats.filter((one) => one !== "sqlite" || path === whole)) {
        const { ending, ...kind } = about.formats[format];
        const content = await writers[format](lines, start + ending);
        const stored = await storeDraft(blobs, start + ending);
        files.push({ ...stored, path: feedPaths.data + path + ending });
        resources.push({
          name: `${path.replace("/", "-")}-${format}`,
          path: path + ending,
          ...{ title, format, ...kind, rows, sources, ...content },
          // An empty list is none that a Data Package may have.
          ...(licenses.length > 0 && { licenses }),
          bytes: stored.size,
          hash: `sha256:${stored.digest}`,
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const dataPackage = { ...about.package, homepage: `${baseUrl}/data`, resources };
  const body = Buffer.from(`${JSON.stringify(dataPackage, null, 1)}\n`);
  files.push({ path: feedPaths.dataPackage, ...blobs.put(body, feedPaths.dataPackage) });
  return { parts: mark, files, dataPackage };
}

function copyLines(from: string, to: string) {
  copyFileSync(from, to);
  return schemaOf(detailFields, { json: true });
}

/** What has files of its own: the directory, or a country or register of it. */
type Slice = { title: string; rows: number; sources: Map<string, DataSource> };
const whole = "nonprofits";

/** The slices that a nonprofit is in: where their files lie, and what they are of. The whole is the first. */
function slicesOf({ country, register_facts }: NonprofitDetail): Map<string, string> {
  const code = countryCode(country ?? "")?.toLowerCase();
  return new Map([
    [whole, ""],
    ...(code && country ? [[`countries/${code}`, country] as const] : []),
    ...register_facts.map((fact) => [`registers/${fact.register}`, fact.register_name] as const),
  ]);
}

async function* linesOf(wanted: string, file: string): AsyncGenerator<string> {
  for await (const detail of detailsIn<NonprofitDetail>(file)) {
    if (slicesOf(detail).has(wanted)) yield `${JSON.stringify(detail)}\n`;
  }
}

/** The slices that get files, the whole first. */
async function slicesIn(file: string, splitAbove: number): Promise<[path: string, Slice][]> {
  const slices = new Map<string, Slice>([[whole, { title: "", rows: 0, sources: new Map() }]]);
  for await (const detail of detailsIn<NonprofitDetail>(file)) {
    const facts = new Map(detail.register_facts.map((fact) => [fact.register, fact]));
    for (const [path, title] of slicesOf(detail)) {
      const slice = slices.getOrInsert(path, { title, rows: 0, sources: new Map() });
      slice.rows++;
      for (const [id, fact] of facts)
        slice.sources.set(id, sourceOf(fact, (slice.sources.get(id)?.rows ?? 0) + 1));
    }
  }
  const all = slices.get(whole)?.rows ?? 0;
  const isSplit = (rows: number) => all > splitAbove && rows >= splitAbove / 20 && rows < all;
  return [...slices]
    .filter(([path, { rows }]) => path === whole || isSplit(rows))
    .toSorted(([a], [b]) => Number(b === whole) - Number(a === whole) || (a < b ? -1 : 1));
}

const sourceOf = (fact: RegisterFacts, rows: number): DataSource => ({
  name: fact.register,
  title: fact.register_name,
  rows,
  attribution: fact.attribution,
  licence: { title: fact.licence.name, path: fact.licence.url },
});

/** Takes a file among the blobs. */
async function storeDraft(blobs: Blobs, file: string): Promise<StoredContent> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of Bun.file(file).stream()) hasher.update(piece);
  return blobs.adopt(file, { digest: hasher.digest("hex"), size: Bun.file(file).size });
}
