import type { FinancialPeriod } from "#content/contract/nonprofit.ts";
import type { Texts } from "#content/language/texts.ts";

const yearsMax = 12;
/** In pixels: where the tallest bar may begin, and how tall it is. */
const [top, height] = [48, 180];

/**
 * Income and spending of the newest years in the currency of the newest one, as an SVG element; "" for fewer than two. It has no
 * fixed width: bars grow with the page, letters keep their size. By hand: Plot takes 2 ms a drawing, and one for each width.
 */
export function moneyChart(periods: readonly FinancialPeriod[], t: Texts): string {
  const { currency = "" } = periods[0] ?? {};
  const chartPeriods = periods.filter(
    (period) => period.currency === currency && (period.revenue ?? period.expenses) !== null,
  );
  const yearOf = ({ period_end }: FinancialPeriod) => Number(period_end.slice(0, 4));
  const byYear = Map.groupBy(chartPeriods, yearOf);
  const last = Math.max(...byYear.keys());
  const first = Math.min(...[...byYear.keys()].filter((year) => year > last - yearsMax));
  // A year of which nothing is known keeps its place.
  const years = Array.from({ length: last - first + 1 || 0 }, (_, at) => first + at);
  const pairOf = (year: number) =>
    byYear
      .get(year)
      ?.slice(0, 1)
      .flatMap((one) => [one.revenue ?? 0, one.expenses ?? 0]) ?? [];
  const values = years.flatMap(pairOf);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (years.length < 2 || least === most) return "";
  const y = (value: number) => Math.round(top + ((most - value) / (most - least)) * height);
  const width = 100 / Math.max(5, years.length);
  const every = Math.ceil(years.length / 7);
  const bars = years.map((year, at) => {
    const drawn = pairOf(year).map((value, side) => {
      const [from, to] = [y(Math.max(0, value)), y(Math.min(0, value))];
      return `<rect x="${((at + 0.1 + side * 0.4) * width).toFixed(2)}%" y="${from}" width="${(width * 0.38).toFixed(2)}%" height="${to - from}" fill="var(--${side === 0 ? "one" : "two"})"/>`;
    });
    const isNamed = (years.length - 1 - at) % every === 0;
    const name = `<text x="${((at + 0.5) * width).toFixed(2)}%" y="${top + height + 20}" text-anchor="middle">${year}</text>`;
    return drawn.join("") + (isNamed ? name : "");
  });
  const lines = [...new Set([most, 0, least])].map(
    (value) => `<line x2="100%" y1="${y(value)}" y2="${y(value)}" stroke="var(--line)"/>`,
  );
  const scale = Bun.escapeHTML(t.fact({ name: "", label: "", value: most, currency }));
  return `<svg class="bars" role="img" aria-labelledby="money-title money-about" width="100%" height="${top + height + 28}" font-size="14" fill="var(--quiet)"><title id="money-title">${t.html("money.chart")}</title><desc id="money-about">${t.html("money.chart_about")}</desc><text y="14" font-weight="600"><tspan fill="var(--one)">${t.html("money.revenue")}</tspan><tspan dx="10" fill="var(--two)">${t.html("money.expenses")}</tspan></text><text y="${top - 5}">${scale}</text>${lines.join("")}${bars.join("")}</svg>`;
}
