import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { idsInList } from "#content/nonprofit/list-store.ts";
import { merged, restored, unmerged, withdrawnBy } from "#content/nonprofit/operator-changes.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import type { ImportReport } from "#content/register/import-store.ts";
import { coveredInWords } from "#scripts/import/report.ts";
import { loadCauseMapping } from "#scripts/import/run-import.ts";
import { ukcat } from "#scripts/import/uk.ts";
import { isFull } from "#test/support/measured.ts";
import { anEin } from "#test/support/records.ts";
import { anImporting, outcome, registerFile } from "#test/support/importing.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const importing = forEachTest(anImporting);

const counts = { added: 0, changed: 0, unchanged: 0, withdrawn: 0 };

/** A copy of a register's file in which lines are left out or changed. */
function edited(name: string, edit: (line: string) => string | null, as = name): string {
  const [header = "", ...lines] = readFileSync(registerFile(name), "utf8").trimEnd().split("\n");
  const kept = lines.flatMap((line) => edit(line) ?? []);
  return importing.file(as, `${[header, ...kept].join("\n")}\n`);
}
const without = (ein: string) => (line: string) => (line.startsWith(ein) ? null : line);

const withoutProfile = async (): Promise<string[]> => {
  const { rows } = await importing.store.raw.execute(
    "SELECT org_id || ' ' || state || ' ' || as_of FROM register_records WHERE nonprofit_id IS NULL ORDER BY 1",
  );
  return rows.map((row) => String(row[0]));
};

describe("the IRS master file", () => {
  test("adds eligible organisations under readable names and stable slugs, without a person or a street", async () => {
    const files = ["eo_bb.csv", "eo_aa.csv"];
    const check = await importing.run("irs-bmf", files, { checkOnly: true });
    expect(check).toMatchObject({ ...counts, rows: 11 });
    expect(await importing.slugs()).toEqual([]);
    const report = await importing.run("irs-bmf", files);
    expect(report).toMatchObject({ ...counts, rows: 11, added: 9, recorded: 2 });
    expect(await importing.slugs()).toEqual([
      "mcalder-food-bank-inc",
      "trout-keepers-of-america-inc-bosque-chapter",
      "trout-keepers-of-america-inc-silver-creek",
      "grace-chapel",
      "grace-chapel-westhaven",
      "grace-chapel-westhaven-nevada",
      "refugee-welcome-house",
      "hoola-music-academy",
      "sociedad-de-amigos-del-mar",
    ]);
    expect(await importing.record("mcalder-food-bank-inc")).toMatchObject({
      name: "McAlder Food Bank Inc",
      country_code: "US",
      region: "Nevada",
      city: "Easthaven",
      founded_year: null,
      register: "irs-bmf",
      register_scope: "NV",
      status: "listed",
      registrations: [anEin("00-0000101")],
      provenance: { name: { set_by: "register", source: "irs-bmf" } },
    });
    expect((await importing.record("grace-chapel-westhaven"))?.causes).toEqual(["religion"]);
    expect((await importing.record("refugee-welcome-house"))?.country_code).toBe("CA");
    expect((await importing.record("sociedad-de-amigos-del-mar"))?.country_code).toBe("PR");
    const { rows } = await importing.store.raw.execute("SELECT * FROM nonprofits");
    expect(JSON.stringify(rows)).not.toMatch(/PAT SAMPLE|SAMPLE ST/i);
  });

  test("keeps what the register says, of organisations without a profile too", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv"]);
    expect((await importing.record("mcalder-food-bank-inc"))?.register_records).toEqual([
      {
        org_id: "US-EIN-000000101",
        register: "irs-bmf",
        name: "McAlder Food Bank Inc",
        as_of: "2026-05-12",
        scope: "NV",
        finances: [],
        state: "registered",
        facts: {
          subsection: "03",
          status: "01",
          foundation: "15",
          ntee: "K31",
          deductibility: "1",
          ruling: "1999-01",
          filing: "01",
          postal_code: "89000",
          year_end: "12",
          tax_period: "2023-12",
          income: 2000,
          revenue: 2000,
          assets: 1000,
        },
      },
    ]);
    // Blank amounts are none, and so are the zeros of a form that asks for no amounts.
    const [chapter] = (await importing.record("grace-chapel"))?.register_records ?? [];
    expect(Object.keys(chapter?.facts ?? {})).not.toContain("income");
    expect(Object.keys(chapter?.facts ?? {})).not.toContain("ruling");
    expect(await withoutProfile()).toEqual([
      "US-EIN-000000107 registered 2026-05-12",
      "US-EIN-000000108 registered 2026-05-12",
    ]);
  });

  test("follows an organisation that becomes eligible, ceases to be, and goes", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv"]);
    const public04 = (line: string) => line.replace(/^(000000107.*),04,/, "$1,15,");
    const file = (edit: typeof public04 | ReturnType<typeof without>) => edited("eo_aa.csv", edit);
    const added = await importing.run("irs-bmf", [file(public04)], { asOf: "2026-06-09" });
    expect(added).toMatchObject({ ...counts, added: 1, unchanged: 7, recorded: 1 });
    expect(await withoutProfile()).toEqual(["US-EIN-000000108 registered 2026-05-12"]);
    expect(await idsInList(importing.store, "all", { limit: 9, offset: 0 })).toHaveLength(8);
    const again = await importing.run("irs-bmf", ["eo_aa.csv"], { asOf: "2026-07-14" });
    expect(again).toMatchObject({ ...counts, withdrawn: 1, unchanged: 7, recorded: 1 });
    expect(await importing.record("sample-family-foundation")).toMatchObject({
      status: "withdrawn",
      register_records: [{ state: "registered", facts: { foundation: "04" }, as_of: "2026-07-14" }],
    });
    const lacking = file(without("000000108"));
    expect(await importing.run("irs-bmf", [lacking], { asOf: "2026-08-11" })).toMatchObject({
      ...counts,
      recorded: 1,
      unchanged: 8,
    });
    expect(await withoutProfile()).toEqual(["US-EIN-000000108 gone 2026-08-11"]);
    expect(await idsInList(importing.store, "all", { limit: 9, offset: 0 })).toHaveLength(7);
    const { rows } = await importing.store.raw.execute(
      "SELECT DISTINCT as_of FROM register_scopes",
    );
    expect(rows.map((row) => row["as_of"])).toEqual(["2026-08-11"]);
    const back = await importing.run("irs-bmf", [file(public04)], { asOf: "2026-09-08" });
    expect(back).toMatchObject({ added: 0, changed: 1, restored: 1, withdrawn: 0 });
  });

  // Its record is gone already, so the row that withdraws it comes from its profile.
  describe("one that its register dropped meanwhile is withdrawn by the next file after", () => {
    const at = new Date("2026-08-01");
    const save = (...saves: Save[]) =>
      importing.store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: at }));
    const recordOf = async (slug: string): Promise<NonprofitRecord> => {
      const record = await importing.record(slug);
      if (record === null) throw new Error(`${slug} is not there`);
      return record;
    };
    const slug = "mcalder-food-bank-inc";
    const drop = () => importing.run("irs-bmf", [edited("eo_aa.csv", without("000000101"))]);

    test("an operator's withdrawal was undone", async () => {
      await importing.run("irs-bmf", ["eo_aa.csv"]);
      const before = await recordOf(slug);
      await save({ before, after: withdrawnBy(before, at) });
      await drop();
      const withdrawn = await recordOf(slug);
      await save({ before: withdrawn, after: restored(withdrawn, at) });
      expect(await recordOf(slug)).toMatchObject({ status: "listed" });
      expect(await drop()).toMatchObject({ withdrawn: 1 });
      expect(await recordOf(slug)).toMatchObject({ status: "withdrawn" });
    });

    test("a merge was undone", async () => {
      await importing.run("irs-bmf", ["eo_aa.csv"]);
      const into = await recordOf(slug);
      const gone = await recordOf("grace-chapel");
      const merge = merged(gone, into, { at });
      await save({ before: into, after: merge.into }, { before: gone, after: merge.gone });
      await drop();
      const kept = await recordOf(slug);
      const other = await recordOf("grace-chapel");
      const back = unmerged(other, kept, merge.given);
      await save({ before: kept, after: back.into });
      await save({ before: other, after: back.gone });
      expect(await recordOf(slug)).toMatchObject({ status: "listed" });
      expect(await drop()).toMatchObject({ withdrawn: 1 });
      expect(await recordOf(slug)).toMatchObject({ status: "withdrawn" });
      expect(await recordOf("grace-chapel")).toMatchObject({ status: "listed" });
    });
  });

  test("a renamed organisation keeps its slug, and a withdrawn one's is never given to another", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv"]);
    const renamed = edited("eo_aa.csv", (line) => line.replace("MCALDER FOOD", "WIDE TABLE FOOD"));
    expect(await importing.run("irs-bmf", [renamed])).toMatchObject({ changed: 1, unchanged: 6 });
    const { name } = (await importing.record("mcalder-food-bank-inc")) ?? {};
    expect(name).toBe("Wide Table Food Bank Inc");
    await importing.run("irs-bmf", [edited("eo_aa.csv", without("000000104"))]);
    const another = (line: string) => line.replace(/^000000104/, "000000114");
    await importing.run("irs-bmf", [edited("eo_aa.csv", another)]);
    expect(await importing.slugs()).toContain("grace-chapel-easthaven");
  });

  test("a file of another month withdraws what it lacks, whatever its name", async () => {
    await importing.run("irs-bmf", [edited("eo_aa.csv", (line) => line, "eo_aa_march.csv")]);
    const april = edited("eo_aa.csv", without("000000101"), "eo_aa_april.csv");
    const said: ImportReport["covers"][] = [];
    const onCovered = ({ covers }: ImportReport) => said.push(covers);
    expect(await importing.run("irs-bmf", [april], { onCovered })).toMatchObject({ withdrawn: 1 });
    expect(said).toEqual([
      [
        { part: "NV", listed: 6, to_withdraw: 1 },
        { part: "foreign", listed: 1, to_withdraw: 0 },
      ],
    ]);
    expect(await importing.run("irs-bmf", ["eo_bb.csv"])).toMatchObject({ added: 2, withdrawn: 0 });
  });

  test.each([
    ["none", []],
    ["foreign", [{ part: "foreign", listed: 1, to_withdraw: 1 }]],
    [
      "all",
      [
        { part: "HI", listed: 1, to_withdraw: 1 },
        { part: "NV", listed: 6, to_withdraw: 5 },
        { part: "PR", listed: 1, to_withdraw: 1 },
        { part: "foreign", listed: 1, to_withdraw: 1 },
      ],
    ],
  ])("an operator may say that a file covers %s", async (scope, covers) => {
    await importing.run("irs-bmf", ["eo_aa.csv", "eo_bb.csv"]);
    const one = edited("eo_aa.csv", (line) => (line.startsWith("000000101") ? line : null));
    const run = await importing.run("irs-bmf", [one], { scope, checkOnly: true });
    expect(run.covers).toEqual(covers);
  });

  test("what a file covers is said on one line, and does not control the terminal", async () => {
    const steering = (line: string) => line.replace(",NV,", ',"\u001B[2J\nNV",');
    const run = await importing.run("irs-bmf", [edited("eo_aa.csv", steering)]);
    expect(coveredInWords(run)).toMatch(/^covers \[2J NV, foreign, as of .+; no nonprofits were/);
  });

  test("one that moved to another part of the run is not withdrawn", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv", "eo_bb.csv"]);
    const [, moving = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
    const old = edited("eo_aa.csv", without("000000101"));
    const bb = readFileSync(registerFile("eo_bb.csv"), "utf8");
    const now = importing.file("eo_bb.csv", `${bb}${moving.replace(",NV,", ",HI,")}\n`);
    expect(await importing.run("irs-bmf", [old, now])).toMatchObject({ changed: 1, withdrawn: 0 });
    const moved = await importing.record("mcalder-food-bank-inc");
    expect(moved).toMatchObject({ status: "listed", register_scope: "HI" });
  });

  test("a file that lost much of what it covered is refused, unless that is meant", async () => {
    const [header = "", line = ""] = readFileSync(registerFile("eo_aa.csv"), "utf8").split("\n");
    const many = Array.from({ length: 60 }, (_, at) =>
      line.replace(/^\d{9}/, String(500_000_000 + at)),
    );
    const fileOf = (rows: number) =>
      importing.file("eo_cc.csv", [header, ...many.slice(0, rows)].join("\n"));
    await importing.run("irs-bmf", [fileOf(60)]);
    expect(new Set(await importing.slugs()).size).toBe(60);
    // Fewer than 20 go without a question.
    expect(await importing.run("irs-bmf", [fileOf(41)])).toMatchObject({ withdrawn: 19 });
    const file = fileOf(21);
    for (const [parts, complaint] of [
      [{}, "20 of the 41 organisations of NV would be withdrawn"],
      [{ scope: "NV,Nevada" }, "no row and no profile is in Nevada: send some of NV"],
      [{ asOf: "2026-12-03" }, "it is as of 2026-12-03, which is yet to come; see --as-of"],
    ] as const)
      expect(await outcome(importing.run("irs-bmf", [file], parts))).toContain(complaint);
    const meant = await importing.run("irs-bmf", [file], { allowManyWithdrawals: true });
    expect(meant).toMatchObject({ withdrawn: 20, unchanged: 21 });
  });
});

describe("texts of forms 990 and 1023-EZ", () => {
  test("join known organisations by EIN, the newest year first, and survive the next master file", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv"]);
    const report = await importing.run("irs-990", ["missions_990.csv"]);
    expect(report).toMatchObject({ ...counts, rows: 4, changed: 1, skipped: 3 });
    expect(report.skipped_because).toMatchObject({ not_joined: 1, withheld: 1, duplicate: 1 });
    const told = {
      mission:
        "McAlder Food Bank gives food to families in the USA, with the help of God. We serve all.",
      programs: [
        { name: "Mobile pantry", description: "A truck brings food to villages." },
        { name: "School lunches", description: null },
      ],
      provenance: { mission: { source: "irs-990" } },
    };
    expect(await importing.record("mcalder-food-bank-inc")).toMatchObject(told);
    expect(await importing.run("irs-bmf", ["eo_aa.csv"])).toMatchObject({
      ...counts,
      unchanged: 7,
    });
    expect(await importing.record("mcalder-food-bank-inc")).toMatchObject(told);
    expect(await importing.run("irs-990", ["missions_990.csv"])).toMatchObject({
      changed: 0,
      unchanged: 1,
    });
  });

  test("of form 1023-EZ bring a website and the year of formation, with lost zeros put back", async () => {
    await importing.run("irs-bmf", ["eo_aa.csv"]);
    const report = await importing.run("irs-1023ez", ["missions_1023ez.csv"]);
    expect(report).toMatchObject({ ...counts, changed: 2, skipped: 1 });
    expect(await importing.record("grace-chapel")).toMatchObject({
      mission: "To gather for worship.",
      website: "https://www.gracechapel.example/home",
      founded_year: 2007,
    });
    const silent = await importing.record("grace-chapel-westhaven");
    expect(silent).toMatchObject({ mission: null, website: null, founded_year: 1965 });
  });
});

test("UK charities come with texts, website, causes and what the register says; closed ones stay out", async () => {
  const report = await importing.run("ukcat", ["charities_uk.csv"]);
  expect(report).toMatchObject({ ...counts, added: 3, recorded: 1 });
  expect(await withoutProfile()).toEqual(["GB-CHC-9000002 removed 2026-05-12"]);
  const refuge = await importing.record("sample-town-womens-refuge");
  expect(refuge).toMatchObject({
    name: "Sample Town Women's Refuge",
    country_code: "GB",
    region: null,
    city: null,
    mission: "Shelter for women and their children.",
    description: "To relieve women in need in Sample town.",
    website: "https://www.refuge.example",
    causes: ["housing", "gender-equality"],
    registrations: [{ org_id: "GB-CHC-9000001", registration_number: "9000001" }],
  });
  expect(refuge?.register_records[0]?.facts).toEqual({
    regulator: "GB-CHC",
    registered: "1990-08-02",
    income: 1,
    spending: 2,
    tags: "SW203;BE113",
    accounts_to: "2019-10-31",
    company_number: "00001234",
    icnptso: "D32",
    objects: "To relieve women in need in Sample town.",
    postal_code: "ZZ1",
  });
  expect(await importing.record("glen-sample-pipe-band")).toMatchObject({
    region: "Scotland",
    city: "Inverness",
    description: null,
    website: null,
    mission: "To teach piping and drumming to the young.",
    causes: ["creative-arts"],
  });
  expect(await importing.record("lough-sample-angling-trust")).toMatchObject({
    region: "Northern Ireland",
    city: "Belfast",
    website: null,
    description: null,
    provenance: { city: { rule: "from postcode BT1" } },
  });
});

test("a charity is in the region of its regulator, unless its postcode is elsewhere", () => {
  const mapping = loadCauseMapping();
  for (const [org_id, postcode, region] of [
    ["GB-SC-SC038302", "EH1 1AA", "Scotland"],
    ["GB-SC-SC038302", "", "Scotland"],
    ["GB-SC-SC038302", "MK7 6AA", null], // The Open University is registered there, and is in Milton Keynes.
    ["GB-SC-SC038302", "TD15 1AA", null],
    ["GB-SC-SC038302", "D02 H425", null],
    ["GB-NIC-100001", "BT1 1AA", "Northern Ireland"],
    ["GB-CHC-1089464", "G1 1AA", null],
  ] as const) {
    const read = ukcat.read({ org_id, postcode, name: "Sample charity" }, mapping);
    expect([postcode, read]).toMatchObject([postcode, { draft: { fields: { region } } }]);
  }
});

test("Australian charities come with year, place and what the register says; withheld ones stay out", async () => {
  const report = await importing.run("acnc", ["acnc.csv"]);
  expect(report).toMatchObject({ ...counts, added: 2, skipped: 1 });
  const rescue = await importing.record("sample-bay-wildlife-rescue-inc");
  expect(rescue).toMatchObject({
    country_code: "AU",
    region: "New South Wales",
    city: "Sample Bay",
    founded_year: 1871,
    website: "https://www.samplebay.example",
    causes: ["animals"],
    registrations: [{ type: "ABN", org_id: "AU-ABN-90000000001" }],
  });
  expect(rescue?.register_records[0]?.facts).toEqual({
    purposes: "preventing or relieving the suffering of animals",
    postal_code: "2999",
    established: "1871-12-31",
    countries: "Fiji, New Zealand",
  });
  expect(await importing.record("sample-top-end-church")).toMatchObject({
    region: "Northern Territory",
    city: "Darwin",
    website: null,
    causes: ["religion"],
  });
});

const folder = process.env["ALMONER_REGISTER_DATA"] ?? "";

test.skipIf(folder === "")("a real state's next month withdraws all that went", async () => {
  // All with ALMONER_FULL_TESTS=1, else those of some numbers.
  const month = (of: string, as: string) => {
    const rows = gunzipSync(readFileSync(`${folder}/${of}/eo_ri.csv.gz`))
      .toString()
      .split("\n");
    const some = rows.filter((row, at) => isFull || at === 0 || row.startsWith("0560"));
    return importing.file(as, some.join("\n"));
  };
  await importing.run("irs-bmf", [month("irs_bmf_previous_month", "eo_ri_march.csv")]);
  const april = await importing.run("irs-bmf", [month("irs_bmf", "eo_ri_april.csv")]);
  expect(april.covers.map(({ part }) => part)).toEqual(["RI"]);
  expect(april.withdrawn).toBeGreaterThanOrEqual(isFull ? 17 : 1);
  const { rows } = await importing.store.raw.execute(
    "SELECT count(*) AS listed FROM nonprofits WHERE status = 'listed'",
  );
  expect(Number(rows[0]?.["listed"])).toBe(april.added + april.changed + april.unchanged);
});
