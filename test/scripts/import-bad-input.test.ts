import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { emptyRecord, type NonprofitRecord } from "#content/nonprofit/record.ts";
import { BadInput } from "#scripts/import/read-file.ts";
import { anImporting, outcome, registerFile } from "#test/support/importing.ts";
import { forEachTest } from "#test/support/at-file-top.ts";
import { zipOf } from "#test/support/zip.ts";

const importing = forEachTest(anImporting);

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

  const name = "MCALDER FOOD BANK INC";
  test.each<[string, string[], RegExp]>([
    ["a row with too few fields", [first, "1,2,3"], /x\.csv, line 3: the row has 3 fields/],
    ["an EIN that is none", [first.replace(/^\d/, "A")], /line 2: EIN is "A00000101"/],
    [
      "a cell that steers the terminal",
      [first.replace(/^\d/, "\u001B[2J")],
      /EIN is "\[2J00000101"/,
    ],
    ["a subsection that is none", [first.replace(",03,", ",3,")], /line 2: SUBSECTION/],
    ["a name that is empty", [first.replace(name, " ")], /line 2: NAME/],
    [
      "a month that is none",
      [first.replace(",199901,", ",199913,")],
      /line 2: RULING is "199913", which is no date/,
    ],
    [
      "a month that is to come",
      [first.replace(",202312,", ",203012,")],
      /line 2: TAX_PERIOD is "203012", which is to come/,
    ],
    ["a quote that stays open", [first, '1,"x', second], /line 3: Quote/],
    ["a stray quote", [first.replace("FOOD", 'FO"OD')], /line 2: Invalid Opening Quote/],
    ["a header alone", [], /x\.csv: there is no row/],
    [
      "a row that stands there twice",
      [first, second, first],
      /x\.csv, line 4: US-EIN-000000101 stands on line 2 of .*x\.csv already/,
    ],
  ])("%s", async (_, rows, message) => {
    for (const end of ["\n", "\r\n"]) {
      const file = importing.file("x.csv", [header, ...rows, ""].join(end));
      expect(await refusal("irs-bmf", file)).toMatch(message);
    }
  });

  const packed = gzipSync(good);
  const zipped = () => Buffer.from(zipOf({ "x.csv": good }));
  // The mark of an encrypted file, in its own header and in the directory.
  const encrypted = zipped();
  for (const at of [6, encrypted.lastIndexOf("PK\u0001\u0002") + 8]) encrypted[at] = 1;
  test.each<[string, string, string | Uint8Array, RegExp]>([
    [
      "the columns of another format",
      "x.csv",
      "org_id,name\n1,x\n",
      /line 1: wrong columns for this format: EIN, NAME/,
    ],
    ["an empty file", "x.csv", "", /x\.csv: the file is empty/],
    ["a bad row at the very end", "x.csv", `${good}1,2,3`, /line 11: the row has 3 fields/],
    ["a gzip file that is cut short", "x.csv.gz", packed.subarray(0, -9), /x\.csv\.gz.*cut short/],
    [
      "a gzip file that is damaged",
      "x.csv.gz",
      packed.map((byte, at) => (at >= 60 && at < 90 ? 7 : byte)),
      /cannot be read/,
    ],
    ["a zip file that is encrypted", "x.zip", encrypted, /x\.zip.*cannot be read/],
    ["a zip file that contradicts itself", "x.zip", zipped().fill(1, 2, 4), /cannot be read/],
  ])("%s", async (_, file, content, message) => {
    expect(await refusal("irs-bmf", importing.file(file, content))).toMatch(message);
  });

  test("a file that is missing, and a folder", async () => {
    expect(await refusal("irs-bmf", "/nowhere/x.csv")).toBe("/nowhere/x.csv: no such file");
    const folder = join(importing.dataDir, "nothing");
    mkdirSync(folder);
    expect(await refusal("irs-bmf", folder)).toMatch("no file of this format is in it");
  });

  test.each([
    ["another shape", '{"id":1}\n', /line 1: slug/],
    ["there twice", `${record({})}\n${record({ id: 2 })}`, /line 2: id 2, slug well or an org-id/],
    ["too long", record({ mission: "a".repeat(20_001) }), /mission: at most 20000 characters/],
    ["not plain text", record({ city: "Os\u200Blo" }), /city: holds the character/],
  ])("a record that is %s", async (_, content, message) => {
    expect(await refusal("ndjson", importing.file("x.ndjson", content))).toMatch(message);
  });

  // What can be imported can be looked up.
  const orgIds = ["GB-SC-1", "GB-CHC-12345", "GB-CHC-12345678", "FR-1", "US-EIN-000000101"];
  test.each<[format: string, file: string, from: string, to: string, RegExp]>([
    ["irs-990", "missions_990.csv", ",201212,", ",soon,", /tax year/],
    ...orgIds.map((orgId): [string, string, string, string, RegExp] => [
      "ukcat",
      "charities_uk.csv",
      "GB-SC-SC990001",
      orgId,
      new RegExp(`org_id "${orgId}" is no number`),
    ]),
    [
      "ukcat",
      "charities_uk.csv",
      "1990-08-02",
      "1990-02-30",
      /x\.csv, line 3: date_registered is "1990-02-30", which is no date/,
    ],
    [
      "acnc",
      "acnc.csv",
      "31/12/1871",
      "31/13/1871",
      /Date_Organisation_Established is "31\/13\/1871", which is no date/,
    ],
    ["acnc", "acnc.csv", "90000000001", "9", /eleven digits/],
  ])("of %s, in %s in the place of %s: %s", async (format, file, from, to, message) => {
    const text = readFileSync(registerFile(file), "utf8").replace(from, to);
    expect(await refusal(format, importing.file("x.csv", text))).toMatch(message);
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
