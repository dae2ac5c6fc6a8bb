import { withoutUnsafe } from "#content/nonprofit/text.ts";
import type { ImportReport, SkipReason } from "#content/register/import-store.ts";

const reasons: Record<SkipReason, string> = {
  withheld: "say nothing",
  duplicate: "further rows of one organisation",
  not_joined: "of unknown organisations",
  other_form: "forms of other kinds",
  bad: "malformed",
};

const partsShownMax = 12;

/** A text that may hold a cell of a register, which must not control the terminal or add lines. */
export const forTerminal = (text: string): string => withoutUnsafe(text).replaceAll(/[\n\r]/g, " ");

/** The dates of the data in the files, in words. */
const daysOf = ({ as_of }: ImportReport): string => {
  const days = [...new Set(Object.values(as_of))].toSorted();
  return days.length > 0 ? `, as of ${days.join(" and ")}` : "";
};

/** What an import covers and would withdraw, shown before it is applied; "" if it covers nothing. */
export function coveredInWords(report: ImportReport): string {
  const { covers } = report;
  if (covers.length === 0) return "";
  const listedCount = covers.reduce((sum, cover) => sum + cover.listed, 0);
  const total = covers.reduce((sum, cover) => sum + cover.to_withdraw, 0);
  const names = covers.slice(0, partsShownMax).map(({ part }) => forTerminal(part));
  const more = covers.length - names.length;
  const losses = covers.filter(({ to_withdraw }) => to_withdraw > 0).slice(0, partsShownMax);
  const lossTexts = losses.map(
    ({ part, to_withdraw }) => `${forTerminal(part)} ${to_withdraw.toLocaleString("en")}`,
  );
  const parts = `covers ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}${daysOf(report)}`;
  if (listedCount === 0) return `${parts}; no nonprofits were listed there before`;
  return [
    `${parts}; ${listedCount.toLocaleString("en")} nonprofits were listed there before`,
    total === 0
      ? "each of them has a row, so none is withdrawn"
      : `${total.toLocaleString("en")} of them are in no row and are to be withdrawn (${lossTexts.join(", ")})`,
  ].join("\n");
}

/** The report in words, for a terminal. */
export function reportInWords(report: ImportReport): string {
  const n = (count: number) => count.toLocaleString("en");
  if (report.fetched.length > 0 && report.files.length === 0) {
    return `${report.format}: unchanged where it is published since the last import; nothing was imported`;
  }
  const knownRows = `${n(report.known)} imported before as they are, and not read again`;
  const why = (Object.keys(reasons) as SkipReason[])
    .filter((reason) => report.skipped_because[reason] > 0)
    .map((reason) => `${n(report.skipped_because[reason])} ${reasons[reason]}`);
  const causeCounts = Object.entries(report.causes_by).filter(([, count]) => count > 0);
  return [
    `${report.format}: ${n(report.rows)} rows in ${report.seconds.toFixed(1)} s${daysOf(report)}`,
    `  added      ${n(report.added)}`,
    `  changed    ${n(report.changed)}${report.restored > 0 ? ` (${n(report.restored)} restored)` : ""}`,
    `  unchanged  ${n(report.unchanged)}`,
    `  withdrawn  ${n(report.withdrawn)}${causeCounts.length > 0 && report.skipped_because.bad > 0 && report.withdrawn === 0 ? " (malformed rows may hide nonprofits; --withdraw-many withdraws all the same)" : ""}`,
    `  recorded   ${n(report.recorded)} without a profile`,
    ...(report.linked + report.links_waiting > 0
      ? [
          `  linked     ${n(report.linked)} registrations of one organisation; ${n(report.links_waiting)} wait for an operator`,
        ]
      : []),
    `  skipped    ${n(report.skipped)}${why.length > 0 ? ` (${why.join(", ")})` : ""}`,
    ...(report.known > 0 ? [`  known      ${knownRows}`] : []),
    ...(causeCounts.length > 0
      ? [`  causes by  ${causeCounts.map(([by, count]) => `${by} ${n(count)}`).join(", ")}`]
      : []),
  ].join("\n");
}
