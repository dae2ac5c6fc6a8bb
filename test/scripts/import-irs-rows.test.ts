import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { scopesRead } from "#content/register/standing-store.ts";
import { organisationAnswer } from "#content/register/standing.ts";
import { readOrgId } from "#content/register/org-id.ts";
import { loadCauseMapping, registerFormats } from "#scripts/import/run-import.ts";
import { readRow } from "#scripts/import/format.ts";
import { readCsv } from "#scripts/import/read-file.ts";
import { outcome, registerFile, theImporting } from "#test/support/importing.ts";

// One store for all: each test asks for numbers of its own.
const importing = await theImporting();
await importing.run("irs-bmf", ["eo_aa.csv"]);

const said = (ein: string) => importing.facts(`US-EIN-${ein}`);

const mapping = loadCauseMapping();
/** What the rows of a file say, without a store. */
const read = async (name: string, text: string) => {
  const format = registerFormats.find((one) => one.name === name);
  if (format === undefined || !("columns" in format)) throw new Error(name);
  const outcomes = [];
  for await (const found of readCsv(importing.file("rows.txt", text), format, () => {})) {
    const isRead = "row" in found;
    outcomes.push(isRead ? readRow(format, found.row, { mapping, latest: "2027-12-01" }) : found);
  }
  return outcomes;
};

/** The facts of the first row of the master file's sample, with other cells. */
async function factsWith(cells: RegExp, others: string) {
  const [head = "", row = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
  const [result] = await read("irs-bmf", `${head}\n${row.replace(cells, others)}\n`);
  if (result === undefined || !("draft" in result)) throw new Error("no draft");
  return result.draft.record?.facts ?? {};
}

describe("codes and dates as the IRS writes them:", () => {
  test.each([
    // Discussion groups, regulation, abortion for or against, other matters, cafeterias and shops are of no cause.
    ["123203543559916918", []],
    ["149", ["education"]],
    ["326", ["youth-empowerment", "housing"]],
    ["526", ["legal-justice"]],
    // Money and goods for the poor are more than food.
    ["560", ["poverty-reduction"]],
    // Those with these codes and a newer category rarely work for youth, in education, sports, the arts, law or health.
    ["321", ["sports-recreation"]],
    ["059281319561908", []],
    ["031", ["disability"]],
    ["153", ["housing", "seniors"]],
    ["296", ["community-development"]],
    ["328", ["youth-empowerment"]],
  ])("the activity codes %s are of the causes %j", (codes, causes) => {
    const causesOf = (activity: string) =>
      mapping.american({ foundation: "", ntee: "", activity, name: "Sample" }).causes;
    expect((codes.match(/.{3}/g) ?? []).flatMap(causesOf)).toEqual(causes);
  });

  test.each([
    ["Yale University", ["education"]],
    ["Montana 4-H Foundation Inc", ["youth-empowerment"]],
    ["Rotary Club of Falls Church", []],
    ["Friends of Homeless Animals", ["animals"]],
    ["Guild of Martial Arts", []],
    ["Boys & Girls Clubs of Sample", ["youth-empowerment"]],
    ["Sample Sailing Society", ["sports-recreation"]],
    ["Adventure Bible Church", ["religion"]],
  ])("without a code %s is of the causes %j", (name, causes) => {
    const codes = { foundation: "", ntee: "", activity: "000000000" };
    expect(mapping.american({ ...codes, name }).causes).toEqual(causes);
    // Where a code says a cause, such words add none.
    expect(mapping.american({ ...codes, ntee: "D20", name }).causes).toEqual(["animals"]);
  });

  test.each([
    // Of missions with these codes one in ten names refugees, drinking water or peers, and two in five a disability.
    ["Q33", ["poverty-reduction"]],
    ["C32", ["environment"]],
    ["E86", ["health"]],
    ["F80", ["mental-health"]],
    ["P80", []],
    // Help for people and families is rarely work on a neighbourhood.
    ["P20", ["poverty-reduction"]],
    ["P40", ["poverty-reduction"]],
    ["P28", ["community-development"]],
    ["P82", ["disability"]],
  ])("the NTEE code %s is of the causes %j", (ntee, causes) => {
    const codes = { foundation: "", ntee, activity: "", name: "Sample" };
    expect(mapping.american(codes).causes).toEqual(causes);
  });

  test.each([
    // Alone, these two were given to organisations of every kind.
    ["320000000", undefined, []],
    ["059000000", undefined, []],
    ["320349000", "320349000", ["youth-empowerment"]],
    ["149000000", "149000000", ["education"]],
    // A church has the foundation code 10, and this row 15.
    ["001602000", undefined, []],
    // Clubs of speakers have the number of their parent.
    ["059319000", "059319000", ["education"]],
    ["321059000", "321059000", ["sports-recreation"]],
  ])(
    "a row of the activity codes %s says %p, and has the causes %j",
    async (codes, activity, causes) => {
      const [head = "", row = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
      const coded = row.replace("FOOD BANK", "SOCIETY").replace(",000000000,", `,${codes},`);
      const [result] = await read("irs-bmf", `${head}\n${coded.replace(",K31,", ",,")}\n`);
      if (result === undefined || !("draft" in result)) throw new Error("no draft");
      const { fields, record } = result.draft;
      expect([record?.facts["activity"], fields?.causes]).toEqual([activity, causes]);
    },
  );

  test.each([
    ["its own ruling", ",0000,03,3,1000,199901,", "1999-01"],
    ["that of its group, which is not its own", ",1234,03,9,1000,194603,", undefined],
    ["one from before there was a tax", ",0000,03,3,1000,190903,", undefined],
    ["one of the first year", ",0000,03,3,1000,190909,", "1909-09"],
  ])("a row of the master file has a ruling: %s", async (_, cells, ruling) => {
    expect((await factsWith(/,0000,03,3,1000,199901,/, cells))["ruling"]).toBe(ruling);
  });

  test.each<[string, string, object]>([
    ["amounts", "1000,2000,1900", { assets: 1000, income: 2000, revenue: 1900 }],
    ["zeros beside an amount", "1000,0,0", { assets: 1000, income: 0, revenue: 0 }],
    // Churches and others file the postcard without having to.
    ["only the zeros of a postcard", "0,0,0", {}],
    ["the zeros of Form 990-PF", "0,0,", { assets: 0, income: 0 }],
    ["no revenue, which was not entered", "1000,2000,0", { assets: 1000, income: 2000 }],
  ])("a row of the master file has %s", async (_, amounts, expected) => {
    const { assets, income, revenue } = await factsWith(/1000,2000,2000/, amounts);
    expect<object>({ assets, income, revenue }).toEqual(expected);
  });

  test.each([
    ["PC", { deductibility: "PC" }],
    ["EO,GROUP,LODGE", { deductibility: "LODGE", group: "GROUP" }],
    ["EO,GROUP", { deductibility: "EO", group: "GROUP" }],
    ["GROUP", { deductibility: "GROUP" }],
    // Codes stand in the order of the alphabet, whichever is the narrower.
    ["FORGN,PF", { deductibility: "PF" }],
    ["PF,UNKWN", { deductibility: "PF" }],
    ["NEW,GROUP", { deductibility: "NEW", group: "GROUP" }],
    ["", {}],
  ])("Publication 78: %j", async (codes, facts) => {
    const row = `\r\n\r\n000000101|Sample Club   |Reno|NV|United States|${codes}\r\n\r\n`;
    const record = { org_id: "US-EIN-000000101", name: "Sample Club", state: "registered", facts };
    expect(await read("irs-pub78", row)).toMatchObject([{ kind: "record", record }]);
  });

  test.each<[string, string, string, object]>([
    ["on that day", "15-MAY-2013", "15-MAY-2013", { reinstated: "2013-05-15" }],
    ["later", "15-MAY-2013", "01-FEB-2014", { reinstated: "2014-02-01" }],
    ["before: it was lost again", "15-MAY-2013", "01-FEB-2012", {}],
    ["never", "15-MAY-2013", "", {}],
    // Due dates of that spring were moved, and what was given back as of the listed day with them.
    ["on a day that was moved", "15-MAY-2020", "15-MAY-2020", { reinstated: "2020-07-15" }],
    ["after that", "01-APR-2020", "02-AUG-2020", { reinstated: "2020-08-02" }],
    ["a day after", "15-JUL-2020", "", {}],
  ])("an exemption that was given back %s", async (_, revoked, back, facts) => {
    const row = `000000101|SAMPLE CLUB ||A|B|NV|1|US|03|${revoked}|10-SEP-2020|${back}\r\n`;
    const known = { revoked: revoked.endsWith("2020") ? "2020-07-15" : "2013-05-15" };
    const state = "reinstated" in facts ? "reinstated" : "revoked";
    expect(await read("irs-revocations", row)).toMatchObject([
      {
        record: { name: "Sample Club", state, facts: { ...known, posted: "2020-09-10", ...facts } },
      },
    ]);
  });
});

test.each<[string, string, string, RegExp]>([
  ["another length", "irs-pub78", "000000101|X|Reno|NV|PC", /5 fields/],
  ["no number", "irs-pub78", "EIN|X|Reno|NV||PC", /EIN is "EIN"/],
  ["no code", "irs-pub78", "000000101|X|Reno|NV||P C", /^Deductibility Status/],
  [
    "an impossible date",
    "irs-revocations",
    "000000101|X||A|B|NV|1|US|03|31-FEB-2017|12-MAR-2018|",
    /^Revocation Date is "31-FEB-2017"/,
  ],
  [
    "no revocation date",
    "irs-revocations",
    "000000101|X||A|B|NV|1|US|03||12-MAR-2018|",
    /^Revocation Date is empty/,
  ],
])("a row of a list with %s is malformed", async (_, format, row, message) => {
  const problem = expect.stringMatching(message);
  expect(await read(format, `\n\n${row}\n`)).toMatchObject([{ problem }]);
});

/** A row of the e-Postcard: 26 cells, those of the officer with a text that must not be kept. */
const postcard = (ein: string, parts: Partial<Record<number, string>> = {}) => {
  const cells = ["", ein, "2025", "SAMPLE CLUB", "T", "F", "01-01-2025", "12-31-2025", ""];
  const officer = Array.from({ length: 8 }, () => "KEEP-OUT");
  const rest = [...Array.from({ length: 7 }, () => "KEEP-OUT"), "", " ", ""];
  const row = [...cells, ...officer, ...rest];
  for (const [at, text] of Object.entries(parts)) row[Number(at)] = text ?? "";
  return `${row.slice(1).join("|")}\r\n`;
};

describe("the e-Postcard", () => {
  const run = (rows: string[], parts = {}) =>
    importing.run("irs-990n", [importing.file("e.txt", `\r\n\r\n${rows.join("")}\r\n`)], parts);

  test("gives a website, other names, its period and an end, and names no one", async () => {
    const parts = {
      5: "T",
      8: "HTTP://WWW.MCALDER.ORG",
      24: "McAlder Pantry Club",
      25: "PAT SAMPLE",
    };
    const rows = [postcard("000000101", parts), postcard("000000909", { 8: "www.sample.example" })];
    expect(await run(rows)).toMatchObject({ rows: 2, changed: 1, recorded: 1, added: 0 });
    const record = await importing.record("mcalder-food-bank-inc");
    expect(record?.website).toBe("http://www.mcalder.org");
    expect(record?.provenance["website"]).toMatchObject({
      source: "irs-990n",
      applied_at: Date.parse("2025-12-31"),
    });
    const facts = { form: "990-N", period_end: "2025-12-31" };
    const others = { terminated: "T", other_name: "McAlder Pantry Club" };
    expect((await said("000000101"))["irs-990n"]).toEqual({ ...facts, ...others });
    // Its website waits for a profile.
    const waiting = expect.stringContaining('"value":"https://www.sample.example"');
    expect((await said("000000909"))["irs-990n"]).toEqual({ ...facts, waiting });
    const { rows: stored } = await importing.store.raw.execute("SELECT * FROM register_records");
    expect(JSON.stringify([stored, record])).not.toMatch(/KEEP-OUT|PAT SAMPLE/i);
    expect(await run(rows)).toMatchObject({ changed: 0, unchanged: 1, recorded: 1 });
  });

  test("of an organisation that only filed says its period, and not that it is listed", async () => {
    await run([postcard("000000919")]);
    const number = readOrgId("000000919");
    if (!number.ok) throw new Error("no number");
    const known = await importing.known(number.value.org_id);
    const reading = { scopes: await scopesRead(importing.store), baseUrl: "" };
    const answer = organisationAnswer(number.value, known, reading);
    expect(answer).toMatchObject({ found: true, profile: null, standing: { value: "not listed" } });
    expect(answer.giver_answers.find(({ question }) => question === "latest_return")).toMatchObject(
      { value: "2025-12-31", code: "990-N", age_months: 5, register: "irs-990n" },
    );
  });

  test("of two rows of a number the later period counts, and no website is no denial", async () => {
    const slug = "trout-keepers-of-america-inc-bosque-chapter";
    await run([postcard("000000102", { 8: "trout.example.org" })]);
    const older = postcard("000000102", { 7: "12-31-2012", 8: "old.example.org" });
    const rows = [postcard("000000102"), older];
    expect(await run(rows)).toMatchObject({ skipped_because: { duplicate: 1 } });
    expect((await importing.record(slug))?.website).toBe("https://trout.example.org");
  });

  const broken = postcard("000000707").replace("SAMPLE CLUB", "SAMPLE|CLUB");
  const many = (good: number, bad: number) => [
    ...Array.from({ length: good }, (_, at) => postcard(String(100_000_000 + at))),
    ...Array.from({ length: bad }, () => broken),
  ];

  test.each([
    ["one of few", many(3, 1), 1],
    ["ten of few", many(3, 10), 10],
    ["less than one in a hundred", many(1_200, 11), 11],
  ])("leaves out rows that a pipe shifts: %s", async (_, rows, bad) => {
    const problems: string[] = [];
    const onSkipped = (problem: string) => problems.push(problem);
    const report = await run(rows, { checkOnly: true, onSkipped });
    expect(report.skipped_because.bad).toBe(bad);
    expect(problems).toHaveLength(bad);
    expect(problems[0]).toMatch(/e\.txt, line \d+: the row has 27 fields/);
  });

  test("a file with no other rows is refused with the first of them", async () => {
    expect(await outcome(run(many(0, 3)))).toMatch(/e\.txt, line \d+: the row has 27 fields/);
  });

  test("more than one in a hundred of them stop the run, and nothing is stored", async () => {
    const rows = many(1_000, 11);
    expect(await outcome(run(rows))).toMatch(
      /e\.txt: 11 of 1,011 rows are malformed, more than 1 %.*--skip-bad/,
    );
    expect(await said("100000001")).toEqual({});
    const report = await run(rows, { skipBad: true, checkOnly: true });
    expect(report).toMatchObject({ rows: 1_000, skipped_because: { bad: 11 } });
  });

  test.each([
    ["a period to come", { 7: "12-31-2031" }, /Tax Period End is "12-31-2031", which is to come/],
    ["an impossible day", { 7: "02-31-2025" }, /Tax Period End is "02-31-2025", which is no date/],
    ["no period", { 7: "" }, /Tax Period End is empty/],
    ["no number", { 1: "12345" }, /EIN is "12345"/],
    ["a number that is none", { 1: "000000000" }, /EIN is "000000000"/],
  ])("leaves out a row with %s, and says why", async (_, parts, message) => {
    const problem = expect.stringMatching(message);
    expect(await read("irs-990n", postcard("000000102", parts))).toEqual([
      { kind: "bad", problem },
    ]);
  });
});

const folder = process.env["ALMONER_REGISTER_DATA"] ?? "";
if (folder === "") process.stderr.write("skipped: ALMONER_REGISTER_DATA names no folder\n");

describe.skipIf(folder === "")("real rows of the lists of the IRS", () => {
  const file = (name: string) => join(folder, "irs_teos", name);

  test("Publication 78: every row, with its codes", async () => {
    const rows = gunzipSync(readFileSync(file("pub78_2014_1000rows.txt.gz"))).toString();
    const list = importing.file("2014.txt", `\n\n${rows}`.replaceAll("\n", "\r\n"));
    expect(await importing.run("irs-pub78", [list])).toMatchObject({ recorded: 1_001, skipped: 0 });
    const codes = async (ein: string) => Object.values((await said(ein))["irs-pub78"] ?? {});
    expect(await codes("010019705")).toEqual(["LODGE", "GROUP"]);
    expect(await codes("010331517")).toEqual(["LODGE"]);
    expect(await codes("010191822")).toEqual(["EO", "GROUP"]);
    expect(await codes("010221136")).toEqual(["GROUP"]);
    expect(await codes("000003154")).toEqual(["PC"]);
    const others = ["pub78_2026-08-11_sample.txt", "pub78_2013_tail.txt"].map(file);
    const next = await importing.run("irs-pub78", others, { scope: "none" });
    expect(next).toMatchObject({ rows: 61, skipped: 0 });
  });

  test("revocations: the newest of several rows, moved dates, what was given back", async () => {
    const list = file("revocation_2026-08-11_sample.txt");
    const report = await importing.run("irs-revocations", [list], { asOf: "2026-08-11" });
    expect(report).toMatchObject({ rows: 33, recorded: 27, skipped_because: { duplicate: 6 } });
    const dates = async (ein: string) => (await said(ein))["irs-revocations"];
    const table: [string, string, string | undefined][] = [
      // Given back in 2012, and revoked again.
      ["010275502", "2017-11-15", undefined],
      ["001037180", "2017-06-15", undefined],
      ["003754390", "2019-02-15", undefined],
      // Given back twice.
      ["010011694", "2019-02-15", "2019-02-15"],
      ["010043788", "2019-03-15", "2020-05-15"],
      // Twice the same row; its number begins with zeros.
      ["000003154", "2017-11-15", undefined],
      ["010015091", "2010-05-15", "2012-02-15"],
      ["843824530", "2024-05-15", undefined],
    ];
    for (const [ein, revoked, reinstated] of table) {
      expect([ein, await dates(ein)]).toEqual([ein, expect.objectContaining({ revoked })]);
      expect([ein, (await dates(ein))?.["reinstated"]]).toEqual([ein, reinstated]);
    }
  });

  test("the e-Postcard: all rows but those that a pipe shifts", async () => {
    const names = [
      "epostcard_2026-08-31_sample_no_persons.txt",
      "epostcard_2026-08-31_embedded_pipes_no_persons.txt",
    ];
    const rows = names.map((name) => readFileSync(file(name), "utf8")).join("");
    const list = importing.file("e.txt", rows);
    const report = await importing.run("irs-990n", [list], { asOf: "2026-08-31" });
    expect(report).toMatchObject({ rows: 11, recorded: 11, skipped_because: { bad: 5 } });
    expect(await said("000100514")).toEqual({
      "irs-990n": { form: "990-N", period_end: "2010-03-31" },
    });
    const { rows: stored } = await importing.store.raw.execute("SELECT * FROM register_records");
    expect(JSON.stringify(stored)).not.toContain("REMOVED");
  });
});
