import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { emptyRecord, type NonprofitRecord } from "#content/nonprofit/record.ts";
import { BadInput } from "#scripts/import/read-file.ts";
import { anImporting, outcome, registerFile, type TestImporting } from "#test/support/importing.ts";

let importing: TestImporting;
beforeEach(async () => {
  importing = await anImporting();
});
afterEach(() => importing.close());

const good = readFileSync(registerFile("eo_aa.csv"), "utf8");
const [header = "", first = "", second = ""] = good.split("\n");

/** A line of our own records. */
const record = (fields: Partial<NonprofitRecord>): string =>
  JSON.stringify({ ...emptyRecord, id: 1, slug: "well", name: "Well", ...fields });

/** What the import says of a file; fails the test when it is taken in. */
async function refusal(format: string, file: string): Promise<string> {
  try {
    await importing.run(format, [file]);
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
  throw new Error("the file was taken in");
}

describe("refused with file and line, the store as it was:", () => {
  afterEach(async () => {
    expect(await importing.slugs()).toEqual([]);
    expect(importing.leftovers()).toEqual([]);
  });

  test.each([
    [
      "a row with too few fields",
      `${header}\n${first}\n1,2,3\n`,
      /x\.csv, line 3: the row has 3 fields/,
    ],
    [
      "a row with too few fields among CR LF",
      `${header}\r\n${first}\r\n1,2,3\r\n`,
      /x\.csv, line 3: the row has 3/,
    ],
    [
      "an EIN that is none",
      `${header}\n${first.replace(/^\d/, "A")}\n`,
      /line 2: EIN is "A00000101"/,
    ],
    [
      "a subsection that is none",
      `${header}\n${first.replace(",03,", ",3,")}\n`,
      /line 2: SUBSECTION/,
    ],
    [
      "a name that is empty",
      `${header}\n${first.replace("MCALDER FOOD BANK INC", " ")}\n`,
      /line 2: NAME/,
    ],
    [
      "a month that is none",
      `${header}\n${first.replace(",199901,", ",199913,")}\n`,
      /line 2: RULING is "199913", which is no date/,
    ],
    [
      "a month that is to come",
      `${header}\n${first.replace(",202312,", ",203012,")}\n`,
      /line 2: TAX_PERIOD is "203012", which is to come/,
    ],
    ["a quote that stays open", `${header}\n${first}\n1,"x\n${second}\n`, /line 3: Quote/],
    [
      "a stray quote",
      `${header}\n${first.replace("FOOD", 'FO"OD')}\n`,
      /line 2: Invalid Opening Quote/,
    ],
    [
      "the columns of another format",
      "org_id,name\n1,x\n",
      /line 1: wrong columns for this format: EIN, NAME/,
    ],
    ["a header alone", `${header}\n`, /x\.csv: there is no row/],
    ["an empty file", "", /x\.csv: the file is empty/],
    [
      "a row that stands there twice",
      `${header}\n${first}\n${second}\n${first}\n`,
      /x\.csv, line 4: US-EIN-000000101 stands on line 2 of .*x\.csv already/,
    ],
    ["a bad row at the very end", `${good}1,2,3`, /line 11: the row has 3 fields/],
  ])("%s", async (_, content, message) => {
    expect(await refusal("irs-bmf", importing.file("x.csv", content))).toMatch(message);
  });

  test("a gzip file that is cut short", async () => {
    const packed = gzipSync(good);
    const file = importing.file("x.csv.gz", packed.subarray(0, packed.length - 9));
    expect(await refusal("irs-bmf", file)).toMatch(/x\.csv\.gz.*cut short/);
  });

  test("a gzip file that is damaged", async () => {
    const packed = gzipSync(good);
    packed.fill(7, 60, 90);
    expect(await refusal("irs-bmf", importing.file("x.csv.gz", packed))).toMatch(/cannot be read/);
  });

  test("a file that is missing, and a folder", async () => {
    expect(await refusal("irs-bmf", "/nowhere/x.csv")).toBe("/nowhere/x.csv: no such file");
    const folder = join(importing.dataDir, "nothing");
    mkdirSync(folder);
    expect(await refusal("irs-bmf", folder)).toMatch("no file of this format is in it");
  });

  test("a second file that is bad after a good one", async () => {
    const bad = importing.file("x.csv", `${header}\n1,2,3\n`);
    const run = importing.run("irs-bmf", ["eo_aa.csv", bad]);
    expect(await outcome(run)).toContain("x.csv, line 2");
  });

  test.each([
    ["no JSON", "{\n", /line 1: this is not JSON/],
    ["another shape", '{"id":1}\n', /line 1: slug/],
    ["there twice", `${record({})}\n${record({ id: 2 })}`, /line 2: id 2, slug well or an org-id/],
    ["of a link that is none", record({ website: "ftp://x.org" }), /line 1: website: send an http/],
    ["too long", record({ mission: "a".repeat(20_001) }), /mission: at most 20000 characters/],
    ["not plain text", record({ city: "Os\u200Blo" }), /city: holds the character/],
  ])("a record that is %s", async (_, content, message) => {
    expect(await refusal("ndjson", importing.file("x.ndjson", content))).toMatch(message);
  });

  test("a year, a charity number, an ABN and dates that are none", async () => {
    const [head990, row990 = ""] = readFileSync(registerFile("missions_990.csv"), "utf8").split(
      "\n",
    );
    const bad990 = row990.replace(",201212,", ",soon,");
    expect(await refusal("irs-990", importing.file("a.csv", `${head990}\n${bad990}`))).toMatch(
      /tax year/,
    );
    const uk = readFileSync(registerFile("charities_uk.csv"), "utf8");
    // What can be imported can be looked up.
    for (const orgId of [
      "GB-SC-1",
      "GB-CHC-12345",
      "GB-CHC-12345678",
      "FR-1",
      "US-EIN-000000101",
    ]) {
      const file = importing.file("b.csv", uk.replace("GB-SC-SC990001", orgId));
      expect(await refusal("ukcat", file)).toContain(`org_id "${orgId}" is no number`);
    }
    expect(
      await refusal("ukcat", importing.file("b.csv", uk.replace("1990-08-02", "1990-02-30"))),
    ).toMatch(/b\.csv, line 3: date_registered is "1990-02-30", which is no date/);
    const au = readFileSync(registerFile("acnc.csv"), "utf8");
    expect(
      await refusal("acnc", importing.file("c.csv", au.replace("31/12/1871", "31/13/1871"))),
    ).toMatch(/Date_Organisation_Established is "31\/13\/1871", which is no date/);
    expect(await refusal("acnc", importing.file("c.csv", au.replace("90000000001", "9")))).toMatch(
      /eleven digits/,
    );
  });
});

test("malformed rows are counted and left out when asked", async () => {
  const file = importing.file(
    "x.csv",
    `${header}\n${first}\n1,2,3\n${second.replace(/^\d/, "A")}\n`,
  );
  const left: string[] = [];
  const onSkipped = (problem: string) => left.push(problem);
  const report = await importing.run("irs-bmf", [file], { skipBad: true, onSkipped });
  expect(report).toMatchObject({ added: 1, skipped: 2 });
  expect(left.map((problem) => /line \d+/.exec(problem)?.[0])).toEqual(["line 3", "line 4"]);
});

test("a quote that stays open is no row to leave out, and what rows left out may list stays", async () => {
  expect(await importing.run("irs-bmf", ["eo_aa.csv"])).toMatchObject({ added: 7 });
  const open = importing.file("eo_aa.csv", `${header}\n${first}\n1,"x\n${second}\n`);
  expect(await outcome(importing.run("irs-bmf", [open], { skipBad: true }))).toMatch(
    /line 3: Quote/,
  );
  const short = importing.file("eo_aa.csv", `${header}\n${first}\n1,2,3\n`);
  const run = (allowManyWithdrawals: boolean) =>
    importing.run("irs-bmf", [short], { skipBad: true, allowManyWithdrawals });
  expect(await run(false)).toMatchObject({ unchanged: 1, withdrawn: 0 });
  // The row that is left is of Nevada: the one abroad is not covered.
  expect(await run(true)).toMatchObject({ withdrawn: 5 });
});

test("a gzip file is told by its first bytes, whatever its name", async () => {
  const file = importing.file("eo_aa.txt", gzipSync(good));
  expect(await importing.run("irs-bmf", [file])).toMatchObject({ added: 7 });
});

test("an import that is stopped while reading writes nothing; run again, it does all", async () => {
  const stopping = new AbortController();
  const stopped = importing.run("irs-bmf", ["eo_aa.csv"], {
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  });
  expect(await outcome(stopped)).toContain("nothing was written");
  const records = importing.file("x.ndjson", record({}));
  const again = importing.run("ndjson", [records], { signal: stopping.signal });
  expect(await outcome(again)).toContain("nothing was written");
  expect(await importing.slugs()).toEqual([]);
  expect(await importing.run("irs-bmf", ["eo_aa.csv"])).toMatchObject({ added: 7 });
});
