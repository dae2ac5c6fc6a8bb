import { describe, expect, test } from "bun:test";
import type { Charts } from "#content/contract/stats.ts";
import { chartsOf, csvOf, drawCharts, shareOf, shownCell } from "#content/statistics/charts.ts";
import { languages } from "#content/language/languages.ts";
import { english } from "#content/language/texts.ts";
import { spread, tickName } from "#content/statistics/draw.ts";
import { fromFirst, growthOf, monthsTo, percent } from "#content/statistics/charts-store.ts";

const some: Charts = {
  as_of: "2026-03-09",
  countries: [
    { country_code: "GB", country: "United Kingdom", nonprofits: 1_200 },
    { country_code: "KR", country: 'Korea, "South"', nonprofits: 5 },
  ],
  completeness: [
    { field: "city", nonprofits: 1_205, percent: 100 },
    { field: "usdc_wallet", nonprofits: 12, percent: 1 },
  ],
  growth: [
    { month: "2026-02", added: 5, nonprofits: 5 },
    { month: "2026-03", added: 1_200, nonprofits: 1_205 },
  ],
  sources: [
    { source: "register", values: 66, percent: 66 },
    { source: "derived", values: 0, percent: 0 },
    { source: "consensus", values: 34, percent: 34 },
  ],
  decisions: [
    { month: "2026-02", applied: 7, rejected: 3 },
    { month: "2026-03", applied: 2, rejected: 0 },
  ],
  gifts: [
    { month: "2026-02", gifts: 2, usdc: 1_200.5 },
    { month: "2026-03", gifts: 0, usdc: 0 },
  ],
};
const none: Charts = {
  as_of: "2026-03-09",
  countries: [],
  completeness: [],
  growth: [],
  sources: [],
  decisions: [],
  gifts: [],
};

const inMarch = <Row>(row: Row) => ({ month: "2026-03", ...row });

describe("a chart", () => {
  test("says in its title what its numbers say", () => {
    expect(chartsOf(some).map(({ title }) => title)).toEqual([
      "The United Kingdom has the most profiles: 1,200 of 1,205 with a country",
      "100% of profiles have a city, 1% a wallet for gifts",
      "Of today’s 1,205 profiles, 5 came by the end of February 2026",
      "66% of values come from registers",
      "75% of decided submissions of agents went live",
      "Donors gave 1,200.5 USDC in 2 gifts since February 2026",
    ]);
  });

  const rejections = [inMarch({ applied: 0, rejected: 7 })];
  const gifts = [inMarch({ gifts: 1, usdc: 0.001 })];
  const growth = [1, 2].map(() => inMarch({ added: 0, nonprofits: 9 }));
  const countries = [{ country_code: "KM", country: "Comoros", nonprofits: 1 }];
  test.each<[Partial<Charts>, string]>([
    [{ decisions: rejections }, "No decided submission of an agent went live"],
    [{ gifts }, "Donors gave less than 0.01 USDC in 1 gift since March 2026"],
    [{ growth }, "All of today’s 9 profiles came by the end of March 2026"],
    [{ countries }, "The Comoros has the most profiles: 1 of 1 with a country"],
  ])("of %j says %s", (only, title) => {
    const shown = chartsOf({ ...none, ...only }).filter(({ drawing }) => drawing !== null);
    expect(shown.map((one) => one.title)).toEqual([title]);
    for (const t of languages.values()) {
      for (const { title: translated } of chartsOf({ ...none, ...only }, t))
        expect(translated).not.toMatch(/\b0 /);
    }
  });

  test("of percents fills its width at a hundred of them", async () => {
    const half = [{ field: "city", nonprofits: 1, percent: 50 }];
    const [, chart] = await drawCharts(chartsOf({ ...none, completeness: half }));
    for (const svg of [chart?.narrow ?? "", chart?.wide ?? ""]) {
      const [, bar] = /<rect [^>]*width="([\d.]+)"/.exec(svg) ?? [];
      expect(Number(bar)).toBeGreaterThan(100);
      expect(Number(bar)).toBeLessThanOrEqual(svg === chart?.wide ? 250 : 160);
    }
  });

  test("says it in every language, with its own numbers and months", async () => {
    const es = languages.get("es") ?? english;
    const shown = await drawCharts(chartsOf(some, es), es);
    const titles = shown.map(({ title }) => title);
    expect(titles[0]).toStartWith("Reino Unido, el país con más fichas: 1");
    expect(titles[3]).toBe("El 66\u00A0% de los datos procede de registros");
    expect(shown[5]?.wide).toContain(">feb</text>");
  });

  test("without data is a sentence, and draws nothing", async () => {
    for (const { title, drawing, narrow, wide } of await drawCharts(chartsOf(none))) {
      expect(title).toMatch(/^(No|There are no) /);
      expect([drawing, narrow, wide]).toEqual([null, "", ""]);
    }
  });

  test("of a directory five minutes old has no growth, and no row of zeros", () => {
    const zero = { field: "mission", nonprofits: 0, percent: 0 };
    const [, completeness, open, sources] = chartsOf({
      ...none,
      sources: some.sources,
      completeness: [...some.completeness, zero],
      growth: [inMarch({ added: 9, nonprofits: 9 })],
    });
    expect(open?.drawing).toBe(null);
    const names = (chart: typeof open) =>
      chart?.drawing?.kind === "bars" ? chart.drawing.rows.map(({ name }) => name) : [];
    expect(names(completeness)).toEqual(["A city", "A wallet for gifts"]);
    expect(completeness?.title).toEndWith("1% a wallet for gifts");
    expect(names(sources)).toEqual(["Registers", "Agents that agree"]);
  });

  test("has names for people in its table, and those of the JSON in its file", () => {
    const charts = chartsOf(some);
    const shown = charts.map(({ columns, rows }) =>
      columns.map((column, at) => shownCell(column, rows[0]?.[at] ?? "")),
    );
    expect(shown.slice(1, 4)).toEqual([
      ["A city", "1,205", "100%"],
      ["February 2026", "5", "5"],
      ["Registers", "66", "66%"],
    ]);
    expect(charts.slice(0, 1).map((chart) => csvOf(chart))).toEqual([
      'country_code,country,nonprofits\r\nGB,United Kingdom,1200\r\nKR,"Korea, ""South""",5\r\n',
    ]);
  });

  test("is drawn with names, without style or script, and an open month is dashed", async () => {
    for (const { id, title, narrow, wide } of await drawCharts(chartsOf(some))) {
      for (const svg of [narrow, wide]) {
        expect(svg).toContain(`<title id="${id}-title-`);
        expect(svg).toContain(title);
        expect(svg).toContain('role="img"');
        expect(svg).not.toMatch(/style|script|NaN|undefined|http:\/\/(?!www\.w3)/);
        if (["growth", "decisions"].includes(id)) expect(svg).toContain('stroke-dasharray="3 4"');
      }
      expect(wide).toContain('width="560"');
      expect(narrow).toContain('width="320"');
    }
  });

  test("of several lines names each beside its end", async () => {
    const at = ["2026-03-08", "2026-03-09"];
    const lines = ["one", "two"].map((name, add) => ({ name, values: [0, 5 + add] }));
    const drawing = { kind: "lines", at, lines, open: false } as const;
    const chart = { id: "x", title: "X", about: "One and two", drawing };
    const [{ narrow, wide } = { narrow: "", wide: "" }] = await drawCharts([chart]);
    for (const svg of [narrow, wide]) {
      expect(svg).toContain(">one</text>");
      expect(svg).toContain(">9 Mar</text>");
    }
  });
});

test.each([
  [1, 1, "100%"],
  [999, 1_000, "99%"],
  [2, 3, "67%"],
  [1, 1_000, "1%"],
  [0, 5, "0%"],
])("%d of %d is said as %s", (part, whole, words) => {
  expect(shareOf(english, part, whole)).toBe(words);
});

test("labels are moved apart, in the order of their lines", () => {
  expect(spread([50, 45, 100])).toEqual([65, 45, 100]);
  expect(spread([5, 100, 100], 100)).toEqual([5, 80, 100]);
});

test("months end with that of the day, and start where there is something", () => {
  const months = monthsTo("2026-03-09");
  expect([months.length, months[0], months.at(-1)]).toEqual([24, "2024-04", "2026-03"]);
  const growth = growthOf(new Map(Object.entries({ "2020-01": 3, "2026-03": 4 })), months);
  expect(growth.at(-1)).toEqual({ month: "2026-03", added: 4, nonprofits: 7 });
  expect(fromFirst(growth, ({ added }) => added > 0)).toMatchObject([{ month: "2026-03" }]);
  expect(fromFirst(growth, () => false)).toEqual([]);
  expect(["2026-01", "2026-11"].map((month) => tickName(month, "en"))).toEqual(["2026", "Nov"]);
  expect([percent(1, 3), percent(0, 0)]).toEqual([33.3, 0]);
});
