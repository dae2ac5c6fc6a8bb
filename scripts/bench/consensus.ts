import { defineCommand } from "citty";
import {
  type SimulationOutcome,
  SimulationParameters,
  type SimulationParameters as Parameters,
  type Spread,
} from "#content/contract/consensus-simulation.ts";
import { runCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { publishedParameters, runsOf, simulateAll } from "./consensus/simulate.ts";

const storedAt = new URL("../../content/editorial/consensus-simulation.json", import.meta.url);

/** An argument is named as its parameter, with hyphens; `--seeds 20` are the seeds 1 to 20. */
const settable = Object.entries(publishedParameters).map(([name, published]) => ({
  name,
  argument: name.replaceAll("_", "-"),
  published: Array.isArray(published) ? published.length : published,
  meaning: SimulationParameters.shape[name as keyof Parameters].description ?? name,
}));

const command = defineCommand({
  meta: {
    name: "bench consensus",
    description:
      "Honest and malicious agents over a directory with planted truth, decided by the service's own rules and limits: what goes live that is false, what that costs an attacker, how long the truth takes. The same numbers give the same result. docs/consensus.md explains it.",
  },
  args: {
    json: { type: "boolean", description: "Answer as JSON on standard output" },
    write: {
      type: "boolean",
      description:
        "Store the result for the methodology page; needs --date, and no other parameters",
    },
    date: { type: "string", description: "The day to be stored with it, YYYY-MM-DD" },
    ...Object.fromEntries(
      settable.map(({ argument, meaning, published }) => [
        argument,
        { type: "string" as const, default: String(published), description: meaning },
      ]),
    ),
  },
  run: async ({ args }) => {
    const parameters = parametersFrom(args);
    const isPublished = Bun.deepEquals(parameters, publishedParameters);
    if (args.write === true) checkWrite(args.date, isPublished);
    const progress = startProgress("Simulated directories", runsOf(parameters));
    const outcomes = simulateAll(parameters, (done) => progress.at(done));
    progress.end();
    if (args.json === true) console.log(JSON.stringify({ parameters, outcomes }));
    else console.log(outcomeTable(outcomes));
    if (args.write !== true) return;
    await Bun.write(storedAt, formattedJson({ computed_on: args.date, parameters, outcomes }));
    console.error("Stored in content/editorial/consensus-simulation.json.");
  },
});

function parametersFrom(args: Record<string, unknown>): Parameters {
  const given = Object.fromEntries(
    settable.map(({ name, argument }) => [name, Number(args[argument])]),
  );
  const seeds = Array.from({ length: Math.min(1_000, given["seeds"] ?? 0) }, (_, at) => at + 1);
  const read = SimulationParameters.safeParse({ ...given, seeds });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? "").replaceAll("_", "-");
  return stopWith(`--${name}: ${issue?.message ?? "not usable"}`, 2);
}

function checkWrite(date: unknown, isPublished: boolean): void {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(String(date))) {
    stopWith("--write needs --date YYYY-MM-DD: the day that the page shows.", 2);
  }
  if (!isPublished) {
    stopWith(
      "--write stores the published parameters only; change them in scripts/bench/consensus/simulate.ts.",
      2,
    );
  }
}

type Column = { head: string; of: (one: SimulationOutcome) => string };

const range = ({ mean, least, most }: Spread, places = 0): string =>
  `${mean.toFixed(places)} (${least.toFixed(places)}-${most.toFixed(places)})`;

const orDash = (value: number | null): string => (value === null ? "-" : String(value));

const columns: readonly Column[] = [
  { head: "attack", of: ({ attack }) => attack },
  { head: "mode", of: ({ mode }) => mode },
  { head: "went live", of: ({ promotions }) => promotions.mean.toFixed(0) },
  { head: "false", of: ({ false_promotions }) => range(false_promotions) },
  { head: "false %", of: ({ false_percent }) => range(false_percent, 1) },
  { head: "by attack", of: ({ false_by_attack }) => range(false_by_attack) },
  { head: "sent", of: ({ attack_submissions }) => attack_submissions.mean.toFixed(0) },
  { head: "sent/false", of: ({ submissions_per_false }) => orDash(submissions_per_false) },
  { head: "ids", of: ({ ids }) => String(ids) },
  { head: "networks", of: ({ networks }) => String(networks) },
  { head: "days", of: ({ attack_hours }) => (attack_hours.mean / 24).toFixed(3) },
  { head: "429", of: ({ attack_refused }) => attack_refused.mean.toFixed(0) },
  {
    head: "reverted: false left",
    of: ({ false_after_revert }) => false_after_revert.mean.toFixed(0),
  },
  { head: "true lost", of: ({ true_lost_by_revert }) => true_lost_by_revert.mean.toFixed(0) },
  { head: "true: median h", of: ({ true_hours_median }) => range(true_hours_median) },
  { head: "p90 h", of: ({ true_hours_p90 }) => range(true_hours_p90) },
  {
    head: "completed %",
    of: ({ profiles_completed_percent }) => range(profiles_completed_percent, 0),
  },
];

/** A table of all outcomes: means, in brackets the least and the most of the seeds. */
export function outcomeTable(outcomes: readonly SimulationOutcome[]): string {
  const rows = [
    columns.map(({ head }) => head),
    ...outcomes.map((one) => columns.map(({ of }) => of(one))),
  ];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
  return rows.map((row) => line(row).join("  ").trimEnd()).join("\n");
}

/** JSON as the formatter leaves it: what has no parts of its own stands on one line. */
export const formattedJson = (value: unknown): string =>
  `${JSON.stringify(value, null, 2)
    .replaceAll(/\{\s+([^{}[\]]{1,80}?)\s+\}/g, (_, inner: string) => `{ ${oneLine(inner)} }`)
    .replaceAll(/\[\s+([\d,\s]+?)\s+\]/g, (_, inner: string) => `[${oneLine(inner)}]`)}\n`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

await runCommand(command);
