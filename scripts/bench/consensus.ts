import { defineCommand } from "citty";
import {
  SimulationParameters,
  type SimulationParameters as Parameters,
} from "#content/contract/consensus-simulation.ts";
import { stopWith } from "../support/config.ts";
import { startProgress } from "../support/progress.ts";
import { runsOf, simulateAll } from "./consensus/measure.ts";
import { publishedParameters } from "./consensus/parameters.ts";
import { formattedJson, outcomeTable } from "./consensus/print.ts";
import { runCommand } from "../support/command.ts";

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
    stopWith("--write stores the published parameters only; change them in parameters.ts.", 2);
  }
}

await runCommand(command);
