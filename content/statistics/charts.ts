import type { Charts } from "#content/contract/stats.ts";
import type { Drawing } from "./draw.ts";

type Cell = string | number;
/** `field` is the name in JSON and CSV, `name` that for people. */
type Column = { field: string; name: string; kind: "text" | "month" | "number" | "percent" };

/** A chart: a sentence that says what the numbers say, the numbers, and what is drawn of them; null for nothing. */
export type Chart = {
  id: ChartId;
  title: string;
  about: string;
  columns: readonly Column[];
  rows: Cell[][];
  drawing: Drawing | null;
};
export type ChartId = Exclude<keyof Charts, "as_of">;

const text = (field: string, name: string): Column => ({ field, name, kind: "text" });
const number = (field: string, name: string): Column => ({ field, name, kind: "number" });
const month: Column = { field: "month", name: "Month", kind: "month" };
const share: Column = { field: "percent", name: "Share", kind: "percent" };

/** What each chart counts, and the columns of its table, in the order of the page. */
const tables: Readonly<Record<ChartId, { about: string; columns: readonly Column[] }>> = {
  countries: {
    about: "The ten countries with the most profiles; the numbers have all of them.",
    columns: [
      text("country_code", "Code"),
      text("country", "Country"),
      number("nonprofits", "Profiles"),
    ],
  },
  completeness: {
    about: "Profiles that hold a value, in percent of all.",
    columns: [text("field", "Field"), number("nonprofits", "Profiles"), share],
  },
  growth: {
    about: "Profiles in the directory at the end of each month. This month is not over.",
    columns: [month, number("added", "New"), number("nonprofits", "All")],
  },
  sources: {
    about: "All values of all profiles, by who gave them.",
    columns: [text("source", "From"), number("values", "Values"), share],
  },
  decisions: {
    about: "Submissions of agents by the month in which they were decided. This month is not over.",
    columns: [month, number("applied", "Went live"), number("rejected", "Rejected")],
  },
  gifts: {
    about: "USDC given through this directory in each month. This month is not over.",
    columns: [month, number("gifts", "Gifts"), number("usdc", "USDC")],
  },
};

/** What stands instead of a chart that has nothing to show. */
const empty: Readonly<Record<ChartId, string>> = {
  countries: "No profile names a country yet",
  completeness: "There are no profiles yet",
  growth: "There are no profiles yet",
  sources: "There are no values yet",
  decisions: "No submission of an agent was decided in the last two years",
  gifts: "No gift was recorded in the last two years",
};

/** How values are called in the words of a sentence. */
const fieldNames: Readonly<Record<string, string>> = {
  city: "a city",
  causes: "a cause",
  founded_year: "a founding year",
  annual_budget_usd: "a budget",
  website: "a website",
  mission: "a mission",
  description: "a description",
  beneficiaries_per_year: "people reached",
  team_size: "a team size",
  donation_url: "a donation page",
  usdc_wallet: "a wallet for gifts",
  programs: "programmes",
  impact_metrics: "impact figures",
};
const sourceNames: Readonly<Record<string, string>> = {
  register: "registers",
  derived: "rules over registers",
  organisation: "the organisations",
  consensus: "agents that agree",
  operator: "the operator",
};

/** What a cell of text is called for people. */
const wordsFor = (field: string, value: string): string =>
  capital((field === "source" ? sourceNames : field === "field" ? fieldNames : {})[value] ?? value);

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
const grouped = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });
const monthName = (at: string): string =>
  new Date(`${at}-01T00:00:00Z`).toLocaleString("en", {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });

/** A cell as people read it. */
export function shownCell({ field, kind }: Column, value: Cell): string {
  if (typeof value === "number") return kind === "percent" ? `${value}%` : grouped(value);
  return kind === "month" ? monthName(value) : wordsFor(field, value);
}

/** Parts of a whole in words; the nearest is said. */
const fractions: readonly (readonly [part: number, words: string])[] = [
  [0.01, "Few"],
  [0.1, "One of ten"],
  [0.2, "One of five"],
  [0.25, "One of four"],
  [1 / 3, "One of three"],
  [0.4, "Two of five"],
  [0.5, "Half of all"],
  [0.6, "Three of five"],
  [2 / 3, "Two of three"],
  [0.75, "Three of four"],
  [0.8, "Four of five"],
  [0.9, "Nine of ten"],
  [0.97, "Nearly all"],
  [1, "All"],
];

/** "Two of three". All is said of all alone. */
export function partInWords(part: number, whole: number): string {
  const [, words] = fractions
    .filter(([fraction]) => fraction < 1 || part === whole)
    .reduce((nearest, one) =>
      Math.abs(one[0] - part / whole) < Math.abs(nearest[0] - part / whole) ? one : nearest,
    );
  return words;
}

const isOne = (words: string): boolean => words.startsWith("One");

/** "the United States". */
const inSentence = (country: string): string =>
  /^(United|Netherlands|Philippines|Bahamas|Gambia|Maldives)|(Islands|Republic)\b/.test(country)
    ? `the ${country}`
    : country;

const barsMax = 10;
const sumOf = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);

type Said = { title: string; drawing: Drawing | null };

/** The sentence and the drawing of each chart that has something to show. */
const said: Readonly<Record<ChartId, (charts: Charts) => Said | null>> = {
  countries: ({ countries: rows }) => {
    const [first] = rows;
    if (first === undefined) return null;
    const all = sumOf(rows, ({ nonprofits }) => nonprofits);
    return {
      title: `${capital(inSentence(first.country))} has the most profiles: ${grouped(first.nonprofits)} of ${grouped(all)}`,
      drawing: {
        kind: "bars",
        rows: rows.slice(0, barsMax).map((row) => ({
          name: row.country,
          value: row.nonprofits,
          label: grouped(row.nonprofits),
        })),
      },
    };
  },
  completeness: ({ completeness: rows }) => {
    const [most, least] = [rows[0], rows.at(-1)];
    if (most === undefined || least === undefined || most.nonprofits === 0) return null;
    return {
      title: `${most.percent}% of profiles have ${fieldNames[most.field]}, ${least.percent}% ${fieldNames[least.field]}`,
      drawing: {
        kind: "bars",
        rows: rows.map((row) => percentBar(wordsFor("field", row.field), row.percent)),
      },
    };
  },
  growth: ({ growth: rows }) => {
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return null;
    const since = monthName(first.month);
    return {
      title:
        first.nonprofits === 0
          ? `The directory grew to ${grouped(last.nonprofits)} profiles within ${rows.length} months`
          : `The directory grew from ${grouped(first.nonprofits)} profiles in ${since} to ${grouped(last.nonprofits)}`,
      drawing: {
        kind: "lines",
        at: rows.map((row) => row.month),
        lines: [{ name: grouped(last.nonprofits), values: rows.map((row) => row.nonprofits) }],
        open: true,
      },
    };
  },
  sources: ({ sources: rows }) => {
    const all = sumOf(rows, ({ values }) => values);
    const [most] = rows.toSorted((a, b) => b.values - a.values);
    if (most === undefined || all === 0) return null;
    const words = partInWords(most.values, all);
    return {
      title: `${words} values ${isOne(words) ? "comes" : "come"} from ${sourceNames[most.source]}`,
      drawing: {
        kind: "bars",
        rows: rows
          .filter(({ values }) => values > 0)
          .map((row) => percentBar(wordsFor("source", row.source), row.percent)),
      },
    };
  },
  decisions: ({ decisions: rows }) => {
    const applied = sumOf(rows, (row) => row.applied);
    const all = applied + sumOf(rows, ({ rejected }) => rejected);
    if (all === 0) return null;
    return {
      title: `${partInWords(applied, all)} decided submissions of agents went live`,
      drawing: {
        kind: "columns",
        at: rows.map((row) => row.month),
        up: { name: "Went live", values: rows.map((row) => row.applied) },
        down: { name: "Rejected", values: rows.map(({ rejected }) => rejected) },
        open: true,
      },
    };
  },
  gifts: ({ gifts: rows }) => {
    const [first] = rows;
    if (first === undefined) return null;
    const usdc = sumOf(rows, (row) => row.usdc);
    return {
      title: `Donors gave ${grouped(usdc)} USDC in ${grouped(sumOf(rows, ({ gifts }) => gifts))} gifts since ${monthName(first.month)}`,
      drawing: {
        kind: "columns",
        at: rows.map((row) => row.month),
        up: { name: "USDC", values: rows.map((row) => row.usdc) },
        open: true,
      },
    };
  },
};

const percentBar = (name: string, value: number) => ({ name, value, label: `${value}%` });

export const chartIds = Object.keys(tables) as ChartId[];

function chartOf(id: ChartId, charts: Charts): Chart {
  const { about, columns } = tables[id];
  const found = said[id](charts);
  const records: readonly Readonly<Record<string, Cell>>[] = charts[id];
  const rows = records.map((record) => columns.map(({ field }) => record[field] ?? ""));
  const { title, drawing } = found ?? { title: empty[id], drawing: null };
  return { id, title, about, columns, rows: found === null ? [] : rows, drawing };
}

/** The charts of the page, from what GET /api/stats answers. */
export const chartsOf = (charts: Charts): Chart[] => chartIds.map((id) => chartOf(id, charts));

/** A chart in SVG for both widths, one of which the style sheet shows; "" for one that has nothing to show. */
export type DrawnChart = Chart & { narrow: string; wide: string };

/** Loads the library when it is needed: it takes a process a sixth of a second. */
export async function drawn<
  One extends Pick<Chart, "title" | "about" | "drawing"> & { id: string },
>(charts: readonly One[]): Promise<(One & { narrow: string; wide: string })[]> {
  const { draw, widths } = await import("./draw.ts");
  return charts.map((chart) => {
    const svg = (width: keyof typeof widths) =>
      chart.drawing === null ? "" : draw(chart.drawing, { ...chart, width: widths[width] });
    return { ...chart, narrow: svg("narrow"), wide: svg("wide") };
  });
}

const quotedCell = (value: Cell): string =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** The numbers of a chart as CSV, RFC 4180, with the names of the JSON. */
export const csvOf = ({ columns, rows }: Chart): string =>
  [columns.map(({ field }) => field), ...rows]
    .map((row) => `${row.map(quotedCell).join(",")}\r\n`)
    .join("");
