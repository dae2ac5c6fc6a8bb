import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { exportTables } from "#content/store/move.ts";
import { fetchAndImport } from "#scripts/import/fetch-all.ts";
import { loadCauseMapping } from "#scripts/import/run-import.ts";
import { anImporting, importRequest, outcome } from "#test/support/importing.ts";
import { filed } from "#test/support/filed.ts";
import { aLyingServer } from "#test/support/lying-server.ts";
import { zipOf } from "#test/support/zip.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const importing = forEachTest(anImporting);

const day = (date: string) => (date === "" ? "" : `${date} 00:00:00.0000000`);

/** A table of the extract: the day, then the columns, CRLF at the end of each row. */
const table = (columns: string, rows: string[][]): string =>
  [["date_of_extract", ...columns.split(" ")], ...rows.map((row) => [day("2023-09-07"), ...row])]
    .map((cells) => `${cells.join("\t")}\r\n`)
    .join("");

const charityColumns =
  "organisation_number registered_charity_number linked_charity_number charity_name charity_type charity_registration_status date_of_registration date_of_removal charity_reporting_status latest_acc_fin_period_end_date latest_income latest_expenditure charity_contact_address1 charity_contact_postcode charity_contact_phone charity_contact_email charity_contact_web charity_company_registration_number charity_insolvent charity_in_administration charity_activities charity_gift_aid";

type Charity = Partial<
  Record<"org" | "number" | "part" | "name" | "status" | "removed" | "text" | "registered", string>
>;
const charity = (own: Charity = {}): string[] => {
  const { org = "11", number = "9000001", part = "0", status = "Registered", removed = "" } = own;
  const { name = "SAMPLE TOWN SHELTER", text = "Beds and meals.", registered = "1990-08-02" } = own;
  const accounts = ["Submission Received", day("2022-03-31"), "1200", "1000"];
  const contact =
    "7 Hidden Lane|EH1 1ZZ|01632 960000|pat@person.example|WWW.SHELTER.EXAMPLE|1234567";
  const first = [org, number, part, name, "CIO", status, day(registered), day(removed)];
  return [...first, ...accounts, ...contact.split("|"), "False", "False", text, "True"];
};

const extract = (rows: string[][] = [charity()]): Record<string, string> => ({
  charity: table(charityColumns, rows),
  charity_annual_return_history: table(
    "organisation_number registered_charity_number fin_period_start_date fin_period_end_date date_annual_return_received total_gross_income total_gross_expenditure",
    [
      ["11", "9000001", day("2020-04-01"), day("2021-03-31"), day("2021-09-01"), "900", "1100"],
      ["11", "9000001", day("2021-04-01"), day("2022-03-31"), day("2022-09-01"), "1200", "1000"],
      ["11", "9000001", day("2019-04-01"), day("2020-03-31"), "", "", ""],
    ],
  ),
  charity_annual_return_parta: table("organisation_number fin_period_end_date count_volunteers", [
    ["11", day("2021-03-31"), "4"],
    ["11", day("2020-03-31"), "9"],
  ]),
  charity_annual_return_partb: table(
    "organisation_number fin_period_end_date defined_benefit_pension_scheme assets_total_fixed assets_other_assets assets_total_liabilities assets_total_assets_and_liabilities count_employees",
    [["11", day("2022-03-31"), "-50", "1000", "500", "200", "1250", "3"]],
  ),
  charity_area_of_operation: table("organisation_number geographic_area_description", [
    ["11", "Kent"],
    ["11", "France"],
  ]),
  charity_classification: table("organisation_number classification_code", [
    ["11", "107"],
    ["11", "102"],
    ["11", "203"],
    ["11", "306"],
  ]),
  charity_event_history: table(
    "organisation_number event_type reason assoc_registered_charity_number assoc_charity_name",
    [
      ["11", "Standard registration", "", "", ""],
      ["12", "Removed", "Amalgamated", "", ""],
      ["12", "Asset transfer out", "", "9000001", "SAMPLE TOWN SHELTER"],
      ["13", "Asset transfer out", "Ceased to exist", "9000001", "SAMPLE TOWN SHELTER"],
      ["14", "Asset transfer out", "Ceased to exist", "9000001", "SAMPLE TOWN SHELTER"],
      ["14", "Asset transfer out", "Ceased to exist", "9000009", "ANOTHER ONE"],
    ],
  ),
  charity_governing_document: table("organisation_number charitable_objects area_of_benefit", [
    ["11", "TO RELIEVE PEOPLE WITHOUT A HOME.", "KENT"],
  ]),
  charity_other_names: table("organisation_number charity_name_type charity_name", [
    ["11", "Previous name", "SAMPLE NIGHT SHELTER"],
    ["11", "Working name", "Sample Shelter Trust"],
    ["11", "Working name", "Pat Person"],
  ]),
});

/** Writes tables into a folder, as the commission names them, and answers the folder. */
function folderOf(tables: Readonly<Record<string, string | Uint8Array>>, ending = ".txt"): string {
  const folder = join(importing.dataDir, "extract");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(tables))
    importing.file(`extract/publicextract.${name}${ending}`, text);
  return folder;
}

const rowsOf = async (orgId: string) => {
  const { records, profile } = await importing.known(orgId);
  return records.map((record) => ({ ...record, profile: profile !== null }));
};

describe("the extract of the Charity Commission", () => {
  test("makes one profile of the rows of all its tables", async () => {
    const report = await importing.run("ccew", [folderOf(extract())]);
    expect(report).toMatchObject({ rows: 1, added: 1, skipped: 0, covers: [{ part: "GB-CHC" }] });
    const record = await importing.record("sample-town-shelter");
    expect(record).toMatchObject({
      name: "Sample Town Shelter",
      mission: "Beds and meals.",
      city: "Edinburgh",
      description: "To relieve people without a home.",
      website: "https://www.shelter.example",
      causes: ["education", "housing", "disability"],
    });
    expect(record?.provenance["causes"]?.rule).toContain("Charity Commission class 102 → ");
    expect(record?.register_records[0]).toMatchObject({
      org_id: "GB-CHC-9000001",
      register: "ccew",
      scope: "GB-CHC",
      state: "registered",
      facts: {
        registered: "1990-08-02",
        income: 1200,
        spending: 1000,
        accounts_to: "2022-03-31",
        other_name: "Sample Shelter Trust; Sample Night Shelter",
        legal_form: "CIO",
        purposes: "102;107",
        beneficiaries: "203",
        activities: "306",
        gift_aid: "Y",
        areas: "Kent; France",
        company_number: "01234567",
        employees: 3,
        employees_to: "2022-03-31",
        volunteers: 4,
        volunteers_to: "2021-03-31",
      },
    });
    const { finances = [], facts = {} } = record?.register_records[0] ?? {};
    expect(Object.keys(facts)).not.toContain("insolvent");
    const annual = { form: "annual return", currency: "GBP" };
    expect(finances).toEqual([
      filed("2022-03-31", {
        ...annual,
        period_start: "2021-04-01",
        revenue: 1200,
        expenses: 1000,
        assets: 1500,
        liabilities: 250,
        net_assets: 1250,
        filed_at: "2022-09-01T00:00:00.000Z",
      }),
      filed("2021-03-31", {
        ...annual,
        period_start: "2020-04-01",
        revenue: 900,
        expenses: 1100,
        filed_at: "2021-09-01T00:00:00.000Z",
      }),
    ]);
    const [facts0] = record === null ? [] : toDetail(record, "https://x.example").register_facts;
    expect(facts0?.fields).toContainEqual({
      name: "purposes",
      label: "Purposes",
      value: "Education/training; Accommodation/housing",
    });
  });

  test("gives linked and removed charities no profile, and says where they went", async () => {
    const gone = { status: "Removed", removed: "2020-01-01" };
    const rows = [
      charity(),
      charity({ org: "21", part: "2", name: "LINKED FUND" }),
      charity({ org: "12", number: "9000002", name: "TAKEN IN", ...gone }),
      charity({ org: "13", number: "9000003", name: "GAVE ALL", ...gone }),
      charity({ org: "14", number: "9000004", name: "GAVE TO MANY", ...gone }),
      charity({ org: "15", number: "9000005", name: "MERGED", ...gone }),
    ];
    const mergers = importing.file(
      "ccew-register-of-mergers.csv.gz",
      gzipSync(
        'transferor_name,transferor_regno,transferor_subno,transferee_name,transferee_regno,transferee_subno\n"Merged",9000005,0,Sample Town Shelter,9000001,02\nNo number,,,X,,\n',
      ),
    );
    const report = await importing.run("ccew", [folderOf(extract(rows)), mergers]);
    expect(report).toMatchObject({ rows: 6, added: 1, recorded: 5 });
    expect(await rowsOf("GB-CHC-9000001-2")).toMatchObject([
      { state: "registered", profile: false, facts: { linked_to: "GB-CHC-9000001" } },
    ]);
    const shelter = { merged_into: "GB-CHC-9000001", merged_into_name: "Sample Town Shelter" };
    expect(await rowsOf("GB-CHC-9000002")).toMatchObject([
      { state: "removed", profile: false, facts: { removed: "2020-01-01", ...shelter } },
    ]);
    expect((await rowsOf("GB-CHC-9000003"))[0]?.facts).toMatchObject({
      assets_to: "Sample Town Shelter",
    });
    expect(JSON.stringify(await rowsOf("GB-CHC-9000004"))).not.toMatch(/merged_into|assets_to/);
    expect((await rowsOf("GB-CHC-9000005"))[0]?.facts).toMatchObject({
      merged_into: "GB-CHC-9000001-2",
    });
  });

  test("is read out of its zip files, and without the tables that are missing, which is said", async () => {
    const said: string[] = [];
    const { charity: main = "", charity_classification: classes = "" } = extract();
    const zips = {
      charity: zipOf({ "publicextract.charity.txt": main }),
      charity_classification: zipOf({ "publicextract.charity_classification.txt": classes }),
    };
    const onSkipped = (problem: string) => said.push(problem);
    const report = await importing.run("ccew", [folderOf(zips, ".zip")], { onSkipped });
    expect(report).toMatchObject({ added: 1, causes_by: { code: 1 } });
    expect(said.join()).toContain("no file has the tables charity_annual_return_history, ");
    expect(said.join()).not.toContain("charity_classification");
  });

  test.each([
    ["a line break", "Beds\nand meals."],
    ["a line break and the next column after it", "Beds and meals.\r\n"],
    ["several lines", "Beds\r\n\r\nand meals."],
  ])("holds texts with %s", async (_, text) => {
    const rows = [charity({ text }), charity({ org: "31", number: "9000031", name: "NEXT" })];
    expect(await importing.run("ccew", [folderOf(extract(rows))])).toMatchObject({ added: 2 });
    expect((await importing.record("sample-town-shelter"))?.mission).toBe("Beds and meals.");
  });

  test("withdraws what a later one lacks or has removed, and a second run changes nothing", async () => {
    const other = charity({ org: "31", number: "9000031", name: "NEXT" });
    const files = [folderOf(extract([charity(), other]))];
    await importing.run("ccew", files);
    expect(await importing.run("ccew", files)).toMatchObject({ unchanged: 2, changed: 0 });
    folderOf(extract([charity({ status: "Removed", removed: "2026-05-20" })]));
    const later = await importing.run("ccew", files, { asOf: "2026-06-12" });
    expect(later).toMatchObject({ withdrawn: 2, added: 0 });
    expect(await rowsOf("GB-CHC-9000031")).toMatchObject([{ state: "gone", profile: true }]);
    const [removed] = await rowsOf("GB-CHC-9000001");
    expect(removed).toMatchObject({ state: "removed" });
    // Years that the register no longer gives stay.
    expect(removed?.finances).toHaveLength(2);
  });

  const { charity_other_names: names = "", charity: charities = "" } = extract();
  const cut = zipOf({ "charity.txt": charities }).slice(0, -30);
  const changed = (name: string, from: string, to: string) => {
    const tables = extract();
    return { ...tables, [name]: tables[name]?.replace(from, to) ?? "" };
  };
  test.each<[string, Parameters<typeof folderOf>, RegExp]>([
    [
      "without its main table",
      [{ charity_other_names: names }],
      /the table of charities is missing/,
    ],
    [
      "whose columns moved",
      [changed("charity_classification", "classification_code", "class")],
      /publicextract\.charity_classification\.txt, line 1: wrong columns.*classification_code missing/,
    ],
    [
      "with a zip that is cut",
      [{ charity: cut }, ".zip"],
      /publicextract\.charity\.zip.*cut short/,
    ],
    [
      "with a row that lost a cell",
      [changed("charity_area_of_operation", "\tKent", "")],
      /charity_area_of_operation\.txt, line 2: the row has 2 fields/,
    ],
    [
      "with a period to come",
      [changed("charity_annual_return_parta", "2021-03-31", "2031-03-31")],
      /charity_annual_return_parta\.txt, line 2: fin_period_end_date is .*to come/,
    ],
    [
      "with a number that is none",
      [extract([charity({ number: "12" })])],
      /publicextract\.charity\.txt, line 2: "12" is no number of GB-CHC/,
    ],
    [
      "with an impossible date",
      [extract([charity({ registered: "1990-02-31" })])],
      /line 2: date_of_registration is .*no date/,
    ],
  ])("%s is refused, and nothing is stored", async (_, tables, message) => {
    const run = importing.run("ccew", [folderOf(...tables)]);
    expect(await outcome(run)).toMatch(message);
    expect(await importing.slugs()).toEqual([]);
  });
});

const selection = (name: string, web: string, activities = "Says the selection.", objects = "") =>
  importing.file(
    "top.csv",
    `org_id,reg_number,name,postcode,active,date_registered,activities,objects,source,income,spending,fye,Batch ID,web,company_number,UKCAT,ICNPTSO
GB-CHC-9000001,9000001,${name},EH1 1ZZ,True,1990-08-02,${activities},${objects},ccew,5,6,2019-10-31,x,${web},,SW203,D32
`,
  );

test.each([
  [
    "zero in England is an income",
    "GB-CHC-9000001",
    "1990-08-02",
    ["registered", "income", "accounts_to"],
  ],
  ["zero in Northern Ireland is none", "GB-NIC-199001", "2018-08-02", ["registered"]],
  ["1902 in Scotland is no date", "GB-SC-SC999001", "1902-01-01", ["income", "accounts_to"]],
])("%s", async (_, orgId, registered, said) => {
  const text = readFileSync(selection("OLD NAME", ""), "utf8")
    .replace("GB-CHC-9000001", orgId)
    .replace("1990-08-02", `${registered} 00:00:00`)
    .replace(",5,6,", ",0,0,");
  await importing.run("ukcat", [importing.file("top.csv", text)], { scope: "none" });
  const [row] = await rowsOf(orgId);
  const keys = ["registered", "income", "accounts_to"];
  expect(keys.filter((key) => row?.facts[key] !== undefined)).toEqual(said);
});

test.each([
  // Parks and gardens have the tag of outdoor pursuits; few of the others' missions name peers or age.
  ["LE104", []],
  ["SW106", []],
  ["SC105", []],
  ["SC106", ["seniors"]],
])("the tag %s is of the causes %j", (tag, causes) => {
  const codes = { ukcat: [tag], icnptso: "", name: "Sample" };
  expect(loadCauseMapping().british(codes).causes).toEqual(causes);
});

test.each([
  // Families and people in need are helped; the places where they live are rarely improved.
  ["D14", ["poverty-reduction"]],
  ["D19", ["poverty-reduction"]],
  ["F20", ["community-development"]],
])("the class %s is of the causes %j", (icnptso, causes) => {
  const codes = { ukcat: [], icnptso, name: "Sample" };
  expect(loadCauseMapping().british(codes).causes).toEqual(causes);
});

describe("a charity that a selection of the registers has", () => {
  const runSelection = (web = "") =>
    importing.run("ukcat", [selection("OLD NAME", web)], { scope: "none" });

  test("becomes that of the whole register, which is not undone by the selection", async () => {
    await runSelection("www.old.example");
    const files = [folderOf(extract())];
    expect(await importing.run("ccew", files)).toMatchObject({ added: 0, changed: 1 });
    const after = await importing.record("old-name");
    expect(after).toMatchObject({
      name: "Sample Town Shelter",
      mission: "Beds and meals.",
      register: "ccew",
      website: "https://www.shelter.example",
      register_scope: "GB-CHC",
      provenance: { name: { source: "ccew" }, mission: { source: "ccew" } },
    });
    // What the selection says stands beside it no more, but its tags are searched.
    const detail = after === null ? null : toDetail(after, "https://x.example");
    expect(detail?.register_facts.map(({ register }) => register)).toEqual(["ccew"]);
    expect(after?.register_records.map(({ register }) => register)).toEqual(["ccew", "ukcat"]);
    expect(await runSelection("www.old.example")).toMatchObject({
      added: 0,
      changed: 0,
      unchanged: 1,
    });
    expect(await importing.run("ccew", files)).toMatchObject({ changed: 0, unchanged: 1 });
  });

  test.each([
    ["To teach and feed children.", "To teach, and feed, children", null],
    ["To teach and feed children.", "To teach children", "To teach children"],
    ["To teach.", "To teach. To feed.", "To teach. To feed."],
  ])(
    "has as activities %p, as objects %p and is described by %p",
    async (mission, objects, description) => {
      const file = selection("OLD NAME", "", mission, `"${objects}"`);
      await importing.run("ukcat", [file], { scope: "none" });
      expect(await importing.record("old-name")).toMatchObject({ mission, description });
    },
  );

  test("is named without the insolvency that OSCR appends", async () => {
    const file = selection("OLD NAME (subject to insolvency proceedings)", "");
    await importing.run("ukcat", [file], { scope: "none" });
    expect(await importing.record("old-name")).toMatchObject({ name: "Old Name" });
  });

  test("is withdrawn when the whole register has removed it, and stays so", async () => {
    await runSelection();
    const removed = charity({ status: "Removed", removed: "2026-05-01" });
    expect(await importing.run("ccew", [folderOf(extract([removed]))])).toMatchObject({
      withdrawn: 1,
    });
    const after = await importing.record("old-name");
    expect(after).toMatchObject({ status: "withdrawn", register: "ccew" });
    expect(after && toDetail(after, "https://x.example").standing).toBe("removed");
    await runSelection();
    expect((await importing.record("old-name"))?.status).toBe("withdrawn");
  });

  test("keeps what agents agreed on, and what the whole register leaves open", async () => {
    await runSelection("www.old.example");
    await importing.store.raw.execute(
      `UPDATE provenance SET set_by = 'consensus', source = 'consensus' WHERE field = 'mission'`,
    );
    await importing.run("ccew", [
      folderOf({ charity: table(charityColumns, [charity({ text: "" })]) }),
    ]);
    expect(await importing.record("old-name")).toMatchObject({
      mission: "Says the selection.",
      name: "Sample Town Shelter",
      causes: ["housing"],
    });
  });
});

test("the tables are fetched together as soon as one is new, and else not at all", async () => {
  const server = await aLyingServer();
  const tables = extract();
  const etags: Record<string, string> = {};
  const tableOf = (path: string) => /publicextract\.(\w+)\.zip/.exec(path)?.[1] ?? "";
  server.answers = [
    ({ path, headers }) => {
      const etag = etags[tableOf(path)] ?? '"1"';
      if (headers["if-none-match"] === etag) return { status: 304 };
      return { headers: { etag }, body: zipOf({ "table.txt": tables[tableOf(path)] ?? "" }) };
    },
  ];
  const request = { ...importRequest(importing, "ccew"), asOf: "2026-06-01" };
  const run = () => fetchAndImport({ ...request, origin: server.origin, years: 3 });
  try {
    expect(await run()).toMatchObject({ added: 1, files: { length: 9 } });
    expect(await run()).toMatchObject({ rows: 0, files: [] });
    etags["charity"] = '"2"';
    expect(await run()).toMatchObject({ unchanged: 1, files: { length: 9 } });
    expect((await rowsOf("GB-CHC-9000001"))[0]?.facts).toMatchObject({ areas: "Kent; France" });
  } finally {
    server.close();
  }
});

const ccniHeader =
  "Reg charity number,Charity name,Date registered,Status,Date for financial year ending,Total income,Total spending,Charitable spending,Income generation and governance,Public address,Website,Email,Telephone,Company number,What the charity does,Who the charity helps,How the charity works,Charitable purposes,Other name,Type of governing document,Financial period start,Employed staff,UK and Ireland volunteers,Total net assets and liabilities,";

type Northern = Partial<
  Record<"number" | "name" | "status" | "income" | "spent" | "web" | "other" | "net", string>
>;
const northern = (own: Northern = {}): string => {
  const { number = "199001", name = "Sample Caf\u00e9 Trust", status = "Overdue: 64 days" } = own;
  const { income = "500", spent = "400", web = "tbc", other = "SCT", net = "-20" } = own;
  const address = "Pat Person, 7 Hidden Lane, Belfast, Bt15 2Gb, Northern Ireland";
  const does =
    "The advancement of education,The relief of those in need by reason of youth,  age, ill-health";
  const prose = "To teach \u201cpeople\u201d.";
  const money = [income, spent, "0", "0"];
  const first = [number, name, "13/12/2013", status, "31 March 2023", ...money, address, web];
  const contact = ["pat@person.example", "01632", "22996", does, "General public"];
  const last = ["Arts,Sport/recreation", prose, other, "Constitution", "01 April 2022", "0", "8"];
  return [...first, ...contact, ...last, net, ""]
    .map((text) => `"${text.replaceAll('"', '""')}"`)
    .join(",");
};
const windows = (text: string): Buffer =>
  Buffer.from(text.replaceAll("\u201c", "\u0093").replaceAll("\u201d", "\u0094"), "latin1");

describe("the register of Northern Ireland", () => {
  const csv = (...rows: string[]) => windows(`${[ccniHeader, ...rows].join("\n")}\n`);

  test("is Windows-1252 with columns that mean something else", async () => {
    const file = importing.file("ccni.csv", csv(northern()));
    expect(await importing.run("ccni", [file])).toMatchObject({ added: 1 });
    expect(await importing.record("sample-cafe-trust")).toMatchObject({
      name: "Sample Caf\u00e9 Trust",
      website: null,
      city: "Belfast",
      region: "Northern Ireland",
      mission: "To teach \u201cpeople\u201d.",
      description: null,
      causes: ["education", "poverty-reduction"],
      register_records: [
        {
          org_id: "GB-NIC-199001",
          state: "registered",
          facts: {
            registered: "2013-12-13",
            reporting: "Overdue: 64 days",
            other_name: "SCT",
            company_number: "NI022996",
            income: 500,
            accounts_to: "2023-03-31",
            purposes:
              "The advancement of education; The relief of those in need by reason of youth, age, ill-health",
            activities: "Arts; Sport/recreation",
            volunteers: 8,
          },
          finances: [
            {
              period_start: "2022-04-01",
              period_end: "2023-03-31",
              revenue: 500,
              // What the register calls net assets is below zero nearly everywhere: it is what the charity owes.
              expenses: 400,
              net_assets: null,
              assets: null,
            },
          ],
        },
      ],
    });
    const stored = JSON.stringify((await rowsOf("GB-NIC-199001"))[0]);
    expect(stored).not.toMatch(/employees|Hidden|Pat|person\.example|01632/);
  });

  test("zeros are no figures, and only Removed is a status of the register", async () => {
    const removed = { name: "Removed One", status: "Removed", other: "Canon A B Person" };
    const rows = [
      northern({ income: "0", spent: "0", net: "0" }),
      northern({ number: "199002", ...removed }),
    ];
    const file = importing.file("ccni.csv", csv(...rows));
    expect(await importing.run("ccni", [file])).toMatchObject({ added: 1, recorded: 1 });
    const [first] = await rowsOf("GB-NIC-199001");
    expect(first?.finances).toEqual([]);
    expect(Object.keys(first?.facts ?? {})).not.toContain("accounts_to");
    const [second] = await rowsOf("GB-NIC-199002");
    expect(second).toMatchObject({ state: "removed" });
    expect(Object.keys(second?.facts ?? {})).not.toContain("other_name");
  });
});

const scottishColumns =
  'Charity Number,Charity Name,Registered Date,Known As,Charity Status,Notes,Postcode,Constitutional Form,Previous Constitutional Form 1,Geographical Spread,Main Operating Location,Purposes,Beneficiaries,Activities,Objectives,Principal Office/Trustees Address,Website,Most recent year income,Most recent year expenditure,Mailing cycle,Year End,Date annual return received," Next year end date"," Donations and legacies income",Charitable activities income,Parent charity name,Designated religious body,Regulatory Type';
const scottish = (number: string, name: string, parent = "SAMPLE MOTHER CHURCH"): string =>
  `${number},${name},15/12/1999,Sample Kirk Trust,Active,-,EH1 1ZZ,Unincorporated association,,Within one city,Edinburgh,"'The advancement of religion','The relief of those in need by reason of age, ill health'","'Older people'","'It carries out activities or services itself'",To keep a kirk.,"Pat Person, 7 Hidden Lane",www.kirk.example,1000,900,1,31/03/2025,01/09/2025,31/03/2026,5,5,${parent},Yes,Standard`;

describe("the Scottish register", () => {
  test("is read by its published columns, in either encoding and with stray bytes", async () => {
    const text = `${scottishColumns}\r\n${scottish("SC999001", "SAMPLE KIRK\u0000 (Subject to insolvency proceedings)")}\r\n${scottish("SC999002", "Eilean Caf\u00e9", "-")}\r\n`;
    const file = importing.file("oscr.csv.gz", gzipSync(Buffer.from(text, "latin1")));
    expect(await importing.run("oscr", [file])).toMatchObject({ added: 2, causes_by: { code: 2 } });
    expect((await importing.record("eilean-cafe"))?.name).toBe("Eilean Caf\u00e9");
    expect(await importing.record("sample-kirk")).toMatchObject({
      name: "Sample Kirk",
      region: "Scotland",
      city: "Edinburgh",
      causes: ["religion", "poverty-reduction"],
      website: "https://www.kirk.example",
      mission: "To keep a kirk.",
      register_records: [
        {
          org_id: "GB-SC-SC999001",
          scope: "GB-SC",
          facts: {
            registered: "1999-12-15",
            insolvent: "Y",
            religious_body: "Y",
            income: 1000,
            parent: "SAMPLE MOTHER CHURCH",
            spread: "Within one city",
            areas: "Edinburgh",
            purposes:
              "The advancement of religion; The relief of those in need by reason of age, ill health",
            other_name: "Sample Kirk Trust",
          },
          finances: [
            { period_end: "2025-03-31", revenue: 1000, expenses: 900, period_start: null },
          ],
        },
      ],
    });
    const all = JSON.stringify(await rowsOf("GB-SC-SC999001"));
    expect(all).not.toMatch(/Hidden|Pat Person/);
    expect(Object.keys((await rowsOf("GB-SC-SC999002"))[0]?.facts ?? {})).not.toContain("parent");
  });

  test("and its former charities are two parts, so either may be given alone", async () => {
    const now = importing.file(
      "now.csv",
      `${scottishColumns}\n${scottish("SC999001", "SAMPLE KIRK")}\n`,
    );
    const former = importing.file(
      "former.csv",
      `${scottishColumns},Ceased Date\n${scottish("SC999003", "CLOSED KIRK")},01/02/2020\n`,
    );
    await importing.run("oscr", [now]);
    expect(await importing.run("oscr", [former])).toMatchObject({ recorded: 1, withdrawn: 0 });
    expect(await rowsOf("GB-SC-SC999003")).toMatchObject([
      { state: "removed", profile: false, facts: { removed: "2020-02-01" } },
    ]);
    expect(await importing.run("oscr", [now])).toMatchObject({ unchanged: 1, withdrawn: 0 });
    expect(await rowsOf("GB-SC-SC999003")).toMatchObject([{ state: "removed" }]);
  });
});

const data = process.env["ALMONER_REGISTER_DATA"] ?? "";
const folder = join(data, "uk_ccew_extract_layout");

describe.skipIf(data === "")("real registers of the United Kingdom", () => {
  const unpacked = (path: string) => gunzipSync(readFileSync(join(data, path)));
  const mergers = join(data, "uk_extras/ccew-register-of-mergers.csv.gz");
  const northernFile = "uk_ccni/charitydetails_2024_sample.csv.gz";

  test("go in whole, fill what they have, and no address, telephone or mail address reaches the store", async () => {
    const british = await importing.run("ccew", [folder, mergers], { asOf: "2023-09-07" });
    expect(british).toMatchObject({ rows: 572, added: 122, recorded: 450, skipped: 0 });
    const irish = await importing.run("ccni", [join(data, northernFile)], { asOf: "2024-04-04" });
    expect(irish).toMatchObject({ rows: 365, added: 329, recorded: 36, skipped: 0 });

    const options = { columns: true, relax_quotes: true } as const;
    const rows = parse<Record<string, string>>(
      unpacked("uk_ccew_extract_layout/publicextract.charity.txt.gz"),
      { ...options, delimiter: "\t", quote: false },
    );
    const hidden = /address|phone|email/;
    const ofPersons = rows.flatMap((row) =>
      Object.entries(row).flatMap(([column, text]) => (hidden.test(column) ? [text] : [])),
    );
    const decoded = new TextDecoder("windows-1252").decode(unpacked(northernFile));
    const streets = parse<Record<string, string>>(decoded, options).flatMap((row) =>
      (row["Public address"] ?? "").split(",").filter((part) => /^\W*\d+[a-z]? /i.test(part)),
    );
    expect([ofPersons.filter(Boolean).length > 400, streets.length > 200]).toEqual([true, true]);
    let stored = "";
    for await (const lines of exportTables(importing.store)) stored += lines.toLowerCase();
    const leaked = [...new Set([...ofPersons, ...streets])]
      .map((text) => text.trim().toLowerCase())
      .filter((text) => text.length > 4 && stored.includes(text));
    // No organisation has one of them in its own name or prose, so nothing is excepted.
    expect(leaked).toEqual([]);

    const ids = Array.from({ length: 329 + 122 }, (_, at) => at + 1);
    const records = (await recordsById(importing.store, ids)).filter(
      ({ register }) => register === "ccni",
    );
    const count = (has: (record: (typeof records)[number]) => unknown) =>
      records.filter(has).length;
    expect(count(({ mission }) => mission)).toBe(329);
    expect(count(({ causes }) => causes.length > 0)).toBe(328);
    expect(count(({ city }) => city)).toBe(328);
    expect(count(({ register_records: [first] }) => first?.finances.length)).toBeGreaterThan(250);
    const websites = records.flatMap(({ website }) => website ?? []);
    expect(websites.length).toBeGreaterThan(180);
    expect(websites.filter((url) => /tbc|none|@| /.test(url))).toEqual([]);
  });
});
