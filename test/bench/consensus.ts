import { join } from "node:path";
import { defineCommand } from "citty";
import {
  type SimulationOutcome,
  SimulationParameters,
  type SimulationParameters as Parameters,
  type Spread,
} from "#content/contract/stats.ts";
import { runCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { publishedParameters, runsOf, simulateAll } from "./consensus/simulate.ts";

const storedAt = join(import.meta.dirname, "../../content/editorial/consensus-simulation.json");

/** An argument is named as its parameter, with hyphens; `--seeds 20` are the seeds 1 to 20. */
const settable = Object.entries(publishedParameters).map(([name, published]) => ({
  name,
  argument: name.replaceAll("_", "-"),
  published: Array.isArray(published) ? published.length : published,
  meaning: SimulationParameters.shape[name as keyof Parameters].description ?? name,
}));

export const command = defineCommand({
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
    else console.log(Bun.inspect.table(outcomes.map(rowOf)));
    if (args.write !== true) return;
    await Bun.write(storedAt, JSON.stringify({ computed_on: args.date, parameters, outcomes }));
    const formatter = join(import.meta.dirname, "../../node_modules/.bin/oxfmt");
    Bun.spawnSync([formatter, storedAt], { stdio: ["ignore", "ignore", "inherit"] });
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
      "--write stores the published parameters only; change them in test/bench/consensus/simulate.ts.",
      2,
    );
  }
}

const range = ({ mean, least, most }: Spread, places = 0): string =>
  `${mean.toFixed(places)} (${least.toFixed(places)}-${most.toFixed(places)})`;

const wholeMean = ({ mean }: Spread): string => mean.toFixed(0);

/** An outcome as a row of the table: means, in brackets the least and the most of the seeds. */
const rowOf = (one: SimulationOutcome) => ({
  attack: one.attack,
  mode: one.mode,
  "went live": wholeMean(one.promotions),
  false: range(one.false_promotions),
  "false %": range(one.false_percent, 1),
  "by attack": range(one.false_by_attack),
  sent: wholeMean(one.attack_submissions),
  "sent/false": one.submissions_per_false ?? "-",
  ids: one.ids,
  networks: one.networks,
  days: (one.attack_hours.mean / 24).toFixed(3),
  refused: wholeMean(one.attack_refused),
  "reverted: false left": wholeMean(one.false_after_revert),
  "true lost": wholeMean(one.true_lost_by_revert),
  "true: median h": range(one.true_hours_median),
  "p90 h": range(one.true_hours_p90),
  "completed %": range(one.profiles_completed_percent),
});

if (import.meta.main) await runCommand(command);
