import type { Fault } from "./draw.ts";
import type { Outcome } from "./hunt.ts";

/** A result file: what was drawn of which commit, and what became of it so far. */
export type Result = {
  commit: string;
  seed: number;
  count: number;
  room: string | null;
  boundS: number;
  /** Test files that fail without a fault, and find none. */
  unusable: string[];
  outcomes: Outcome[];
};

const short = (text: string): string => {
  const words = text.replaceAll(/\s+/g, " ");
  return words.length > 120 ? `${words.slice(0, 119)}…` : words;
};

/** One line of what became of a fault. */
export const outcomeLine = (outcome: Outcome): string =>
  `${outcome.verdict.padEnd(8)} ${placeOf(outcome)} ${outcome.kind}: ${outcome.by ?? `${outcome.tests} test files, ${outcome.left} left out`} (${outcome.seconds} s)`;

/** One line of what a fault would be. */
export const faultLine = (fault: Fault): string =>
  `${placeOf(fault)} ${fault.kind}\n  - ${short(fault.before)}\n  + ${short(fault.now)}`;

const placeOf = ({ file, line }: Fault): string => `${file}:${line}`;

/** The result as a page: counts by room and by kind, then each fault that no test finds. */
export function reportOf({ outcomes, ...result }: Result, earlier: Result | null): string {
  const survivors = outcomes.filter(({ verdict }) => verdict === "survives");
  const cut = survivors.filter(({ left }) => left > 0).length;
  return [
    `# Planted faults\n`,
    `${outcomes.length} of ${result.count} faults with seed ${result.seed} in ${result.commit.slice(0, 8)}: ${countsOf(outcomes)}. At most ${result.boundS} s of tests for each; the bound left tests out for ${cut} of those that survive.\n`,
    ...(result.unusable.length > 0
      ? [`Fail without a fault: ${result.unusable.join(", ")}.\n`]
      : []),
    table("room", outcomes, ({ room }) => room),
    table("kind", outcomes, ({ kind }) => kind),
    ...(earlier === null ? [] : [comparison(outcomes, earlier)]),
    `## Survivors\n`,
    ...survivors.map(
      (fault) =>
        `- \`${placeOf(fault)}\` ${fault.kind}; ${fault.tests} test files, ${fault.left} left out\n\n      - ${short(fault.before)}\n      + ${short(fault.now)}\n`,
    ),
  ].join("\n");
}

const count = (outcomes: readonly Outcome[], verdict: Outcome["verdict"]): number =>
  outcomes.filter((outcome) => outcome.verdict === verdict).length;

const countsOf = (outcomes: readonly Outcome[]): string =>
  `${count(outcomes, "found")} found by tests, ${count(outcomes, "types")} by types, ${count(outcomes, "survives")} survive`;

function table(name: string, outcomes: readonly Outcome[], groupOf: (outcome: Outcome) => string) {
  const rows = [...Map.groupBy(outcomes, groupOf)].map(
    ([group, own]) =>
      `| ${group} | ${own.length} | ${count(own, "found")} | ${count(own, "types")} | ${count(own, "survives")} |`,
  );
  return [
    `| ${name} | faults | tests | types | survive |`,
    "|---|--:|--:|--:|--:|",
    ...rows,
    "",
  ].join("\n");
}

/** Faults that both results hold, and those of them which the later one no longer finds. */
function comparison(outcomes: readonly Outcome[], earlier: Result): string {
  const before = new Map(earlier.outcomes.map((outcome) => [outcome.key, outcome]));
  const both = outcomes.filter(({ key }) => before.has(key));
  const lost = both.filter(
    ({ key, verdict }) => verdict === "survives" && before.get(key)?.verdict !== "survives",
  );
  return [
    `## Against ${earlier.commit.slice(0, 8)}\n`,
    `There: ${countsOf(earlier.outcomes)}. ${both.length} faults are the same; of these ${lost.length} were found and now survive.\n`,
    ...lost.map(
      (fault) => `- \`${placeOf(fault)}\`: found by ${before.get(fault.key)?.by ?? "types"}`,
    ),
    "",
  ].join("\n");
}
