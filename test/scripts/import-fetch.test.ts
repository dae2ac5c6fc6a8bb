import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { english } from "#content/language/texts.ts";
import { newestFetches } from "#content/register/import-store.ts";
import { fetchAndImport } from "#scripts/import/fetch-all.ts";
import { type FetchOptions, fetchFile } from "#scripts/import/fetch-file.ts";
import { scheduleImports } from "#scripts/publish/watch.ts";
import { readCsv } from "#scripts/import/read-file.ts";
import { sourceName } from "#site/profile/profile-facts.ts";
import { registerFormats } from "#scripts/import/run-import.ts";
import { anImporting, importRequest, outcome, registerFile } from "#test/support/importing.ts";
import { aLyingServer, type Answer, type LyingServer } from "#test/support/lying-server.ts";
import { zipOf } from "#test/support/zip.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const dataDir = forEachTest(aFolder);

let server: LyingServer;
beforeEach(async () => {
  server = await aLyingServer();
});
afterEach(() => {
  server.close();
});

const good = readFileSync(registerFile("eo_aa.csv"), "utf8");
const half = good.slice(0, good.length / 2);
const rest = good.slice(half.length);
const may = "Fri, 08 May 2026 04:00:00 GMT";
const june = "Fri, 12 Jun 2026 10:00:00 GMT";
const first = { etag: '"1"', "last-modified": may };

const patience = { stallMs: 30_000, triesMax: 4, firstWaitMs: 1 };

/** Fetches a file of the server into the folder of the test; answers its text, or how it failed. */
async function fetched(answers: Answer[], options: Partial<FetchOptions> = {}): Promise<string> {
  server.answers = answers.map((answer) => () => answer);
  const signal = new AbortController().signal;
  // Only a server that stalls is waited for so shortly, and long enough for a busy machine to ask it each time.
  const stalls = answers.some(({ after }) => after === "stall") ? { stallMs: 1_000 } : {};
  const all = { folder: folder(), before: null, signal, ...patience, ...stalls, ...options };
  try {
    const { file } = await fetchFile(`${server.origin}/pub/eo1.csv`, all);
    return file === null ? "unchanged" : readFileSync(file, "utf8");
  } catch (error) {
    return String(error);
  }
}

const folder = () => dataDir("registers/irs-bmf");

const ranged = (from: number, body: string, headers: Record<string, string> = first): Answer => ({
  status: 206,
  headers: { ...headers, "content-range": `bytes ${from}-${good.length - 1}/${good.length}` },
  body,
});

describe("a file is whole", () => {
  const cut: Answer = { headers: first, body: half, length: good.length };
  test.each<[string, Answer[], string | null]>([
    ["at once", [{ headers: first, body: good }], null],
    ["without a length", [{ body: good, length: null }], null],
    ["after it was cut off", [cut, ranged(half.length, rest)], `bytes=${half.length}-`],
    [
      "after a reset",
      [{ ...cut, after: "reset" }, ranged(half.length, rest)],
      `bytes=${half.length}-`,
    ],
    [
      "after a stall",
      [{ ...cut, after: "stall" }, ranged(half.length, rest)],
      `bytes=${half.length}-`,
    ],
    [
      "when the server sends all of it again",
      [cut, { headers: first, body: good }],
      `bytes=${half.length}-`,
    ],
    [
      "when the rest is of another version",
      [cut, ranged(half.length, rest, { etag: '"2"' }), { headers: { etag: '"2"' }, body: good }],
      null,
    ],
    [
      "when the rest begins elsewhere",
      [cut, ranged(9, rest), { headers: first, body: good }],
      null,
    ],
    ["when the server lost it", [cut, { status: 416 }, { headers: first, body: good }], null],
    [
      "after the server was busy",
      [{ status: 503, headers: { "retry-after": "0" } }, { status: 429 }, { body: good }],
      null,
    ],
    [
      "with a weak ETag and no date, from the start",
      [{ ...cut, headers: { etag: 'W/"1"' } }, { body: good }],
      null,
    ],
  ])("%s", async (_, answers, range) => {
    expect(await fetched(answers)).toBe(good);
    expect(server.asked.at(-1)?.headers["range"] ?? null).toBe(range);
    expect(readdirSync(folder())).toEqual(["eo1.csv"]);
  });
});

test("what came of a file stays for the next run, and a whole one bears the time of its version", async () => {
  const cut: Answer = { headers: first, body: half, length: good.length };
  expect(await fetched([cut], { triesMax: 1 })).toContain("FetchFailed");
  expect(await fetched([ranged(half.length, rest)])).toBe(good);
  expect(statSync(join(folder(), "eo1.csv")).mtime).toEqual(new Date(may));
});

test.each<[string, Answer, RegExp, number]>([
  ["when there is no file", { status: 404 }, /eo1\.csv: status 404/, 1],
  [
    "when it is never whole",
    { headers: first, body: half, length: 1e6 },
    /it ended after|socket/,
    4,
  ],
  ["when nothing comes", { after: "stall", length: 10 }, /nothing came for 1 s/, 4],
  ["for a web page", { headers: { "content-type": "text/html; charset=utf-8" } }, /a web page/, 1],
  ["for 304 without a condition", { status: 304 }, /without a condition/, 1],
  ["for more than is taken", { body: good, length: 9e9 }, /more than 4294967296 bytes/, 1],
  ["for more than is taken, unannounced", { body: good, length: null }, /more came/, 1],
])("a fetch fails %s", async (_, answer, message, tries) => {
  const bytesMax = answer.length === null ? { bytesMax: 99 } : {};
  expect(await fetched([answer], bytesMax)).toMatch(message);
  expect(server.asked).toHaveLength(tries);
  expect(existsSync(join(folder(), "eo1.csv"))).toBe(false);
});

describe("import --fetch", () => {
  const importing = forEachTest(anImporting);

  /** Answers by the last part of the path; a version that is asked about is unchanged. */
  const publish = (files: Record<string, string | Uint8Array>, etag = '"1"') => {
    server.answers = [
      ({ path, headers }) => {
        const body = files[path.split("/").at(-1) ?? ""];
        if (body === undefined) return { status: 404 };
        if (headers["if-none-match"] === etag) return { status: 304 };
        return { headers: { etag, "last-modified": may }, body };
      },
    ];
  };
  const header = good.slice(0, good.indexOf("\n") + 1);
  const whole = {
    "eo1.csv": good,
    "eo2.csv": readFileSync(registerFile("eo_bb.csv"), "utf8"),
    "eo3.csv": `${header}${good.split("\n")[1]?.replace("000000101", "000000301").replace(",NV,", ",UT,")}\n`,
    "eo4.csv": `${header}${good.split("\n")[1]?.replace("000000101", "000000401").replace(",NV,", ",CA,")}\n`,
  };
  const run = (format = "irs-bmf", parts = {}) =>
    fetchAndImport({
      ...importRequest({ store: importing.store, dataDir: dataDir() }, format),
      origin: server.origin,
      years: 3,
      patience,
      ...parts,
    });
  const problems = async () => (await newestFetches(importing.store)).map(({ problem }) => problem);

  test("imports what is published, as of its date, nothing again, and then only the file that changed", async () => {
    publish(whole);
    expect(await run("irs-bmf", { checkOnly: true })).toMatchObject({ rows: 13 });
    expect([await importing.slugs(), await problems()]).toEqual([[], []]);
    const report = await run();
    expect(report).toMatchObject({ added: 11, files: { length: 4 }, as_of: { NV: "2026-05-08" } });
    expect(readdirSync(folder())).toEqual([]);
    expect(await problems()).toEqual([null]);
    const changes = await importing.changes();
    const again = await run();
    expect(again).toMatchObject({ rows: 0, files: [] });
    expect(again.fetched.map(({ unchanged }) => unchanged)).toEqual([true, true, true, true]);
    expect(await importing.changes()).toEqual(changes);
    server.answers = [
      ({ path }) =>
        path.endsWith("eo4.csv")
          ? {
              headers: { etag: '"2"', "last-modified": june },
              body: whole["eo4.csv"].replace("FOOD BANK", "PANTRY"),
            }
          : { status: 304 },
    ];
    expect(await run()).toMatchObject({ files: ["eo4.csv"], changed: 1, withdrawn: 0 });
    expect(server.asked.at(-1)?.headers).toMatchObject({
      "if-none-match": '"1"',
      "if-modified-since": may,
    });
  });

  test("asks for all again after an operator imported files of their own", async () => {
    publish(whole);
    await run();
    // Files that were downloaded later than the register published them are of the same edition.
    await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-05-28" });
    expect(await run()).toMatchObject({ unchanged: 11 });
    await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-07-01" });
    expect(await outcome(run())).toContain("was read as of 2026-07-01 already");
  });

  test("withdraws nothing by a selection of a register", async () => {
    publish({ "top2000.csv": readFileSync(registerFile("charities_uk.csv"), "utf8") });
    expect(await run("ukcat")).toMatchObject({ covers: [] });
  });

  test("is done by one process at a time", async () => {
    publish(whole);
    const [one, other] = await Promise.all([outcome(run()), outcome(run())]);
    expect(
      [one, other].filter((said) => said.includes("another process is fetching")),
    ).toHaveLength(1);
  });

  test("is repeated by the schedule, in a process of its own that says how it failed", async () => {
    const log = pino({ level: "silent" });
    const schedule = scheduleImports({ importSchedule: "off" }, importing.store, log, {
      ...process.env,
      ALMONER_DATA_DIR: importing.dataDir,
      ALMONER_REGISTER_ORIGIN: server.origin,
    });
    await schedule.run();
    expect(server.asked).toEqual([]);
    publish(whole);
    await run();
    publish({});
    await schedule.run();
    expect(await problems()).toEqual([expect.stringContaining("status 404")]);
    await schedule.stop();
  });
});

describe("a zip file", () => {
  const zipped = async (bytes: Uint8Array): Promise<string> => {
    const file = dataDir("x.zip");
    writeFileSync(file, bytes);
    const rows: string[] = [];
    const read = async () => {
      for await (const line of readCsv(file, { columns: [["EIN"]] }, () => {}))
        if ("row" in line) rows.push(line.row["EIN"] ?? "");
      return `${rows.length} rows`;
    };
    return outcome(read());
  };
  test.each<[string, () => Uint8Array, string]>([
    ["that holds one is read", () => zipOf({ "eo.csv": good }), "9 rows"],
    [
      "that is cut short is refused",
      () => zipOf({ "eo.csv": good }).slice(0, -30),
      "cut short or damaged",
    ],
    [
      "of two files is refused",
      () => zipOf({ "a.csv": good, "b.csv": good }),
      "has to hold one file",
    ],
    ["without a file is refused", () => zipOf({}), "has to hold one file"],
    [
      "whose content was changed is refused",
      () => {
        const bytes = zipOf({ "eo.csv": good });
        const at = Buffer.from(bytes).indexOf("MCALDER");
        bytes.set([66], at);
        return bytes;
      },
      "its checksum is wrong",
    ],
  ])("%s", async (_, bytes, message) => {
    expect(await zipped(bytes())).toContain(message);
  });
});

test("every format of the table of registers has a licence, and every format stands in it", async () => {
  const { default: registers } = await import("#content/editorial/registers.json");
  const named = new Set(registers.map(({ id }) => id));
  expect(registerFormats.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  const sources = ["correction", ...registerFormats.map(({ name }) => `register:${name}`)];
  expect(sources.filter((source) => sourceName(source, english) === source)).toEqual([]);
  for (const { licence, attribution, files } of registers) {
    expect(licence.name && attribution).toBeTruthy();
    expect([licence.url, ...files].filter((url) => !url.startsWith("https://"))).toEqual([]);
  }
});
