import { describe, expect, test } from "bun:test";
import { load } from "cheerio";
import es from "#content/editorial/texts/es.json";
import fr from "#content/editorial/texts/fr.json";
import type { StoredPeriod } from "#content/contract/nonprofit.ts";
import { english, openTexts, type Texts } from "#content/language/texts.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { moneyChart, moneyHtml } from "#site/profile/profile-money.ts";
import { originOf } from "#site/profile/profile-facts.ts";
import { markdownOf } from "#site/profile/profile-markdown.ts";
import { profileView } from "#site/profile/profile-view.ts";
import { filed, redCross } from "#test/support/filed.ts";
import { textsAt } from "#test/support/page-table.ts";
import { aNonprofit, aRegisterRecord } from "#test/support/records.ts";

const baseUrl = "https://almoner.example";
const detailOf = (record: NonprofitRecord) => toDetail(record, baseUrl);
function markdownFor(record: NonprofitRecord): string {
  const detail = detailOf(record);
  const build = { baseUrl, network: "local" as const };
  return markdownOf(record, detail, profileView(record, detail, build), build);
}
const sectionOf = (record: NonprofitRecord, t: Texts = english) => {
  const $ = load(String(moneyHtml(record, detailOf(record), t) ?? ""));
  const rows = $("tr").toArray();
  return {
    $,
    said: textsAt($, ".money > p"),
    rows: rows.map((tr) =>
      $(tr)
        .children()
        .get()
        .map((cell) => $(cell).text()),
    ),
  };
};
const recordOf = (
  register: string,
  facts: RegisterRecord["facts"],
  finances: StoredPeriod[] = [],
) => aRegisterRecord({ register, state: "filed", facts, finances });
const withPeriods = (...finances: StoredPeriod[]) =>
  aNonprofit({ register_records: [recordOf("irs-990-xml", {}, finances)] });

const unsaid = "What comes in and goes out in a year does not tell how well money is used.";

test("a real organisation's money stands in sentences, a chart and a table with links to the filings", () => {
  const { $, said, rows } = sectionOf(redCross());
  expect(said).toEqual([
    "Income of US$ 3.9 billion in the year to June 2025, Form 990 or 990-EZ.",
    "17,420 employees, 265,000 volunteers, as filed for the year to June 2023.",
    unsaid,
  ]);
  expect(rows).toEqual([
    ["Period", "From", "Income", "Spending", "Assets", "Net assets"],
    ["year to June 2025", "Form 990 or 990-EZ", "US$ 3,916,983,933", "", "US$ 5,052,941,623", ""],
    [
      "year to June 2023",
      "Form 990",
      "US$ 3,217,077,611",
      "US$ 2,971,106,889",
      "US$ 4,028,321,133",
      "US$ 3,019,994,931",
    ],
    [
      "year to June 2022",
      "Form 990",
      "US$ 3,182,229,338",
      "US$ 3,048,182,336",
      "US$ 3,872,181,875",
      "US$ 2,700,290,098",
    ],
    [
      "year to June 2021",
      "Form 990, of the next year",
      "US$ 3,090,183,560",
      "US$ 2,796,025,309",
      "US$ 3,668,499,985",
      "US$ 2,368,387,311",
    ],
    [
      "year to June 2015",
      "Form 990",
      "US$ 2,726,672,619",
      "US$ 2,886,003,368",
      "US$ 3,486,142,571",
      "US$ 1,593,810,329",
    ],
  ]);
  const xml = "https://apps.irs.gov/pub/epostcard/990/xml";
  expect(textsAt($, "td a@href")).toEqual([
    "https://apps.irs.gov/app/eos/detailsPage?ein=530196605",
    ...["202420679349300232", "202300629349300520", "202300629349300520"].map(
      (id) => `${xml}/${id}_public.xml`,
    ),
  ]);
  expect($("svg[role=img]").attr("aria-labelledby")).toBe("money-title money-about");
  expect($("#money-title").text()).toBe("Income and spending by year");
});

test.each([
  ["irs-990-xml", { period_end: "2023-06-30" }, /^1,200 employees, 7 volunteers, .* June 2023\.$/],
  ["ccni", { accounts_to: "2023-03-31" }, /^1,200 employees, 7 volunteers, .* March 2023\.$/],
  [
    "ccew",
    { employees_to: "2022-12-31", volunteers_to: "2021-12-31" },
    /^1,200 employees, as filed for the year to December 2022\.$/,
  ],
])(
  "people of %s stand in a sentence with the year of which they were filed",
  (register, years, says) => {
    const facts = { employees: 1_200, volunteers: 7, ...years };
    const record = recordOf(register, facts, [filed("2023-12-31", { revenue: 7 })]);
    expect(sectionOf(aNonprofit({ register_records: [record] })).said[1]).toMatch(says);
  },
);

test("each language has its own words and figures", () => {
  const { said, rows } = sectionOf(redCross(), openTexts("es", es));
  expect(said[0]).toBe(
    "Ingresos de 3,9 mil millones de US$ en el ejercicio cerrado en junio de 2025, formulario 990 o 990-EZ.",
  );
  expect(rows[2]?.slice(0, 3)).toEqual([
    "ejercicio cerrado en junio de 2023",
    "formulario 990",
    "3.217.077.611\u00A0US$",
  ]);
});

describe("the newest figures are said as they are", () => {
  test.each([
    [{ revenue: 5, expenses: 7 }, "Income of US$ 5 and spending of US$ 7 in"],
    [{ revenue: -5, expenses: 0 }, "Income of −US$ 5 and spending of US$ 0 in"],
    [{ revenue: 5 }, "Income of US$ 5 in"],
    [{ expenses: 7 }, "Spending of US$ 7 in"],
    [{ revenue: 5, assets: 9 }, "Income of US$ 5 in"],
    [{ assets: 9 }, "Assets of US$ 9 in"],
    [{ net_assets: 9 }, "Net assets of US$ 9 in"],
  ])("%j", (figures, said) => {
    const record = withPeriods(filed("2024-12-31"), filed("2023-12-31", figures));
    expect(sectionOf(record).said).toEqual([
      `${said} the year to December 2023, Form 990.`,
      unsaid,
    ]);
  });

  test.each([
    ["2023-12-30", null, "year to December 2023"],
    ["2023-12-30", "2023-01-01", "year to December 2023"],
    ["2024-02-29", "2023-03-01", "year to February 2024"],
    ["2023-12-31", "2023-07-01", "time from 1 July 2023 to 31 December 2023"],
  ])("a period that ends on %s and begins on %s", (period_end, period_start, words) => {
    const { said, rows } = sectionOf(withPeriods(filed(period_end, { period_start, revenue: 1 })));
    expect(said[0]).toBe(`Income of US$ 1 in the ${words}, Form 990.`);
    expect(rows[1]?.[0]).toBe(words);
  });
});

test("a filing that corrects another one says so, and an address that is none is no link", () => {
  const wrong = { amended: true, revenue: 1, filing_url: "javascript:alert(1)" };
  const { $, rows } = sectionOf(withPeriods(filed("2023-12-31", { ...wrong, form: "<b>" })));
  expect(rows[1]?.[1]).toBe("<b>, amended");
  expect($("a, b").length).toBe(0);
});

describe("a postcard without figures", () => {
  const postcard = "Its newest return is a postcard (Form 990-N), which small organisations file";
  const of = (period_end: string) => recordOf("irs-990n", { form: "990-N", period_end });
  const form990 = recordOf("irs-990-xml", {}, [filed("2022-12-31", { revenue: 1 })]);
  test.each([
    ["alone", [of("2023-12")], true, 1],
    ["newer than a return", [of("2023-12"), form990], true, 2],
    ["older than a return", [of("2021-12"), form990], false, 2],
    ["of another register", [{ ...of("2023-12"), register: "irs-bmf" }, form990], false, 2],
  ])("%s", (_, register_records, isSaid, count) => {
    const { said } = sectionOf(aNonprofit({ register_records }));
    expect(said).toHaveLength(count);
    expect(said.at(-1)?.startsWith(postcard)).toBe(isSaid);
    const markdown = markdownFor(aNonprofit({ register_records }));
    expect(markdown.includes(postcard)).toBe(isSaid);
  });
});

test("of a nonprofit of which nothing is filed there is no section", () => {
  expect(moneyHtml(aNonprofit(), detailOf(aNonprofit()), english)).toBeNull();
});

test("markdown has each period with whole amounts, and one that stands in its register's section not again", () => {
  const [, section = ""] = /\n## Money\n\n(.*?)\n\n/s.exec(markdownFor(redCross())) ?? [];
  const xml = "https://apps.irs.gov/pub/epostcard/990/xml";
  expect(section.split("\n")).toEqual([
    "- year to June 2025, Income US$ 3,916,983,933, Assets US$ 5,052,941,623 (Form 990 or 990-EZ: <https://apps.irs.gov/app/eos/detailsPage?ein=530196605>)",
    `- year to June 2023, Income US$ 3,217,077,611, Spending US$ 2,971,106,889, Assets US$ 4,028,321,133, Net assets US$ 3,019,994,931 (Form 990: <${xml}/202420679349300232_public.xml>)`,
    `- year to June 2022, Income US$ 3,182,229,338, Spending US$ 3,048,182,336, Assets US$ 3,872,181,875, Net assets US$ 2,700,290,098 (Form 990: <${xml}/202300629349300520_public.xml>)`,
    `- year to June 2021, Income US$ 3,090,183,560, Spending US$ 2,796,025,309, Assets US$ 3,668,499,985, Net assets US$ 2,368,387,311 (Form 990, of the next year: <${xml}/202300629349300520_public.xml>)`,
    "- year to June 2015, Income US$ 2,726,672,619, Spending US$ 2,886,003,368, Assets US$ 3,486,142,571, Net assets US$ 1,593,810,329 (Form 990)",
    "- 17,420 employees, 265,000 volunteers, as filed for the year to June 2023.",
    `- ${unsaid}`,
  ]);
  const alone = withPeriods(filed("2023-12-31", { revenue: 7, form: "<b>9_0" }));
  expect(markdownFor(alone)).toContain(
    String.raw`- year to December 2023, Income US$ 7 (\<b\>9\_0)`,
  );
  const [, bmf] = redCross().register_records;
  const thin = redCross({ register_records: bmf === undefined ? [] : [bmf] });
  expect(markdownFor(thin)).toContain("- Revenue: US$ 3,916,983,933");
  expect(markdownFor(thin)).not.toContain("## Money");
});

describe("the chart", () => {
  const chartOf = (...finances: StoredPeriod[]) =>
    load(String(moneyChart(detailOf(withPeriods(...finances)).finances, english) ?? ""));
  const year = (end: number, revenue: number | null, expenses: number | null, currency = "USD") =>
    filed(`${end}-12-31`, { revenue, expenses, currency });
  const barsOf = ($: ReturnType<typeof load>) =>
    $("rect")
      .toArray()
      .map((bar) => $(bar).attr() ?? {});
  const textsOf = ($: ReturnType<typeof load>, anchor: string) =>
    $("text")
      .toArray()
      .filter((one) => ($(one).attr("text-anchor") ?? "start") === anchor)
      .map((one) => $(one).text());

  test.each([
    ["one period", [year(2023, 1, 1)]],
    ["two periods in two currencies", [year(2023, 1, 1), year(2022, 1, 1, "GBP")]],
    ["periods of which only assets are known", [year(2023, null, null), year(2022, null, null)]],
    ["nothing but zeros", [year(2023, 0, 0), year(2022, 0, 0)]],
    ["two periods that are further apart than it is wide", [year(2023, 1, 1), year(2003, 1, 1)]],
    ["nothing", []],
  ])("is not drawn of %s", (_, finances) => {
    expect(chartOf(...finances)("svg").length).toBe(0);
  });

  test("has the periods of one currency, and leaves the place of unknown years empty", () => {
    const $ = chartOf(
      year(2023, 4_000_000, 1_000_000),
      year(2022, 9, 9, "GBP"),
      year(2020, 2_000_000, null),
    );
    expect(textsOf($, "middle")).toEqual(["2020", "2021", "2022", "2023"]);
    expect(textsOf($, "start")).toEqual(["IncomeSpending", "US$ 4 million"]);
    expect(barsOf($).map(({ height }) => height)).toEqual(["90", "0", "180", "45"]);
  });

  test("goes below zero where an income did, and both bars begin at zero", () => {
    const $ = chartOf(year(2023, -500, 1_000), year(2022, 1_300, 500));
    const [, , income, spending] = barsOf($);
    expect([income?.["y"], income?.["height"]]).toEqual(["178", "50"]);
    expect([spending?.["y"], spending?.["height"]]).toEqual(["78", "100"]);
    expect($("line").length).toBe(3);
  });

  test("has at most twelve years, the newest, and names no more than seven", () => {
    const $ = chartOf(...Array.from({ length: 20 }, (_, at) => year(2024 - at, 10, 10)));
    expect(barsOf($)).toHaveLength(24);
    expect(textsOf($, "middle")).toEqual(["2014", "2016", "2018", "2020", "2022", "2024"]);
  });

  test("stays within its place", () => {
    const $ = chartOf(...Array.from({ length: 12 }, (_, at) => year(2024 - at, at * 7, 83 - at)));
    for (const { x = "", width = "", y = "", height = "" } of barsOf($)) {
      expect(Number.parseFloat(x) + Number.parseFloat(width)).toBeLessThan(100);
      expect(Number(y)).toBeGreaterThanOrEqual(48);
      expect(Number(y) + Number(height)).toBeLessThanOrEqual(228);
    }
  });
});

test.each([
  [english, ": Form 990-EZ for the year to 30 September 2017, object 2018"],
  [
    openTexts("es", es),
    ": formulario 990-EZ, ejercicio cerrado el 30 de septiembre de 2017, objeto 2018",
  ],
  [
    openTexts("fr", fr),
    "\u00A0: formulaire 990-EZ, exercice clos le 30 septembre 2017, objet 2018",
  ],
])("a filed value names its form in the language of the page", (t, form) => {
  const rule = "Form 990-EZ for the year to 30 September 2017, object 2018";
  const from = {
    source: "register:irs-990-xml",
    source_url: null,
    rule,
    agents: [],
    applied_at: "",
  };
  expect(originOf(from, t).source).toEndWith(form);
});
