import { sha256Of } from "#content/runtime/digest.ts";
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { parquetReadObjects } from "hyparquet";
import { csvLine } from "#content/contract/base/csv.ts";
import { feedPaths } from "#content/contract/feed.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import packedRegister from "#content/editorial/packed-register/register.json";
import { newestNonprofitId, recordsById } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { commitRelease } from "#site/bundle/release.ts";
import { csvFields, detailFields, type Row } from "#site/data/detail-fields.ts";
import { type DataFileSet, makeData } from "#site/data/make-data.ts";
import { aBundle, type TestBundle } from "#test/support/bundle.ts";
import { clientsInstalled, runClient } from "#test/support/clients.ts";
import { anImporting } from "#test/support/importing.ts";
import { runProgram } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

const baseUrl = "https://directory.example";
const register = join(
  import.meta.dirname,
  "../../../content/editorial/packed-register",
  packedRegister.file,
);

/** A part of Rhode Island: all of it gives no other outcome. */
const rowsMax = 700;

/** Texts that break one format or another. */
const hostileTexts = [
  `"quoted", 'single'; and;semicolons`,
  "two\nlines\r\nand a\ttab",
  `=HYPERLINK("https://evil.example")`,
  "+1 @SUM(A1) -2",
  "NUL \u0000 inside",
  "\u{1F469}\u200D\u{1F680} e\u0301 \u2028 separators \u2029 \u202Eleft",
  "\\N",
  "null",
  "1e9999",
  "-0012",
  "long ".repeat(20_000),
];
const secret = "secret@private.example";

let bundle: TestBundle;
let made: DataFileSet;
let details: NonprofitDetail[];

/** Publishes lines of the snapshot as the parts that they are in. */
function publishParts(lines: readonly string[]): void {
  const files = [];
  for (let at = 0; at < lines.length; at += 100) {
    const body = gzipSync(lines.slice(at, at + 100).join(""));
    const path = feedPaths.snapshotPart(at / 100 + 1);
    files.push({ path, ...bundle.blobs.put(body) });
  }
  commitRelease(bundle.manifest, { reason: "test", files, asOf: 1, state: {}, now: new Date(0) });
}

beforeAll(async () => {
  const importing = await anImporting();
  const rows = gunzipSync(readFileSync(register)).toString().split("\n", rowsMax);
  const file = importing.file(packedRegister.file.replace(".gz", ""), `${rows.join("\n")}\n`);
  await importing.run(packedRegister.format, [file], { asOf: packedRegister.as_of });
  const newest = await newestNonprofitId(importing.store);
  const ids = Array.from({ length: newest }, (_, at) => at + 1);
  const records = await recordsById(importing.store, ids);
  importing.close();
  const hostile = hostileTexts.map((text, at) => {
    const programme = { name: text, description: text, beneficiaries_per_year: at, location: null };
    const said = { name: text, mission: text, contact_email: secret, programs: [programme] };
    return { ...aNonprofit({ slug: `hostile-${at}`, ...said }), id: newest + 1 + at };
  });
  details = [...records, ...hostile].map((record) => toDetail(record, baseUrl));
  bundle = aBundle();
  publishParts(details.map((detail) => `${JSON.stringify(detail)}\n`));
  made = await makeData({ ...bundle, baseUrl });
});
afterAll(() => bundle.close());

const bytesOf = (path: string, from = made): Buffer =>
  bundle.blobs.read(from.files.find((file) => file.path === `data/${path}`)?.digest ?? "");
/** What a register says something of. */
const listed = () => details.filter(({ register_facts }) => register_facts.length > 0);
/** A file as stock clients find it, under its own name; SQLite's unpacked. */
function placed(path: string): string {
  const file = join(bundle.folder, path.replace(/\.sqlite\.gz$/, ".sqlite"));
  writeFileSync(file, path.endsWith(".sqlite.gz") ? gunzipSync(bytesOf(path)) : bytesOf(path));
  return file;
}

const mapped = (row: Record<string, unknown>, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]));
/** A detail as columns: what every reader must find. */
const flat = (detail: Row): Record<string, unknown> =>
  Object.fromEntries(
    detailFields.map(({ name, kind }) => {
      const value = detail[name] ?? null;
      if (value !== null && kind === "boolean") return [name, Boolean(value)];
      return [name, typeof value === "object" && value !== null ? JSON.stringify(value) : value];
    }),
  );
const plainNumbers = (row: Record<string, unknown>) =>
  mapped(row, (value) => (typeof value === "bigint" ? Number(value) : value));
const cellsOf = (text: string | Buffer): string[][] => parse(text);
const linesOf = (path: string, from = made): unknown[] =>
  gunzipSync(bytesOf(path, from))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const leaves = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null
    ? [...Object.keys(value), ...Object.values(value).flatMap(leaves)]
    : [value];

describe("the files of /data", () => {
  test("are described with rows, size and digest, registers and licences", () => {
    expect(made.dataPackage.resources.map(({ path }) => path)).toEqual([
      "nonprofits.csv.gz",
      "nonprofits.ndjson.gz",
      "nonprofits.parquet",
      "nonprofits.sqlite.gz",
    ]);
    for (const { path, bytes, hash, rows, sources, licenses } of made.dataPackage.resources) {
      expect(rows).toBe(details.length);
      expect(bytes).toBe(bytesOf(path).length);
      expect(hash).toBe(`sha256:${sha256Of(bytesOf(path))}`);
      const source = { title: "IRS Business Master File", name: "irs-bmf" };
      expect(sources).toMatchObject([{ ...source, rows: listed().length }]);
      expect(licenses).toMatchObject([{ title: "Public domain (work of the US government)" }]);
    }
    expect(JSON.parse(bytesOf("datapackage.json").toString())).toEqual(
      JSON.parse(JSON.stringify(made.dataPackage)),
    );
  });
  test("have the same bytes when they are made again, and leave nothing else behind", async () => {
    expect((await makeData({ ...bundle, baseUrl })).files).toEqual(made.files);
    expect(readdirSync(bundle.blobs.folder).filter((name) => name.endsWith(".draft"))).toEqual([]);
  });
  test("know every field of the detail", () => {
    const known = detailFields.map(({ name }) => name);
    expect(known).toEqual(Object.keys(NonprofitDetail.shape));
    expect(
      new Set(details.flatMap((detail) => Object.keys(detail))).difference(new Set(known)),
    ).toEqual(new Set());
  });
  test("hold no contact address", () => {
    for (const { path, digest } of made.files) {
      const bytes = bundle.blobs.read(digest);
      expect((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).includes(secret)).toBe(false);
    }
  });
});

test("NDJSON has each detail as it is", () => {
  expect(linesOf("nonprofits.ndjson.gz")).toEqual(details);
});

test("CSV has a row for each, defused, with lists joined", () => {
  const rows = cellsOf(gunzipSync(bytesOf("nonprofits.csv.gz")));
  expect(rows[0]).toEqual(csvFields.map(({ name }) => name));
  expect(rows).toHaveLength(details.length + 1);
  const column = (name: string) => rows.slice(1).map((row) => row[rows[0]?.indexOf(name) ?? -1]);
  const defused = (text: string) => cellsOf(csvLine([text, "end"]))[0]?.[0];
  expect(column("name")).toEqual(details.map(({ name }) => defused(name)));
  expect(column("causes")).toEqual(
    details.map(({ causes }) => causes.map(({ id }) => id).join("; ")),
  );
  expect(column("identifiers")).toEqual(details.map(({ identifiers }) => identifiers.join("; ")));
  expect(column("verified")).toEqual(details.map(({ verified }) => String(verified === 1)));
  expect(column("register_facts")?.at(0)).toBe("irs-bmf");
  const json = (items: unknown[]) => (items.length === 0 ? "" : JSON.stringify(items));
  expect(column("giver_answers")).toEqual(details.map((one) => json(one.giver_answers)));
  expect(column("finances")).toEqual(details.map((one) => json(one.finances)));
});

test("Parquet reads as the details in hyparquet", async () => {
  const bytes = bytesOf("nonprofits.parquet");
  const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
  expect(rows.map(plainNumbers)).toEqual(details.map(flat));
});

describe.skipIf(!clientsInstalled)("DuckDB", () => {
  const ask = (...queries: string[]) =>
    runClient("duckdb.mjs", { queries }) as Promise<Record<string, unknown>[][]>;
  const asTexts = (row: Record<string, unknown>) =>
    mapped(row, (value) => (value === null ? null : String(value)));

  test("reads Parquet, NDJSON and CSV with equal counts and values", async () => {
    const [parquet = [], json = [], csv = []] = await ask(
      `SELECT * FROM '${placed("nonprofits.parquet")}'`,
      `SELECT slug, name, mission, founded_year, verified FROM read_json('${placed("nonprofits.ndjson.gz")}', maximum_object_size = 1000000)`,
      `SELECT * FROM read_csv('${placed("nonprofits.csv.gz")}', all_varchar = true, header = true, quote = '"', escape = '"', delim = ',', max_line_size = 1000000)`,
    );
    expect(parquet.map(asTexts)).toEqual(details.map((detail) => asTexts(flat(detail))));
    const some = details.map(({ slug, name, mission, founded_year, verified }) =>
      asTexts({ slug, name, mission, founded_year, verified }),
    );
    expect(json.map(asTexts)).toEqual(some);
    const rows = cellsOf(gunzipSync(bytesOf("nonprofits.csv.gz"))).slice(1);
    expect(csv.map((row) => Object.values(row).map((value) => value ?? ""))).toEqual(rows);
  });
});

describe("SQLite", () => {
  let db: Database;
  beforeAll(() => {
    db = new Database(placed("nonprofits.sqlite.gz"), { readonly: true });
  });
  afterAll(() => db.close());
  const all = (sql: string) => db.query<Record<string, unknown>, []>(sql).all();

  test("has tables with primary keys, and their rows as described", () => {
    expect(all("PRAGMA user_version")).toEqual([{ user_version: 1 }]);
    expect(all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const resource = made.dataPackage.resources.find(({ path }) => path === "nonprofits.sqlite.gz");
    const { tables } = resource as unknown as {
      tables: { name: string; rows: number; schema: { fields: Row[]; primaryKey: string[] } }[];
    };
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["nonprofits", "causes", "registrations", "programs", "provenance"]),
    );
    const namesOf = (rows: Row[]) => rows.map((row) => row["name"]);
    for (const { name, rows, schema } of tables) {
      expect(all(`SELECT count(*) AS n FROM ${name}`)).toEqual([{ n: rows }]);
      const columns = all(`SELECT name, pk FROM pragma_table_info('${name}')`);
      expect(namesOf(columns)).toEqual(namesOf(schema.fields));
      expect(namesOf(columns.filter(({ pk }) => Number(pk) > 0))).toEqual(schema.primaryKey);
    }
  });
  test("has the values of the details, and no other", () => {
    const rows = all("SELECT * FROM nonprofits ORDER BY id");
    // SQLite has numbers for ids and for what is true.
    const numbers = ["id", "ghd_aligned", "verified", "has_contact_email"];
    for (const [at, detail] of details.entries()) {
      const expected = Object.fromEntries(
        Object.entries(flat(detail)).map(([name, value]) => [
          name,
          numbers.includes(name) ? Number(value) : value,
        ]),
      );
      expect({ ...expected, ...rows[at] }).toEqual(expected);
    }
    expect(all("SELECT count(*) AS n FROM causes")).toEqual([
      { n: details.reduce((sum, { causes }) => sum + causes.length, 0) },
    ]);
    const own = details.flatMap(({ id, ...detail }) => [Number(id), ...leaves({ id, ...detail })]);
    const known = new Set<unknown>([...own, true, false, null]);
    const names = all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) =>
      String(name),
    );
    const positions = new Set(["position", "item"]);
    const foreign = names.flatMap((name) =>
      all(`SELECT * FROM ${name}`).flatMap((row) =>
        Object.entries(row)
          .filter(([column]) => !positions.has(column))
          .flatMap(([, value]) =>
            typeof value === "string" && /^[[{]/.test(value) && !known.has(value)
              ? leaves(JSON.parse(value))
              : [value],
          )
          .filter((value) => !known.has(value)),
      ),
    );
    // Positions in lists, as JSON.parse names them.
    expect([...new Set(foreign)].filter((value) => !/^\d$/.test(String(value)))).toEqual([]);
  });
  test.skipIf(Bun.which("sqlite3") === null)("is read by Debian's sqlite3", async () => {
    const query = "SELECT slug, hex(name) AS name, city, founded_year FROM nonprofits ORDER BY id";
    const file = placed("nonprofits.sqlite.gz");
    const { out } = await runProgram(["sqlite3", "-json", "-readonly", file, query]);
    const hex = (text: string) => Buffer.from(text).toString("hex").toUpperCase();
    expect(JSON.parse(out)).toEqual(
      details.map(({ slug, name, city, founded_year }) => ({
        slug,
        name: hex(name),
        city,
        founded_year,
      })),
    );
  });
});

test("a larger directory has files by country and register, too, with the profiles of each", async () => {
  const split = await makeData({ ...bundle, baseUrl }, { splitAbove: 300 });
  const sliced = split.dataPackage.resources.slice(4);
  const parts = {
    "countries/us": "United States",
    "registers/irs-bmf": "IRS Business Master File",
  };
  expect(sliced.map(({ path, title }) => [path, title])).toEqual(
    Object.entries(parts).flatMap(([path, title]) =>
      ["ndjson.gz", "csv.gz", "parquet"].map((format) => [`${path}.${format}`, title]),
    ),
  );
  expect(sliced.at(-1)?.rows).toBe(listed().length);
  expect(linesOf("registers/irs-bmf.ndjson.gz", split)).toEqual(listed());
});
