import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

/** The content of a chart, in one unit. `full`: the value of a full bar. `open`: its last month or day is not over. */
export type Drawing =
  | { kind: "bars"; rows: { name: string; value: number; label: string }[]; full?: number }
  | { kind: "columns"; at: string[]; up: Line; down?: Line; open: boolean }
  | { kind: "lines"; at: string[]; lines: Line[]; open: boolean };

/** Values over the months (YYYY-MM) or days (YYYY-MM-DD) of a drawing. */
export type Line = { name: string; values: number[] };

/** Widths in pixels: on a phone, and in a column of a wide page. Letters are 14 px in both and never scaled down. */
export const widths = { narrow: 320, wide: 560 } as const;
/** Width of a letter in the widest fallback font. */
const letterPx = 8.7;
const colours = ["var(--one)", "var(--two)", "var(--three)"];
const colourOf = (at: number): string => colours[at] ?? "currentColor";
const gaps = "3 4";

/** `language` determines how numbers, months and days are written. */
type Setting = { language: string; width: (typeof widths)[keyof typeof widths] };
/**
 * A chart as an SVG element in the page's colours, without script or style of its own, so that the strictest policy shows
 * it. `title` and `about` describe it for those who do not see it.
 */
export function draw(
  drawing: Drawing,
  { id, language, width, title, about }: Setting & { id: string; title: string; about: string },
): string {
  const { document } = parseHTML("<html></html>");
  const svg = Plot.plot({
    document,
    width,
    className: "drawn",
    ...plotOf(drawing, { width, language }),
  });
  svg.querySelector("style")?.remove();
  svg.removeAttribute("font-family");
  // A group without a role may not have a label.
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  svg.setAttribute("font-size", "14");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-labelledby", `${id}-title-${width} ${id}-about-${width}`);
  const words = { title, desc: about };
  for (const [tag, text] of Object.entries(words).toReversed()) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    element.id = `${id}-${tag === "desc" ? "about" : tag}-${width}`;
    element.textContent = text;
    svg.prepend(element);
  }
  return svg.outerHTML.replaceAll(/(\.\d\d)\d+/g, "$1");
}

function plotOf(drawing: Drawing, setting: Setting): Plot.PlotOptions {
  if (drawing.kind === "columns") return columns(drawing, setting);
  if (drawing.kind === "lines") return lines(drawing, setting);
  return setting.width === widths.wide ? besideBars(drawing) : aboveBars(drawing);
}

type Of<Kind> = Extract<Drawing, { kind: Kind }>;
const longest = (texts: readonly string[]): number =>
  Math.max(0, ...texts.map((text) => text.length)) * letterPx;

const besideBars = ({ rows, full }: Of<"bars">): Plot.PlotOptions => ({
  height: rows.length * 28 + 8,
  marginLeft: longest(rows.map(({ name }) => name)) + 12,
  marginRight: longest(rows.map(({ label }) => label)) + 12,
  marginTop: 4,
  marginBottom: 4,
  x: { axis: null, domain: [0, full ?? Math.max(1, ...rows.map(({ value }) => value))] },
  y: { domain: rows.map(({ name }) => name), label: null, padding: 0.3 },
  marks: [
    Plot.axisY({ tickSize: 0 }),
    Plot.barX(rows, { x: "value", y: "name", fill: colourOf(0) }),
    Plot.text(rows, { x: "value", y: "name", text: "label", textAnchor: "start", dx: 6 }),
  ],
});

/** Bars below their names, where there is no room beside them. */
const aboveBars = ({ rows, full }: Of<"bars">): Plot.PlotOptions => ({
  height: rows.length * 44 + 8,
  marginLeft: 0,
  marginRight: 0,
  marginTop: 4,
  marginBottom: 4,
  x: { axis: null, domain: [0, full ?? Math.max(1, ...rows.map(({ value }) => value))] },
  y: { axis: null, domain: rows.map(({ name }) => name), padding: 0 },
  marks: [
    Plot.barX(rows, { x: "value", y: "name", fill: colourOf(0), insetTop: 24, insetBottom: 8 }),
    Plot.text(rows, { frameAnchor: "left", y: "name", text: "name", dy: -10 }),
    Plot.text(rows, { frameAnchor: "right", y: "name", text: "label", dy: -10 }),
  ],
});

/** The name of a tick: "Nov", "2026" for January, "23 Nov" for a day. */
export function tickName(at: string, language: string): string {
  const [year = "", month = "", day] = at.split("-");
  if (day === undefined && month === "01") return year;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1)));
  const parts = day === undefined ? {} : ({ day: "numeric" } as const);
  const locale = language === "en" ? "en-AU" : language;
  return date.toLocaleString(locale, { ...parts, month: "short", timeZone: "UTC" });
}

/** Names under some of the months or days: as many as fit, always including the last. */
function axes(at: readonly string[], { width, language }: Setting, values: readonly number[]) {
  const tick = (value: string) => tickName(value, language);
  const whole = (value: number) =>
    Math.abs(value).toLocaleString(language, { maximumFractionDigits: 2 });
  const room = width / (longest(at.map(tick)) + 28);
  const step = Math.max(1, Math.ceil(at.length / room));
  const ticks = at.filter((_, index) => (at.length - 1 - index) % step === 0);
  // Gifts and profiles have no fractions, so there are no ticks between 0 and 1.
  const steps = Math.min(4, Math.max(1, ...values));
  return {
    marginLeft: longest(values.map(whole)) + 14,
    marks: [
      Plot.gridY({ ticks: steps, stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.axisY({
        ticks: steps,
        tickSize: 0,
        label: null,
        tickFormat: whole,
        fill: "var(--quiet)",
      }),
      Plot.axisX({ ticks, tickSize: 0, label: null, tickFormat: tick, fill: "var(--quiet)" }),
    ],
  };
}

function columns({ at, up, down, open }: Of<"columns">, setting: Setting): Plot.PlotOptions {
  const series = [up, ...(down === undefined ? [] : [down])];
  const cells = series.flatMap(({ values }, side) =>
    values.map((value, index) => ({
      at: at[index] ?? "",
      value: side === 0 ? value : -value,
      colour: colourOf(side),
      dashed: open && index === values.length - 1,
    })),
  );
  const frame = axes(at, setting, up.values);
  const [over, under] = series.map(({ values }) => Math.max(0, ...values));
  return {
    height: down === undefined ? 240 : 300,
    marginLeft: frame.marginLeft,
    marginTop: 28,
    marginBottom: down === undefined ? 28 : 50,
    x: { type: "band", domain: at, label: null, padding: 0.25 },
    y: { domain: [-(under ?? 0), Math.max(1, over ?? 0)], nice: true, label: null },
    marks: [
      ...frame.marks,
      Plot.barY(
        cells.filter(({ dashed }) => !dashed),
        { x: "at", y: "value", fill: "colour" },
      ),
      Plot.barY(
        cells.filter(({ dashed, value }) => dashed && value !== 0),
        { x: "at", y: "value", fill: "none", stroke: "colour", strokeDasharray: gaps, inset: 0.5 },
      ),
      Plot.ruleY([0], { stroke: "var(--quiet)" }),
      ...series.map(({ name }, side) =>
        Plot.text([name], {
          frameAnchor: side === 0 ? "top-left" : "bottom-left",
          dy: side === 0 ? -22 : 44,
          fill: colourOf(side),
          fontWeight: 600,
        }),
      ),
    ],
    color: { type: "identity" },
  };
}

const labelGap = 20;

function lines({ at, lines: series, open }: Of<"lines">, setting: Setting): Plot.PlotOptions {
  const values = series.flatMap((line) => line.values);
  const frame = axes(at, setting, values);
  const beside = setting.width === widths.wide;
  const height = 240 + (beside ? 0 : series.length * labelGap);
  const marginTop = beside ? 16 : series.length * labelGap + 12;
  const top = Math.max(1, ...values);
  const last = at.at(-1) ?? "";
  const labels = spread(
    series.map((line) => (1 - (line.values.at(-1) ?? 0) / top) * (height - marginTop - 28)),
    height - marginTop - 40,
  );
  const marks = series.flatMap(({ name, values: daily }, index) => {
    const points = daily.map((value, day) => ({ at: at[day] ?? "", value }));
    const stroke = colourOf(index);
    const end = { x: "at", y: "value" } as const;
    const label = { fill: stroke, fontWeight: 600, text: () => name };
    return [
      Plot.lineY(open ? points.slice(0, -1) : points, { ...end, stroke, strokeWidth: 2.5 }),
      Plot.lineY(open ? points.slice(-2) : [], {
        ...end,
        stroke,
        strokeWidth: 2.5,
        strokeDasharray: gaps,
      }),
      Plot.dot(points.slice(-1), { ...end, fill: stroke, r: 4 }),
      beside
        ? Plot.text([last], {
            ...label,
            x: () => last,
            frameAnchor: "top",
            textAnchor: "start",
            dx: 10,
            dy: labels[index] ?? 0,
          })
        : series.length === 1
          ? Plot.text(points.slice(-1), { ...end, ...label, textAnchor: "end", dx: 4, dy: -16 })
          : Plot.text([last], {
              ...label,
              frameAnchor: "top-left",
              dy: index * labelGap + 4 - marginTop,
            }),
    ];
  });
  return {
    height,
    marginTop,
    marginLeft: frame.marginLeft,
    marginRight: beside ? longest(series.map(({ name }) => name)) + 16 : 16,
    marginBottom: 28,
    x: { type: "point", domain: at, label: null },
    y: { domain: [0, top], label: null },
    marks: [...frame.marks, ...marks],
  };
}

/** Moves label positions (from the top) apart, in their order, until labels fit, with the lowest at most at `limit`. */
export function spread(places: readonly number[], limit = Infinity): number[] {
  const order = places.map((place, at) => ({ place, at })).toSorted((a, b) => a.place - b.place);
  let least = -Infinity;
  for (const label of order) least = label.place = Math.max(label.place, least + labelGap);
  let most = limit + labelGap;
  for (const label of order.toReversed())
    most = label.place = Math.min(label.place, most - labelGap);
  return order.toSorted((a, b) => a.at - b.at).map(({ place }) => place);
}
