import type { Outcome } from "./prove.ts";
import { type KeptPromise, promises } from "./table.ts";

const heading = ["promise", "asked", "measured", "verdict", "when and where"];
const firstRow = /^\| *promise *\|/;
const notRun = "not run yet";

/** The page with the rows of these outcomes renewed; other rows keep what they said. */
export function renewPage(
  page: string,
  outcomes: readonly Outcome[],
  whenAndWhere: string,
): string {
  const lines = page.split("\n");
  const from = lines.findIndex((line) => firstRow.test(line));
  if (from === -1) throw new Error("docs/reliability.md has no table that begins with | promise |");
  const length = lines.slice(from).findIndex((line) => !line.startsWith("|"));
  const kept = new Map(lines.slice(from + 2, from + length).map((line) => [numberOf(line), line]));
  const rows = promises.map((promise) => {
    const outcome = outcomes.find(({ number }) => number === promise.number);
    if (outcome !== undefined) return rowOf(promise, outcome, whenAndWhere);
    return kept.get(promise.number) ?? rowOf(promise, null, "");
  });
  const table = [line(heading), line(heading.map(() => "---")), ...rows];
  return [...lines.slice(0, from), ...table, ...lines.slice(from + length)].join("\n");
}

const numberOf = (row: string): number => Number(/^\| *(\d+)\./.exec(row)?.[1]);
const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

function rowOf(
  { number, claim, asked }: KeptPromise,
  outcome: Outcome | null,
  whenAndWhere: string,
): string {
  const { measured, verdict } = outcome ?? { measured: "", verdict: notRun };
  return line([`${number}. ${claim}`, asked, measured, verdict, whenAndWhere]);
}
