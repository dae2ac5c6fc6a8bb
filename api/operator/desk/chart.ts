import { scaleLinear, scaleUtc } from "d3-scale";
import { line } from "d3-shape";
import { html, type Html } from "./html.ts";

/** Numbers by day, drawn as lines over the same days. At most three, so that each looks different. */
export type Chart = {
  id: string;
  title: string;
  /** "YYYY-MM-DD", the oldest first. */
  days: readonly string[];
  series: readonly { name: string; values: readonly number[] }[];
};

const width = 720;
const height = 220;
const edge = { top: 12, right: 12, bottom: 28, left: 56 };
const seriesMax = 3;

/** A picture for those who see it, and the same numbers as a table for everyone. */
export function chart({ id, title, days, series }: Chart): Html {
  const shown = series.slice(0, seriesMax);
  const sums = shown.map(
    ({ name, values }) => `${name}: ${readable(values.reduce((a, b) => a + b, 0))}`,
  );
  return html`<figure>
    <figcaption id="${id}-title">${title}</figcaption>
    <svg
      class="chart"
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
      role="img"
      aria-labelledby="${id}-title ${id}-sums"
    >
      ${grid(days, shown)}
      ${shown.map(({ values }, at) => html`<path class="series-${at}" d="${pathOf(days, values, scaleOf(shown))}"></path>`)}
    </svg>
    <ul class="legend" id="${id}-sums">
      ${sums.map((text, at) => html`<li class="series-${at}">${text}</li>`)}
    </ul>
    <details>
      <summary>As a table</summary>
      ${table(title, days, shown)}
    </details>
  </figure>`;
}

const instantOf = (day: string): Date => new Date(`${day}T00:00:00Z`);

const timeOf = (days: readonly string[]) =>
  scaleUtc()
    .domain([instantOf(days[0] ?? "1970-01-01"), instantOf(days.at(-1) ?? "1970-01-02")])
    .range([edge.left, width - edge.right]);

const scaleOf = (series: Chart["series"]) =>
  scaleLinear()
    .domain([0, Math.max(1, ...series.flatMap(({ values }) => values))])
    .nice()
    .range([height - edge.bottom, edge.top]);

function pathOf(
  days: readonly string[],
  values: readonly number[],
  y: ReturnType<typeof scaleOf>,
): string {
  const x = timeOf(days);
  const draw = line<number>()
    .x((_, at) => x(instantOf(days[at] ?? "")))
    .y((value) => y(value))
    .digits(1);
  return draw(values) ?? "";
}

const ticksDown = 4;
const ticksAcross = 6;

function grid(days: readonly string[], series: Chart["series"]): Html[] {
  const y = scaleOf(series);
  const x = timeOf(days);
  const dayName = x.tickFormat(ticksAcross, "%d %b");
  return [
    ...y
      .ticks(ticksDown)
      .map(
        (value) =>
          html`<line
              class="grid"
              x1="${edge.left}"
              x2="${width - edge.right}"
              y1="${y(value)}"
              y2="${y(value)}"
            ></line>
            <text x="${edge.left - 8}" y="${y(value) + 4}" text-anchor="end"
              >${readable(value)}</text
            >`,
      ),
    ...x
      .ticks(ticksAcross)
      .map(
        (at) =>
          html`<text x="${x(at)}" y="${height - 8}" text-anchor="middle">${dayName(at)}</text>`,
      ),
  ];
}

const table = (title: string, days: readonly string[], series: Chart["series"]): Html =>
  html`<div class="scroll">
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          ${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${days.map(
          (day, at) =>
            html`<tr>
              <th scope="row">${day}</th>
              ${series.map(({ values }) => html`<td class="number">${readable(values[at] ?? 0)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

const readable = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: 2 });
