import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { renewPage } from "./promises/page.ts";
import { type Outcome, prove } from "./promises/prove.ts";
import { promises } from "./promises/table.ts";
import { runCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";

const root = join(import.meta.dirname, "../..");
const page = join(root, "docs/reliability.md");

export const command = defineCommand({
  meta: {
    name: "promises",
    description:
      "Puts each promise of docs/reliability.md to the test, with full counts, and writes its table; ends with 1 when one is broken",
  },
  args: {
    only: { type: "string", description: "Numbers of promises, such as 3 or 1,9,17" },
    quick: { type: "boolean", description: "Small counts, which prove less: writes no table" },
    machine: {
      type: "string",
      default: `${cpus().length} × ${cpus()[0]?.model.trim() ?? "processor"}`,
      description: "What the table says of the machine",
    },
    json: { type: "boolean", description: "One JSON line for each promise" },
  },
  run: async ({ args }) => {
    const quick = args.quick === true;
    const outcomes: Outcome[] = [];
    const asked = chosen(args.only);
    for (const [at, promise] of asked.entries()) {
      console.error(`${at + 1} of ${asked.length}: ${promise.claim} …`);
      const outcome = await prove(promise, { quick, onTrouble: console.error });
      outcomes.push(outcome);
      console.log(args.json === true ? JSON.stringify(outcome) : told(outcome));
      // After each one: what ran is written down, although the run is broken off.
      if (!quick) renew(outcome, args.machine);
    }
    const count = (verdict: string) => outcomes.filter((one) => one.verdict === verdict).length;
    const counts = `${count("kept")} kept, ${count("broken")} broken, ${count("not run")} not run`;
    if (args.json !== true) console.log(counts);
    process.exit(count("broken") === 0 ? 0 : 1);
  },
});

function chosen(only: string | undefined) {
  if (only === undefined) return promises;
  const numbers = only.split(",").map(Number);
  const unknown = numbers.find((number) => !promises.some((one) => one.number === number));
  if (unknown !== undefined) {
    stopWith(`--only: there is no promise ${only}. Give numbers from 1 to ${promises.length}.`, 2);
  }
  return promises.filter(({ number }) => numbers.includes(number));
}

const told = ({ number, claim, asked, measured, verdict, seconds }: Outcome): string =>
  [
    `${number}. ${claim}`,
    `   asked     ${asked}`,
    `   measured  ${measured}`,
    `   verdict   ${verdict} (${seconds} s)`,
  ].join("\n");

function renew(outcome: Outcome, machine: string): void {
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(page, renewPage(readFileSync(page, "utf8"), [outcome], `${day}, ${machine}`));
  // Columns as the formatter wants them.
  Bun.spawnSync([join(root, "node_modules/.bin/oxfmt"), page]);
}

if (import.meta.main) await runCommand(command);
