import { csvLine } from "#content/contract/base/csv.ts";
import type { Charts } from "#content/contract/stats.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { Drawing } from "./draw.ts";

type Cell = string | number;
/** `field` is the name in JSON and CSV, `name` the one for people. */
type Column = { field: string; name: string; kind: "text" | "month" | "number" | "percent" };

/** A chart: a sentence about the numbers, the numbers, and their drawing; null for none. */
export type Chart = {
  id: ChartId;
  title: string;
  about: string;
  columns: readonly Column[];
  rows: Cell[][];
  drawing: Drawing | null;
};
export type ChartId = Exclude<keyof Charts, "as_of">;

/** The columns of each chart's table, in the order of the page. */
const tables: Readonly<Record<ChartId, readonly string[]>> = {
  countries: ["country_code", "country", "nonprofits"],
  completeness: ["field", "nonprofits", "percent"],
  growth: ["month", "added", "nonprofits"],
  sources: ["source", "values", "percent"],
  decisions: ["month", "applied", "rejected"],
  gifts: ["month", "gifts", "usdc"],
};
/** The kind of a column; all others are numbers. */
const kinds: Readonly<Record<string, Column["kind"]>> = {
  month: "month",
  percent: "percent",
  country_code: "text",
  country: "text",
  field: "text",
  source: "text",
};

/** The words for a text cell. */
const wordsFor = (t: Texts, field: string, value: string): string => {
  if (field === "country") return t.country(value) ?? value;
  return field === "source" || field === "field"
    ? capital(t.named(`chart.${field}`, value))
    : value;
};

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
/** Two decimals, but never 0 for a positive value. */
const hundredths = (t: Texts, value: number): string =>
  value > 0 && value < 0.01
    ? t.text("chart.less", { than: hundredths(t, 0.01) })
    : value.toLocaleString(t.language, { maximumFractionDigits: 2 });
const percentOf = (t: Texts, value: number): string =>
  t.text("chart.percent", { share: hundredths(t, value) });

/** A cell in words for people. */
export function shownCell({ field, kind }: Column, value: Cell, t: Texts = english): string {
  if (typeof value === "number")
    return kind === "percent" ? percentOf(t, value) : hundredths(t, value);
  return kind === "month" ? t.date(value) : wordsFor(t, field, value);
}

/** A share as "93%": 100% only for all, 0% only for none. */
export function shareOf(t: Texts, part: number, whole: number): string {
  const rounded = Math.round((part / whole) * 100);
  const isPart = part > 0 && part < whole;
  return percentOf(t, isPart ? Math.min(99, Math.max(1, rounded)) : rounded);
}

const barsMax = 10;
const sumOf = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);

type TitledDrawing = { title: string; drawing: Drawing | null };

/** The sentence and drawing of each chart that has data. */
const drawingOf: Readonly<Record<ChartId, (charts: Charts, t: Texts) => TitledDrawing | null>> = {
  countries: ({ countries: rows }, t) => {
    const [first] = rows;
    if (first === undefined) return null;
    const all = sumOf(rows, ({ nonprofits }) => nonprofits);
    return {
      title: t.text("chart.countries", {
        country: capital(t.countryInSentence(first.country)),
        most: first.nonprofits,
        all,
      }),
      drawing: {
        kind: "bars",
        rows: rows.slice(0, barsMax).map((row) => ({
          name: wordsFor(t, "country", row.country),
          value: row.nonprofits,
          label: t.number(row.nonprofits),
        })),
      },
    };
  },
  completeness: ({ completeness }, t) => {
    const rows = completeness.filter(({ nonprofits }) => nonprofits > 0);
    const most = rows[0];
    const least = rows.at(-1);
    if (most === undefined || least === undefined) return null;
    return {
      title: t.text("chart.completeness", {
        most: percentOf(t, most.percent),
        field: t.named("chart.field", most.field),
        least: percentOf(t, least.percent),
        other: t.named("chart.field", least.field),
      }),
      drawing: {
        kind: "bars",
        full: 100,
        rows: rows.map((row) => percentBar(t, wordsFor(t, "field", row.field), row.percent)),
      },
    };
  },
  growth: ({ growth: rows }, t) => {
    const first = rows[0];
    const last = rows.at(-1);
    // A single month shows no growth.
    if (first === undefined || last === undefined || first === last) return null;
    return {
      title: t.text(first.nonprofits === last.nonprofits ? "chart.growth.same" : "chart.growth", {
        count: first.nonprofits,
        to: last.nonprofits,
        month: t.date(first.month),
      }),
      drawing: {
        kind: "lines",
        at: rows.map((row) => row.month),
        lines: [{ name: t.number(last.nonprofits), values: rows.map((row) => row.nonprofits) }],
        open: true,
      },
    };
  },
  sources: ({ sources: rows }, t) => {
    const all = sumOf(rows, ({ values }) => values);
    const [most] = rows.toSorted((a, b) => b.values - a.values);
    if (most === undefined || all === 0) return null;
    return {
      title: t.text("chart.sources", {
        share: shareOf(t, most.values, all),
        source: t.named("chart.source", most.source),
      }),
      drawing: {
        kind: "bars",
        full: 100,
        rows: rows
          .filter(({ values }) => values > 0)
          .map((row) => percentBar(t, wordsFor(t, "source", row.source), row.percent)),
      },
    };
  },
  decisions: ({ decisions: rows }, t) => {
    const applied = sumOf(rows, (row) => row.applied);
    const all = applied + sumOf(rows, ({ rejected }) => rejected);
    if (all === 0) return null;
    return {
      title:
        applied === 0
          ? t.text("chart.decisions.none_live")
          : t.text("chart.decisions", { share: shareOf(t, applied, all) }),
      drawing: {
        kind: "columns",
        at: rows.map((row) => row.month),
        up: { name: t.text("chart.decisions.live"), values: rows.map((row) => row.applied) },
        down: {
          name: t.text("chart.decisions.rejected"),
          values: rows.map(({ rejected }) => rejected),
        },
        open: true,
      },
    };
  },
  gifts: ({ gifts: rows }, t) => {
    const [first] = rows;
    if (first === undefined) return null;
    const usdc = sumOf(rows, (row) => row.usdc);
    return {
      title: t.text("chart.gifts", {
        usdc: hundredths(t, usdc),
        count: sumOf(rows, ({ gifts }) => gifts),
        month: t.date(first.month),
      }),
      drawing: {
        kind: "columns",
        at: rows.map((row) => row.month),
        up: { name: "USDC", values: rows.map((row) => row.usdc) },
        open: true,
      },
    };
  },
};

const percentBar = (t: Texts, name: string, value: number) => ({
  name,
  value,
  label: percentOf(t, value),
});

export const chartIds = Object.keys(tables) as ChartId[];

function chartOf(id: ChartId, charts: Charts, t: Texts): Chart {
  const columns = tables[id].map((field) => ({
    field,
    kind: kinds[field] ?? "number",
    name: t.named("chart.column", field),
  }));
  const about = t.text(`chart.${id}.about`);
  const titled = drawingOf[id](charts, t);
  const records: readonly Readonly<Record<string, Cell>>[] = charts[id];
  const rows = records.map((record) => columns.map(({ field }) => record[field] ?? ""));
  const { title, drawing } = titled ?? { title: t.text(`chart.${id}.none`), drawing: null };
  return { id, title, about, columns, rows: titled === null ? [] : rows, drawing };
}

/** The charts of the page, from the answer of GET /api/stats. */
export const chartsOf = (charts: Charts, t: Texts = english): Chart[] =>
  chartIds.map((id) => chartOf(id, charts, t));

/** A chart as SVG for both widths, of which the style sheet shows one; "" without data. */
export type DrawnChart = Chart & { narrow: string; wide: string };

/** Loads the library on demand, because that takes a sixth of a second. */
export async function drawCharts<
  Item extends Pick<Chart, "title" | "about" | "drawing"> & { id: string },
>(
  charts: readonly Item[],
  { language }: Pick<Texts, "language"> = english,
): Promise<(Item & { narrow: string; wide: string })[]> {
  const { draw, widths } = await import("./draw.ts");
  return charts.map((chart) => {
    const svg = (width: keyof typeof widths) =>
      chart.drawing === null
        ? ""
        : draw(chart.drawing, { ...chart, language, width: widths[width] });
    return { ...chart, narrow: svg("narrow"), wide: svg("wide") };
  });
}

/** A chart's numbers as CSV (RFC 4180), with the names of the JSON. */
export const csvOf = ({ columns, rows }: Chart): string =>
  [columns.map(({ field }) => field), ...rows].map((row) => csvLine(row)).join("");
