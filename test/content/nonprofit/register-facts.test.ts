import { describe, expect, test } from "bun:test";
import registers from "#content/editorial/registers.json";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import {
  amountInWords,
  categoryIn,
  dateInWords,
  factLine,
  factsOf,
  publicFacts,
  recordUrl,
  registerById,
  registerPage,
  samePublicFacts,
  standingIn,
  stateInWords,
  withRegisterRecord,
} from "#content/nonprofit/register-facts.ts";
import { publicFields } from "#content/nonprofit/wire.ts";
import { aNonprofit, aRegisterRecord as record } from "#test/support/records.ts";

const textsOf = (register: string, facts: RegisterRecord["facts"]) =>
  factsOf({ register, facts }).map(factLine);

describe("what a register says, in words a donor knows:", () => {
  test("the IRS", () => {
    expect(
      textsOf("irs-bmf", {
        subsection: "03",
        status: "01",
        foundation: "15",
        ntee: "A65",
        filing: "01",
        activity: "088090000",
        deductibility: "1",
        ruling: "1994-07",
        year_end: "12",
        tax_period: "2024-12",
        income: 3_312_400,
        revenue: -500,
        assets: 0,
      }),
    ).toEqual([
      "Tax status: 501(c)(3): tax-exempt for charitable, religious, educational or scientific purposes",
      "Gifts: Deductible from US tax",
      "Kind of charity: Public charity, funded largely by the public or by government",
      "Category: Theater (NTEE A65)",
      "Former activity codes: Community theatrical group; Cultural performances (code 088, 090)",
      "Ruling on its tax exemption: July 1994",
      "Latest return covers the year to: December 2024",
      "Revenue: −US$ 500, year to December 2024, Form 990 or 990-EZ",
      "Gross income (revenue plus the costs of what was sold): US$ 3,312,400, year to December 2024, Form 990 or 990-EZ",
      "Assets: US$ 0, year to December 2024, Form 990 or 990-EZ",
      "Has to file: Form 990 or 990-EZ each year",
      "Financial year ends in: December",
    ]);
  });

  const uk = { registered: "1990-08-02", income: 75_186, accounts_to: "2019-10-31" };
  test.each<[string, RegisterRecord["facts"], string[]]>([
    ["irs-990-xml", { year_formed: 1900 }, ["Year formed: 1900"]],
    [
      "irs-990-xml",
      { employees: 17_420, period_end: "2023-06-30" },
      ["For the year to: 30 June 2023", "Employees: 17,420, year to 30 June 2023"],
    ],
    [
      "ukcat",
      { ...uk, regulator: "GB-SC", company_number: "02534145" },
      [
        "Registered with: Scottish Charity Regulator (OSCR)",
        "Registered since: 2 August 1990",
        "Income: £75,186, year to 31 October 2019",
        "Latest accounts up to: 31 October 2019",
        "Company number: 02534145",
      ],
    ],
    [
      "acnc",
      { registered: "2012-12-03", states: "Victoria" },
      ["Registered since: 3 December 2012", "Works in: Victoria"],
    ],
    // Codes without words, and codes whose group alone has a title.
    ["irs-bmf", { subsection: "77", foundation: "00", deductibility: "9", ntee: "999" }, []],
    ["irs-bmf", { activity: "000000000" }, []],
    ["irs-bmf", { deductibility: "constructor" }, []],
    ["irs-bmf", { deductibility: "__proto__" }, []],
    ["irs-bmf", { ntee: "B71" }, ["Category: Education (NTEE B71)"]],
    ["irs-bmf", { ntee: "W00O" }, ["Category: Public & Societal Benefit (NTEE W00O)"]],
    [
      "irs-bmf",
      { deductibility: "0" },
      ["Gifts: The IRS does not say whether gifts are deductible"],
    ],
    ["sample", { income: 5 }, []],
  ])("%s %j", (register, facts, texts) => {
    expect(textsOf(register, facts)).toEqual(texts);
  });

  test("an amount without a year has no period", () => {
    expect(factsOf({ register: "ukcat", facts: { income: 5 } })).toEqual([
      { name: "income", label: "Income", value: 5, currency: "GBP" },
    ]);
  });
});

test("each fact of the table has a label of its own within its register", () => {
  for (const { fields = [] } of registers as { fields?: { name: string; label: string }[] }[]) {
    expect(new Set(fields.map(({ label }) => label)).size).toBe(fields.length);
    expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length);
  }
});

test.each([
  [35_220, "USD", "US$ 35,220"],
  [999_999, "GBP", "£999,999"],
  [1_049_999, "GBP", "£1 million"],
  [12_345_678, "AUD", "A$ 12 million"],
  [345_678_901, "USD", "US$ 346 million"],
  [999_600_000, "USD", "US$ 1 billion"],
  [5, "KES", "KES 5"],
])("%d %s are %s", (amount, currency, words) => {
  expect(amountInWords(amount, currency)).toBe(words);
});

test.each([
  ["1994-07", "July 1994"],
  ["1990-08-02", "2 August 1990"],
  ["30 Jun", "30 Jun"],
])("the date %s is %s", (date, words) => expect(dateInWords(date)).toBe(words));

test("a register that is not in the table says nothing", () => {
  expect(publicFacts([record({ register: "sample" })])).toEqual([]);
});

test("a revocation stands first, and beside one that holds nothing says that gifts are deductible", () => {
  const facts = { subsection: "03", deductibility: "1", income: 5 };
  const revocation = record({ register: "irs-revocations", state: "revoked" });
  const beside = (other: RegisterRecord) => {
    const [first, second] = publicFacts([record({ facts }), other]);
    expect(first?.state).toBe("revoked");
    return second?.fields.map(({ name }) => name);
  };
  expect(beside(revocation)).toEqual(["income"]);
  expect(beside({ ...revocation, org_id: "US-EIN-000000102" })).toContain("deductibility");
  const before = { ...revocation, facts: { posted: "2020-07-10" } };
  expect(beside(before)).toContain("deductibility");
});

describe("public facts", () => {
  test("name register, licence, date and the public record", () => {
    expect(publicFacts([record({ facts: { deductibility: "1" } })])).toEqual([
      {
        register: "irs-bmf",
        register_name: "IRS Business Master File",
        org_id: "US-EIN-000000101",
        name: "Sample Trust",
        state: "registered",
        as_of: "2026-04-14",
        licence: registerById("irs-bmf")?.licence ?? { name: "", url: "" },
        attribution: expect.stringContaining("Internal Revenue Service"),
        fields: [{ name: "deductibility", label: "Gifts", value: "Deductible from US tax" }],
        record_url: "https://apps.irs.gov/app/eos/detailsPage?ein=000000101",
      },
    ]);
    expect(stateInWords(record({ state: "gone" }))).toBe(
      "No longer in the register as of 14 April 2026",
    );
    expect(recordUrl("ukcat", "GB-SC-SC012345")).toContain("number=SC012345");
    expect(recordUrl("ukcat", "GB-CHC-210183-1")).toContain("regid=210183&subid=1");
    expect(registerPage("GB-NIC-100012")).toContain("regId=100012");
    expect(recordUrl("irs-bmf", "XX-1")).toBeNull();
    expect(recordUrl("sample", "XS-1")).toBeNull();
  });

  test("have a name of their own in the change feed", () => {
    expect(publicFields(["register_records", "city"])).toEqual(["register_facts", "city"]);
  });

  test("are the same when only the part of the register differs", () => {
    const inPart = (scope: string) => aNonprofit({ register_records: [record({ scope })] });
    expect(samePublicFacts(inPart("NV"), inPart("HI"))).toBe(true);
    expect(samePublicFacts(inPart("NV"), aNonprofit())).toBe(false);
  });

  test("of one register take the place of its earlier ones, in their order", () => {
    const other = record({ register: "irs-pub78" });
    const newer = record({ as_of: "2026-05-12" });
    expect(withRegisterRecord([record(), other], newer)).toEqual([newer, other]);
    expect(withRegisterRecord([other], newer)).toEqual([newer, other]);
  });
});

describe("the standing in one word", () => {
  const revocation = record({ register: "irs-revocations", state: "revoked", as_of: "2026-05-12" });
  const later = record({ as_of: "2026-06-09" });
  test.each([
    ["nothing without a register", [], null],
    ["nothing by a filing", [record({ register: "irs-990n", state: "filed" })], null],
    ["a revocation before all else", [record(), revocation], "revoked"],
    ["reinstated, where a later file lists it", [later, revocation], "reinstated"],
    ["registered, where one of its numbers is", [record({ state: "gone" }), later], "registered"],
    ["gone", [record({ state: "gone" })], "gone"],
    ["nothing of a list of revocations that dropped it", [{ ...revocation, state: "gone" }], null],
  ] as const)("is %s", (_, records, standing) => {
    expect(standingIn(records)).toBe(standing);
  });
});

test.each([
  [{ foundation: "11", ntee: "S412" }, "School"], // Brown University is no chamber of commerce.
  [{ foundation: "11", ntee: "B43" }, "Universities"],
  [{ foundation: "12" }, "Hospital or medical research"],
  [{ foundation: "15", ntee: "A65" }, "Theater"],
  [{}, null],
])("%p is in the category %s", (facts, category) => {
  expect(categoryIn([record(), record({ facts })])).toBe(category);
});
