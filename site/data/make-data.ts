import { createWriteStream, mkdirSync, rmSync } from "node:fs";
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
import type { Blobs } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { snapshotParts, snapshotPieces, snapshotState } from "#site/bundle/snapshot.ts";
import { detailFields, schemaOf } from "./detail-fields.ts";
import { writeSqlite } from "./sqlite-file.ts";
import { detailsIn, type Line, pack, writeCsv, writeParquet } from "./table-files.ts";

/** What lies among the blobs and waits for a release; `parts` is the mark of the snapshot that it is made of. */
export type MadeData = { parts: string; files: NewFile[]; dataPackage: DataPackage };

/** A larger directory has files by country and register, too: of each that has a twentieth of this. */
const splitAboveDefault = 20_000;

/** Each writes a file from details, and answers what the data package says of its content. */
const writers = { csv: writeCsv, ndjson: writeLines, parquet: writeParquet, sqlite: writeSqlite };
const formats = Object.keys(writers) as (keyof typeof writers)[];

/** Asks for a file `to` of the details that are in a slice; `from` holds all, as packed lines of JSON. */
export type DataTask = { from: string; slice: string; format: keyof typeof writers; to: string };
/** `content` is what the data package says of it. */
export type DataFile = DataTask & { digest: string; size: number; content: object };

/** Writes a file of /data. Some thousand details are in memory at most. */
export async function writeDataFile(task: DataTask): Promise<DataFile> {
  const { from, slice, format, to } = task;
  const content = await writers[format](
    slice === whole ? detailsIn(from) : within(slice, from),
    to,
  );
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of Bun.file(to).stream()) hasher.update(piece);
  return { ...task, digest: hasher.digest("hex"), size: Bun.file(to).size, content };
}

async function writeHere(tasks: readonly DataTask[]): Promise<DataFile[]> {
  const written: DataFile[] = [];
  for (const task of tasks) written.push(await writeDataFile(task));
  return written;
}

type DataOptions = {
  splitAbove?: number;
  /** Writes the files of a directory that is split, for example in other processes; answers in the order of the tasks. */
  writeLarge?: typeof writeHere;
};

/** Makes the files of /data from the parts of the snapshot, so that they hold what details hold. */
export async function makeData(
  { manifest, blobs, baseUrl }: { manifest: Manifest; blobs: Blobs; baseUrl: string },
  { splitAbove = splitAboveDefault, writeLarge = writeHere }: DataOptions = {},
): Promise<MadeData> {
  const folder = blobs.draftPath();
  mkdirSync(folder);
  const files: NewFile[] = [];
  const resources: DataResource[] = [];
  const { mark } = snapshotState(manifest);
  try {
    const from = `${folder}/all`;
    await pipeline(snapshotPieces(blobs, snapshotParts(manifest)), createWriteStream(from));
    const slices = await slicesIn(from, splitAbove);
    const tasks = slices.keys().flatMap((slice) =>
      formats
        .filter((format) => format !== "sqlite" || slice === whole)
        .map((format) => ({
          from,
          slice,
          format,
          to: `${from}-${slice.replace("/", "-")}.${format}`,
        })),
    );
    const write = (slices.get(whole)?.rows ?? 0) > splitAbove ? writeLarge : writeHere;
    for (const file of await write([...tasks])) {
      const resource = resourceOf(file, slices.get(file.slice) ?? emptySlice());
      resources.push(resource);
      files.push({ ...blobs.adopt(file.to, file), path: feedPaths.data + resource.path });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const dataPackage = { ...about.package, homepage: `${baseUrl}/data`, resources };
  const body = Buffer.from(`${JSON.stringify(dataPackage, null, 1)}\n`);
  files.push({ path: feedPaths.dataPackage, ...blobs.put(body, feedPaths.dataPackage) });
  return { parts: mark, files, dataPackage };
}

/** What the data package says of a file. */
function resourceOf(
  { slice, format, digest, size, content }: DataFile,
  { title, rows, sources: found }: Slice,
): DataResource {
  const sources = [...found.values()].sort((a, b) => b.rows - a.rows);
  const licenses = [...new Map(sources.map(({ licence }) => [licence.path, licence])).values()];
  const { ending, ...kind } = about.formats[format];
  return {
    name: `${slice.replace("/", "-")}-${format}`,
    path: slice + ending,
    ...{ title, format, ...kind, rows, sources, ...content },
    // An empty list is none that a Data Package may have.
    ...(licenses.length > 0 && { licenses }),
    bytes: size,
    hash: `sha256:${digest}`,
  };
}

async function writeLines(details: AsyncIterable<Line>, to: string) {
  async function* text() {
    for await (const { line } of details) yield `${line}\n`;
  }
  await pack(text(), to);
  return schemaOf(detailFields, { json: true });
}

/** What has files of its own: the directory, or a country or register of it. */
type Slice = { title: string; rows: number; sources: Map<string, DataSource> };
const emptySlice = (title = ""): Slice => ({ title, rows: 0, sources: new Map() });
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

async function* within(slice: string, file: string): AsyncGenerator<Line> {
  for await (const { line, detail } of detailsIn<NonprofitDetail>(file))
    if (slicesOf(detail).has(slice)) yield { line, detail };
}

/** The slices that get files, the whole first. */
async function slicesIn(file: string, splitAbove: number): Promise<Map<string, Slice>> {
  const slices = new Map<string, Slice>([[whole, emptySlice()]]);
  for await (const { detail } of detailsIn<NonprofitDetail>(file)) {
    const facts = new Map(detail.register_facts.map((fact) => [fact.register, fact]));
    for (const [path, title] of slicesOf(detail)) {
      const slice = slices.getOrInsert(path, emptySlice(title));
      slice.rows++;
      for (const [id, fact] of facts)
        slice.sources.set(id, sourceOf(fact, (slice.sources.get(id)?.rows ?? 0) + 1));
    }
  }
  const all = slices.get(whole)?.rows ?? 0;
  const isSplit = (rows: number) => all > splitAbove && rows >= splitAbove / 20 && rows < all;
  const sorted = [...slices]
    .filter(([path, { rows }]) => path === whole || isSplit(rows))
    .toSorted(([a], [b]) => Number(b === whole) - Number(a === whole) || (a < b ? -1 : 1));
  return new Map(sorted);
}

const sourceOf = (fact: RegisterFacts, rows: number): DataSource => ({
  name: fact.register,
  title: fact.register_name,
  rows,
  attribution: fact.attribution,
  licence: { title: fact.licence.name, path: fact.licence.url },
});
