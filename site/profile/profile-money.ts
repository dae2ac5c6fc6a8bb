import { safeLink } from "#content/nonprofit/safe-link.ts";
import type { FinancialPeriod, NonprofitDetail } from "#content/contract/nonprofit.ts";
import { type Html, markup } from "#content/language/html.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { linkHtml } from "./profile-html.ts";

const columns = ["revenue", "expenses", "assets", "net_assets"] as const;

/**
 * The finances of a nonprofit for page and markdown: a sentence on the newest figures, one on its people, a row for each
 * period, and what these do not say. Null when nothing is known.
 */
export function moneyView(record: NonprofitRecord, detail: NonprofitDetail, t: Texts = english) {
  const { finances, register_facts } = detail;
  const newest = finances.find((finance) => columns.some((column) => finance[column] !== null));
  const isPostcard = record.register_records.some(
    ({ register, facts: { form, period_end = "" } }) =>
      register === "irs-990n" &&
      form === "990-N" &&
      String(period_end).slice(0, 7) >= (newest?.period_end ?? "").slice(0, 7),
  );
  if (newest === undefined && !isPostcard) return null;
  const filledColumns = columns.filter((column) =>
    finances.some((finance) => finance[column] !== null),
  );
  const sentences = [newest && figuresOf(newest, t), peopleOf(record, t)].filter(
    (sentence) => sentence !== undefined,
  );
  const pageOf = (id: string) =>
    register_facts.find(({ register }) => register === id)?.record_url ?? null;
  return {
    said: sentences,
    columns: filledColumns.map((column) => t.text(`money.${column}`)),
    rows: finances.map((period) => {
      const notes = (["amended", "prior_year"] as const).filter((note) => period[note] === true);
      const form = [t.named("form", period.form), ...notes.map((note) => t.text(`money.${note}`))];
      const href = safeLink(period.filing_url) ?? safeLink(pageOf(period.source));
      const { currency } = period;
      const amounts = filledColumns.map((column) =>
        period[column] === null ? "" : t.exactly(period[column], currency),
      );
      return { time: timeOf(period, t), form: form.join(", "), href, amounts };
    }),
    /** Whether a register's own section states all of it. */
    isStated:
      !isPostcard &&
      sentences.length === 1 &&
      finances.length === 1 &&
      register_facts.some(
        ({ register, fields }) =>
          register === newest?.source && fields.some(({ currency }) => currency !== undefined),
      ),
    unsaid: t.text(isPostcard ? "money.postcard" : "money.unsaid"),
  };
}

/** "Income of US$ 3.3 million and spending of US$ 3.1 million in the year to December 2023, Form 990." */
function figuresOf(period: FinancialPeriod, t: Texts): string {
  const { currency, revenue, expenses } = period;
  const name = columns.find((column) => period[column] !== null) ?? "revenue";
  const fact = (value: number | null) => t.fact({ name, label: name, value: value ?? 0, currency });
  return t.text(revenue === null || expenses === null ? "money.one" : "money.both", {
    what: t.text(`money.${name}`),
    amount: fact(period[name]),
    spending: fact(expenses),
    period: timeOf(period, t),
    form: t.named("form", period.form),
  });
}

/** "17,420 employees, 265,000 volunteers, as filed for the year to June 2023." */
function peopleOf({ register_records }: NonprofitRecord, t: Texts): string | undefined {
  const [match] = register_records.flatMap(({ facts }) => {
    const people = (["employees", "volunteers"] as const).flatMap((name) => {
      const count = facts[name];
      const period_end = facts[`${name}_to`] ?? facts["period_end"] ?? facts["accounts_to"];
      if (typeof count !== "number" || typeof period_end !== "string") return [];
      return { period_end, said: t.text(`money.${name}`, { count }) };
    });
    const [{ period_end } = { period_end: "" }] = people;
    const same = people
      .filter((person) => person.period_end === period_end)
      .map(({ said }) => said);
    if (same.length === 0) return [];
    const period = timeOf({ period_start: null, period_end }, t);
    return t.text("money.people", { people: same.join(", "), period });
  });
  return match;
}

/** "year to June 2023", "time from 1 July 2023 to 31 December 2023". A year of 52 or 53 weeks counts as a year. */
function timeOf(
  { period_start, period_end }: Pick<FinancialPeriod, "period_start" | "period_end">,
  t: Texts,
): string {
  const days = (Date.parse(period_end) - Date.parse(period_start ?? "")) / 86_400_000;
  return period_start === null || Math.abs(days - 365) < 15
    ? t.text("money.year", { date: t.date(period_end.slice(0, 7)) })
    : t.text("money.span", { from: t.date(period_start), to: t.date(period_end) });
}

/** The section of a profile; null when there is nothing to show. */
export function moneyHtml(record: NonprofitRecord, detail: NonprofitDetail, t: Texts): Html | null {
  const view = moneyView(record, detail, t);
  if (view === null || view.isStated) return null;
  const paragraphs = view.said.map((sentence) => markup`<p>${sentence}</p>`);
  const heads = view.columns.map((name) => markup`<th scope="col" class="number">${name}</th>`);
  const rows = view.rows.map(({ time, form, href, amounts }) => {
    const cells = amounts.map((amount) => markup`<td class="number">${amount}</td>`);
    return markup`<tr><th scope="row">${time}</th><td>${href === null ? form : linkHtml(href, form)}</td>${cells}</tr>`;
  });
  const title = t.text("money.title");
  const table = markup`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr><th scope="col">${t.text("money.time")}</th><th scope="col">${t.text("money.form")}</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
  return markup`<section class="money" data-field="finances"><h2>${title}</h2>${paragraphs}${moneyChart(detail.finances, t)}${rows.length > 0 && table}<p class="note">${view.unsaid}</p></section>`;
}

const yearsMax = 12;
/** The top of the tallest bar, in pixels. */
const top = 48;
/** The height of the bars together, in pixels. */
const height = 180;

/**
 * Income and spending of the newest years, in the newest one's currency, as an SVG element; null for fewer than two years.
 * Bars grow with the page, letters keep their size. Drawn by hand: Plot takes 2 ms per drawing and needs one per width.
 */
export function moneyChart(periods: readonly FinancialPeriod[], t: Texts): Html | null {
  const { currency = "" } = periods[0] ?? {};
  const chartPeriods = periods.filter(
    (period) => period.currency === currency && (period.revenue ?? period.expenses) !== null,
  );
  const yearOf = ({ period_end }: FinancialPeriod) => Number(period_end.slice(0, 4));
  const byYear = Map.groupBy(chartPeriods, yearOf);
  const last = Math.max(...byYear.keys());
  const first = Math.min(...[...byYear.keys()].filter((year) => year > last - yearsMax));
  // A year without data keeps its place.
  const years = Array.from({ length: last - first + 1 || 0 }, (_, at) => first + at);
  const pairOf = (year: number) =>
    byYear
      .get(year)
      ?.slice(0, 1)
      .flatMap((period) => [period.revenue ?? 0, period.expenses ?? 0]) ?? [];
  const values = years.flatMap(pairOf);
  const least = Math.min(0, ...values);
  const most = Math.max(0, ...values);
  if (years.length < 2 || least === most) return null;
  const y = (value: number) => Math.round(top + ((most - value) / (most - least)) * height);
  const width = 100 / Math.max(5, years.length);
  const every = Math.ceil(years.length / 7);
  const bars = years.map((year, at) => {
    const drawn = pairOf(year).map((value, side) => {
      const from = y(Math.max(0, value));
      const to = y(Math.min(0, value));
      return markup`<rect x="${((at + 0.1 + side * 0.4) * width).toFixed(2)}%" y="${from}" width="${(width * 0.38).toFixed(2)}%" height="${to - from}" fill="var(--${side === 0 ? "one" : "two"})"/>`;
    });
    const isNamed = (years.length - 1 - at) % every === 0;
    const name = markup`<text x="${((at + 0.5) * width).toFixed(2)}%" y="${top + height + 20}" text-anchor="middle">${year}</text>`;
    return [drawn, isNamed && name];
  });
  const lines = [...new Set([most, 0, least])].map(
    (value) => markup`<line x2="100%" y1="${y(value)}" y2="${y(value)}" stroke="var(--line)"/>`,
  );
  const scale = t.fact({ name: "", label: "", value: most, currency });
  return markup`<svg class="bars" role="img" aria-labelledby="money-title money-about" width="100%" height="${top + height + 28}" font-size="14" fill="var(--quiet)"><title id="money-title">${t.text("money.chart")}</title><desc id="money-about">${t.text("money.chart_about")}</desc><text y="14" font-weight="600"><tspan fill="var(--one)">${t.text("money.revenue")}</tspan><tspan dx="10" fill="var(--two)">${t.text("money.expenses")}</tspan></text><text y="${top - 5}">${scale}</text>${lines}${bars}</svg>`;
}
