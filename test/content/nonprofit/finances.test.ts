import { describe, expect, test } from "bun:test";
import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import { financesOf } from "#content/nonprofit/register-facts.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { filed, redCross } from "#test/support/filed.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const noFigures = {
  revenue: null,
  expenses: null,
  assets: null,
  liabilities: null,
  net_assets: null,
  period_start: null,
  amended: false,
  filing_url: null,
};
const record = (
  register: string,
  facts: Record<string, string | number>,
  finances: StoredPeriod[] = [],
) => ({ register, facts, finances });

describe("what a register says of its latest period", () => {
  const bmf = { filing: "01", tax_period: "2024-02", income: 9, revenue: 7, assets: 5 };
  const accounts = { accounts_to: "2019-03-31", income: 67_013, spending: 65_380 };
  const unnamed = ["2024-02-29", "annual return", "USD", 7, null, 5] as const;
  test.each([
    ["irs-bmf", bmf, ["2024-02-29", "990 or 990-EZ", "USD", 7, null, 5]],
    ["irs-bmf", { ...bmf, revenue: -7 }, ["2024-02-29", "990 or 990-EZ", "USD", -7, null, 5]],
    ["irs-bmf", { ...bmf, filing: "06" }, unnamed],
    ["irs-bmf", { ...bmf, filing: "constructor" }, unnamed],
    // Gross receipts are no revenue.
    ["irs-bmf", { tax_period: "2024-12", income: 9 }, null],
    ["irs-bmf", { revenue: 9 }, null],
    ["ukcat", accounts, ["2019-03-31", "accounts", "GBP", 67_013, 65_380, null]],
    ["ukcat", { accounts_to: "2019-03-31" }, null],
    ["acnc", { income: 5 }, null],
    ["a-register-of-later", { income: 5 }, null],
  ] as const)("%s %j", (register, facts, said) => {
    const [found] = financesOf([record(register, facts)]);
    if (said === null) return expect(found).toBeUndefined();
    const [period_end, form, currency, revenue, expenses, assets] = said;
    const figures = { revenue, expenses, assets };
    const source = { source: register };
    expect(found).toEqual({ ...noFigures, period_end, form, currency, ...figures, ...source });
  });
});

describe("of one period", () => {
  const own = filed("2023-12-31", { revenue: 1 });
  const column = filed("2023-12-31", { revenue: 2, prior_year: true });
  const bmf = record("irs-bmf", { tax_period: "2023-12", revenue: 3 });
  const returns = (...finances: StoredPeriod[]) => record("x", {}, finances);
  const dayBefore = { ...own, period_end: "2023-12-30" };
  test.each([
    ["a return counts before a register", [bmf, returns(own)], [1]],
    [
      "a return counts before the next year's column",
      [record("a", {}, [column]), returns(own)],
      [1],
    ],
    ["a column counts before a register", [bmf, returns(column)], [2]],
    ["a return of a day before the month's end counts, too", [bmf, returns(dayBefore)], [1]],
    ["another currency stands beside it", [bmf, returns({ ...own, currency: "GBP" })], [1, 3]],
    ["two returns both stand", [returns(own, filed("2023-12-15", { revenue: 4 }))], [1, 4]],
  ])("%s", (_, records, revenues) => {
    expect(financesOf(records).map(({ revenue }) => revenue)).toEqual(revenues);
  });
});

test("periods stand newest first, the newest 20 of them, without when the return was made", () => {
  const years = Array.from({ length: 25 }, (_, at) => filed(`${1990 + at}-12-31`));
  const found = financesOf([record("x", {}, years)]);
  expect(found.map(({ period_end }) => period_end.slice(0, 4))).toEqual(
    Array.from({ length: 20 }, (_, at) => String(2014 - at)),
  );
  expect(Object.keys(found[0] ?? {})).not.toContain("filed_at");
});

test("real returns stand beside the newer row of a register, and for a year without one the column of the next", () => {
  const found = financesOf(redCross().register_records).map((one) => [
    one.period_end,
    one.source,
    one.form,
    one.expenses,
    one.prior_year ?? false,
  ]);
  expect(found).toEqual([
    ["2025-06-30", "irs-bmf", "990 or 990-EZ", null, false],
    ["2023-06-30", "irs-990-xml", "990", 2_971_106_889, false],
    ["2022-06-30", "irs-990-xml", "990", 3_048_182_336, false],
    ["2021-06-30", "irs-990-xml", "990", 2_796_025_309, true],
    ["2015-06-30", "irs-990-xml", "990", 2_886_003_368, false],
  ]);
});

test("every source of figures and answers is a register whose licence the profile names", () => {
  const org_id = "GB-NIC-103840";
  const register_records = [
    aRegisterRecord({
      org_id,
      register: "ccni",
      facts: { accounts_to: "2024-03-31" },
      finances: [filed("2024-03-31")],
    }),
    aRegisterRecord({ org_id, register: "ukcat", facts: { accounts_to: "2025-03-31", income: 5 } }),
  ];
  const detail = toDetail(aNonprofit({ register_records }), "https://almoner.example");
  const latest = detail.giver_answers.find(({ question }) => question === "latest_return");
  expect(detail.register_facts.map(({ register }) => register)).toEqual(["ccni"]);
  expect(detail.finances).toMatchObject([{ source: "ccni", period_end: "2024-03-31" }]);
  expect(latest).toMatchObject({ register: "ccni", value: "2024-03-31" });
});
