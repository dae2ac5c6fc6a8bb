import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fetching from "#content/editorial/fetching.json";
import { newestFetches } from "#content/register/import-store.ts";
import {
  fetchAll,
  planFetch,
  type FetchReport,
  publishedFiles,
  publishedRegisters,
  registersOf,
} from "#scripts/import/fetch-all.ts";
import { formatNames } from "#scripts/import/run-import.ts";
import {
  anImporting,
  importRequest,
  outcome,
  registerFile,
  type TestImporting,
} from "#test/support/importing.ts";
import { aLyingServer, type Answer, type LyingServer } from "#test/support/lying-server.ts";
import { zipOf } from "#test/support/zip.ts";
import { runScript } from "#test/support/processes.ts";

let server: LyingServer;
let importing: TestImporting;
/** What the publishers have, by path. */
let files: Map<string, Answer>;

beforeEach(async () => {
  server = await aLyingServer();
  importing = await anImporting();
  files = new Map();
  server.answers = [
    ({ path, headers }) => {
      const found = files.get(path);
      const isKnown = found?.headers?.["etag"] === headers["if-none-match"];
      const isHere = found?.headers?.["last-modified"] === headers["if-modified-since"];
      if (found === undefined) return { status: 404 };
      const unchanged = "if-none-match" in headers ? isKnown : isHere;
      return unchanged && found.headers !== undefined ? { ...found, status: 304, body: "" } : found;
    },
  ];
  Object.assign(fetching.countries, { test: ["irs-bmf", "irs-pub78", "irs-revocations"] });
  // A list of a format that has few columns, in files as the IRS names them.
  Object.assign(fetching.lists, { "irs-990": fetching.lists["irs-990-xml"] });
});
afterEach(() => {
  server.close();
  importing.close();
  Reflect.deleteProperty(fetching.countries, "test");
  Reflect.deleteProperty(fetching.lists, "irs-990");
});

const may = { etag: '"5"', "last-modified": "Fri, 08 May 2026 04:00:00 GMT" };
const june = { etag: '"6"', "last-modified": "Fri, 12 Jun 2026 10:00:00 GMT" };
const text = (name: string) => readFileSync(registerFile(name), "utf8");
const publish = (path: string, body: string | Uint8Array, headers = may) =>
  files.set(path, { headers, body });

const bmf = "/pub/irs-soi/eo1.csv";
const pub78 = "/pub/epostcard/data-download-pub78.zip";
const revocation = "/pub/epostcard/data-download-revocation.zip";
const downloads = "/charities-non-profits/form-990-series-downloads";
const xml = "/pub/epostcard/990/xml";
const zip = (year: number, part: string) => `${xml}/${year}/${year}_TEOS_XML_${part}.zip`;

/** The three registers of the test's country. */
function publishCountry(): void {
  const header = text("eo_aa.csv").split("\n", 1)[0] ?? "";
  const row = (ein: string) => text("eo_aa.csv").split("\n")[1]?.replace("000000101", ein) ?? "";
  publish(bmf, text("eo_aa.csv"));
  publish("/pub/irs-soi/eo2.csv", text("eo_bb.csv"));
  publish("/pub/irs-soi/eo3.csv", `${header}\n${row("000000301").replace(",NV,", ",UT,")}\n`);
  publish("/pub/irs-soi/eo4.csv", `${header}\n${row("000000401").replace(",NV,", ",CA,")}\n`);
  publish(pub78, zipOf({ "pub78.txt": text("data-download-pub78.txt") }));
  publish(revocation, zipOf({ "revocation.txt": text("data-download-revocation.txt") }));
}

const missions = (mission: string) =>
  zipOf({ "a.csv": text("missions_990.csv").replace("MCALDER FOOD BANK GIVES", mission) });

const page = (...links: string[]) => links.map((link) => `<a href="${link}">zip</a>`).join("\n");

/** A page of the IRS that links to these zips at its own host, and the zips. */
function publishList(...parts: [year: number, part: string][]): void {
  publish(downloads, page(...parts.map((part) => `https://apps.irs.gov${zip(...part)}`)));
  for (const part of parts) publish(zip(...part), missions(`IN ${part.join("")} WE GIVE`));
}

const request = (format: string, signal = new AbortController().signal) => ({
  ...importRequest(importing, format),
  origin: server.origin,
  years: 3,
  signal,
  patience: { stallMs: 30_000, triesMax: 1, firstWaitMs: 1 },
});
type Run = { register: string; reports: { files: string[] }[]; problems: string[] };
const runsOf = ({ report }: FetchReport): Run[] => (report as { registers: Run[] }).registers;
const run = async (format = "test") => {
  const told: string[] = [];
  const done = await fetchAll(request(format), (line) => told.push(line));
  return { ...done, told, runs: runsOf(done) };
};
const asked = () => server.asked.splice(0).map(({ method, path }) => `${method} ${path}`);
const problems = async () => {
  const fetches = await newestFetches(importing.store);
  return fetches.flatMap(({ format, problem }) => (problem === null ? [] : [[format, problem]]));
};
const kept = (format: string) => readdirSync(join(importing.dataDir, "registers", format));

describe("import <country> --fetch", () => {
  test("fetches and imports the registers in their order, and says where it is", async () => {
    publishCountry();
    const steps: string[] = [];
    const done = await fetchAll(
      { ...request("test"), onProgress: (step, at, of) => steps.push(`${step}: ${at} of ${of}`) },
      () => {},
    );
    expect(done).toMatchObject({ ok: true, words: "test: all is here" });
    expect(runsOf(done).map(({ register }) => register)).toEqual(registersOf("test"));
    expect(asked()).toEqual(
      [bmf, "/pub/irs-soi/eo2.csv", "/pub/irs-soi/eo3.csv", "/pub/irs-soi/eo4.csv"]
        .concat(pub78, revocation)
        .map((path) => `GET ${path}`),
    );
    expect(steps).toContain("2 of 3: irs-pub78, data-download-pub78.zip in MB: 1 of 1");
    expect(await importing.slugs()).toHaveLength(11);
    expect(registersOf("test").flatMap(kept)).toEqual([]);
    // These are what the schedule fetches again.
    const noted = (await newestFetches(importing.store)).map(({ format }) => format);
    expect(noted.toSorted()).toEqual(registersOf("test").toSorted());
  });

  test("goes on when a register refuses, says why and what to do, and repairs itself", async () => {
    publishCountry();
    files.delete(pub78);
    publish(revocation, "<p>moved</p>");
    const { ok, words, told } = await run();
    expect(ok).toBe(false);
    expect(words).toMatch(/^test: failed:\n {2}irs-pub78: http.*pub78\.zip: status 404\n/);
    expect(words).toContain("irs-revocations: ");
    expect(words).toContain("something else in place of a zip file");
    expect(words).toContain(fetching.advice);
    expect(told.slice(0, 2)).toEqual(["1 of 3: irs-bmf", expect.stringContaining("added      11")]);
    expect(await problems()).toEqual([
      ["irs-pub78", expect.stringContaining("status 404")],
      ["irs-revocations", expect.stringContaining("in place of a zip")],
    ]);
    publishCountry();
    expect((await run()).ok).toBe(true);
    expect(await problems()).toEqual([]);
  });

  test("that is stopped goes on where it was: files that came are not fetched again", async () => {
    publishCountry();
    const whole = text("eo_bb.csv");
    const stop = new AbortController();
    files.set("/pub/irs-soi/eo2.csv", {
      headers: may,
      body: whole.slice(0, 500),
      length: whole.length,
      after: "stall",
    });
    const onProgress = (step: string) => step.includes("eo2.csv") && stop.abort();
    const stopped = fetchAll({ ...request("test", stop.signal), onProgress }, () => {});
    expect(await outcome(stopped)).toContain("Interrupted: interrupted; run the same command");
    expect(kept("irs-bmf").toSorted()).toEqual(["eo1.csv", "eo2.csv.part", "eo2.csv.part.json"]);
    publishCountry();
    files.set("/pub/irs-soi/eo2.csv", {
      status: 206,
      headers: { ...may, "content-range": `bytes 500-${whole.length - 1}/${whole.length}` },
      body: whole.slice(500),
    });
    server.asked.splice(0);
    expect((await run()).ok).toBe(true);
    const [first, second] = server.asked;
    expect(first?.headers).toMatchObject({ "if-modified-since": may["last-modified"] });
    expect(second?.headers).toMatchObject({ range: "bytes=500-" });
    expect(await importing.slugs()).toHaveLength(11);
    expect(kept("irs-bmf")).toEqual([]);
  });
});

describe("a register whose files a page names", () => {
  const listed = () => publishedFiles("irs-990", request("irs-990"));
  const paths = async () =>
    (await listed()).map((url) => url.replace(`${server.origin}${xml}/`, ""));

  test("has the files of the newest years that the page links to, whatever else it links to", async () => {
    const hostile = [
      "http://apps.irs.gov/pub/epostcard/990/xml/2026/2026_TEOS_XML_01A.zip",
      "https://apps.irs.gov.example/pub/epostcard/990/xml/2026/2026_TEOS_XML_02A.zip",
      "https://a:b@apps.irs.gov/pub/epostcard/990/xml/2026/2026_TEOS_XML_03A.zip",
      "https://apps.irs.gov:8443/pub/epostcard/990/xml/2026/2026_TEOS_XML_04A.zip",
      "https://apps.irs.gov/pub/epostcard/990/xml/2026/../../2026/2026_TEOS_XML_05A.zip",
      "https://apps.irs.gov/pub/epostcard/990/xml/2025/2026_TEOS_XML_06A.zip",
      "https://apps.irs.gov/pub/epostcard/990/xml/2026/2026_TEOS_XML_07A.zip?to=/etc",
      "https://apps.irs.gov/pub/epostcard/990/xml/2027/2027_TEOS_XML_01A.zip",
      "https://apps.irs.gov/pub/epostcard/990/xml/2026/..%2f2026_TEOS_XML_08A.zip",
      "javascript:alert(1)",
      "https://[",
    ];
    const many = Array.from(
      { length: 5_000 },
      (_, n) => `https://apps.irs.gov${zip(2026, `1${n}Z`)}`,
    );
    const good: [number, string][] = [
      [2026, "05B"],
      [2022, "01A"],
      [2025, "11D"],
      [2024, "12A"],
      [2026, "05B"],
    ];
    const links = good.map((part) => `https://apps.irs.gov${zip(...part)}`);
    publish(downloads, page(...hostile, ...many, ...links));
    expect(await paths()).toEqual([
      "2026/2026_TEOS_XML_05B.zip",
      "2025/2025_TEOS_XML_11D.zip",
      "2024/2024_TEOS_XML_12A.zip",
    ]);
    expect(asked()).toEqual([`GET ${downloads}`]);
  });

  const noPages: [string, () => void][] = [
    ["is gone", () => {}],
    ["is broken", () => (server.answers = [() => ({ status: 503 })])],
    ["links to none", () => publish(downloads, "<p>new pages</p>")],
    ["is too long", () => publish(downloads, `${"x".repeat(2 ** 21)}${page(zip(2026, "01A"))}`)],
  ];
  test.each(noPages)("is a failure when the page %s", async (_, prepare) => {
    prepare();
    publish(zip(2026, "01A"), missions("A"));
    expect(await outcome(listed())).toMatch(/series-downloads: it did not answer, or links to no/);
    expect(asked()).toEqual([`GET ${downloads}`]);
  });

  test("is imported file by file, the newest year first, and each only once", async () => {
    publishCountry();
    await run();
    publishList([2025, "11A"], [2026, "01A"]);
    server.asked.splice(0);
    const { ok, runs } = await run("irs-990");
    expect(ok).toBe(true);
    expect(asked()).toEqual(
      [downloads, zip(2026, "01A"), zip(2025, "11A")].map((path) => `GET ${path}`),
    );
    expect(runs[0]?.reports.map((report) => report.files)).toEqual([
      ["2026_TEOS_XML_01A.zip"],
      ["2025_TEOS_XML_11A.zip"],
    ]);
    // One more is published, and files of an operator's own do not make the others new.
    await importing.run("irs-990", ["missions_990.csv"]);
    publishList([2025, "11A"], [2026, "01A"], [2026, "02A"]);
    const again = await run("irs-990");
    expect(again.runs[0]?.reports.flatMap((report) => report.files)).toEqual([
      "2026_TEOS_XML_02A.zip",
    ]);
    expect(kept("irs-990")).toEqual([]);
  });

  test("imports the others when one is bad, which the health page is told until it is mended", async () => {
    publishCountry();
    await run();
    publishList([2026, "01A"], [2026, "02A"], [2026, "03A"]);
    publish(zip(2026, "02A"), missions("A").slice(0, -30));
    const { ok, words, runs } = await run("irs-990");
    expect(ok).toBe(false);
    expect(words).toContain("2026_TEOS_XML_02A.zip: the zip file is cut short or damaged");
    expect(runs[0]?.reports).toHaveLength(2);
    expect(await problems()).toEqual([["irs-990", expect.stringContaining("02A.zip: the zip")]]);
    server.asked.splice(0);
    publish(zip(2026, "02A"), missions("A"), june);
    expect((await run("irs-990")).runs[0]?.reports.flatMap((report) => report.files)).toEqual([
      "2026_TEOS_XML_02A.zip",
    ]);
    expect(await problems()).toEqual([]);
  });

  test("is left alone after five failures", async () => {
    publishList(...Array.from({ length: 9 }, (_, n): [number, string] => [2026, `0${n + 1}A`]));
    for (let n = 1; n <= 9; n += 1) publish(zip(2026, `0${n}A`), "<p>moved</p>");
    expect((await run("irs-990")).runs[0]?.problems).toHaveLength(5);
    expect(asked()).toHaveLength(6);
  });
});

describe("import <country> --fetch --check", () => {
  test("says what is new, in which order and how large, and fetches no file", async () => {
    publishCountry();
    files.set(bmf, { headers: may, length: 2_000_000_000 });
    const { ok, words, report } = await planFetch(request("test"));
    expect(ok).toBe(true);
    expect(words.split("\n")).toEqual([
      "1 of 3: irs-bmf: 4 of 4 files are new, 2,001 MB, about 74 min",
      "2 of 3: irs-pub78: 1 of 1 files are new, 1 MB, about 1 min",
      "3 of 3: irs-revocations: 1 of 1 files are new, 1 MB, about 1 min",
      expect.stringMatching(
        /^Nothing was fetched\. In all 2,001 MB, 76 min, 50,\d{3} MB of disk\. Estimates, at 5 MB/,
      ),
    ]);
    expect(report).toMatchObject({
      estimated: { minutes: 76 },
      registers: [
        { register: "irs-bmf", files: [{ bytes: 2_000_000_000, is_new: true }, {}, {}, {}] },
        { register: "irs-pub78" },
        { register: "irs-revocations" },
      ],
    });
    expect(asked().filter((line) => !line.startsWith("HEAD "))).toEqual([]);
    expect(await importing.slugs()).toEqual([]);
    expect(await newestFetches(importing.store)).toEqual([]);
  });

  test("counts only what changed since the last run", async () => {
    publishCountry();
    await run();
    publish(revocation, zipOf({ "a.txt": text("data-download-revocation.txt") }), june);
    files.set(bmf, { status: 405 });
    const { words } = await planFetch(request("test"));
    expect(words.split("\n").map((line) => line.slice(0, 45))).toEqual([
      "1 of 3: irs-bmf: 1 of 4 files are new, 0 MB, ",
      expect.stringContaining("irs-pub78"),
      "3 of 3: irs-revocations: 1 of 1 files are new",
      expect.stringContaining("Nothing was fetched"),
    ]);
  });
});

describe("the command", () => {
  const command = (...words: string[]) =>
    runScript("import", words, {
      ALMONER_DATA_DIR: importing.dataDir,
      ALMONER_DATABASE_URL: "",
      ALMONER_REGISTER_ORIGIN: server.origin,
    });

  test("says what to send, fetches a country, and ends with 2 for a slip and with 1 when a part fails", async () => {
    publishCountry();
    files.delete(pub78);
    const [alone, years, mixed, check] = await Promise.all([
      command("us"),
      command("us", "--fetch", "--years", "0"),
      command("us", "eo1.csv", "--fetch"),
      command("us", "--fetch", "--check", "--json"),
    ]);
    expect(alone).toMatchObject({ code: 2, out: "" });
    expect(alone.err).toContain("import us --fetch, first with --check");
    expect(years).toMatchObject({ code: 2, err: "--years: give a whole number from 1 to 20.\n" });
    expect(mixed).toMatchObject({ code: 2 });
    expect(check.code).toBe(1);
    const plan = JSON.parse(check.out) as { registers: { register: string; problems: string[] }[] };
    expect(plan.registers.map(({ register }) => register)).toEqual(registersOf("us"));
    expect(plan.registers[1]?.problems).toEqual([`${server.origin}${pub78}: no such file`]);
    const { out, err, code } = await command("us", "--fetch", "--json");
    expect(code).toBe(1);
    expect(err).toContain(`1 of ${registersOf("us").length}: irs-bmf\n`);
    const { name, registers: done } = JSON.parse(out) as { name: string; registers: Run[] };
    expect({ name, first: done[0], second: done[1] }).toMatchObject({
      name: "us",
      first: { register: "irs-bmf", reports: [{ added: 11 }], problems: [] },
      second: { register: "irs-pub78", reports: [], problems: [expect.stringContaining("404")] },
    });
  });
});

test("every register of a country can be fetched and imported", () => {
  expect(registersOf("us").slice(0, 3)).toEqual(["irs-bmf", "irs-pub78", "irs-revocations"]);
  const all = ["us", "uk"].flatMap(registersOf);
  expect(all.filter((register) => !formatNames.includes(register))).toEqual([]);
  expect(all.filter((register) => !publishedRegisters.includes(register))).toEqual([]);
});
