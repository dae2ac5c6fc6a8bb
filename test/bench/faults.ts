import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defineCommand } from "citty";
import type { TestCoverage } from "./faults/coverage.ts";
import { drawFaults, roomOf } from "./faults/draw.ts";
import { hunt } from "./faults/hunt.ts";
import { faultLine, outcomeLine, reportOf, type Result } from "./faults/report.ts";
import { commitOf, openTree, type Tree } from "./faults/tree.ts";
import { runCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";

export const command = defineCommand({
  meta: {
    name: "faults",
    description: [
      "Plants faults in a copy of a commit, one at a time and spread over all rooms, and records which of them the tests find.",
      "A first pass records what each test file runs, in whatever process; a fault is then hunted by the files that run its place.",
      "Started again, it goes on where it stopped. Ends with 0 whatever survives: a person judges the list.",
    ].join("\n"),
  },
  args: {
    seed: { type: "string", default: "1", description: "Another seed draws other faults" },
    count: { type: "string", default: "200", description: "How many faults" },
    room: { type: "string", description: "Faults of one room only, such as content/giving" },
    commit: { type: "string", default: "HEAD", description: "The commit under test" },
    bound: { type: "string", default: "120", description: "Most seconds of tests for one fault" },
    dir: {
      type: "string",
      default: join(tmpdir(), "almoner-faults"),
      description: "Where the copy is made, and what tests run is recorded",
    },
    out: {
      type: "string",
      description: "Result file; a page of the same name with .md lies beside it",
    },
    share: {
      type: "string",
      default: "1/1",
      description:
        "Of the faults, and of the test files that are recorded, every n-th: 1/2 and 2/2 may run at once, each in a --dir of its own",
    },
    cover: { type: "boolean", description: "Records what the tests run, and stops" },
    against: { type: "string", description: "Result file of another commit to compare with" },
    list: { type: "boolean", description: "Shows the faults and runs nothing" },
    json: { type: "boolean", description: "One JSON line for each fault" },
  },
  run: async ({ args }) => {
    const folder = resolve(args.dir);
    mkdirSync(folder, { recursive: true });
    const head = {
      commit: commitOf(args.commit),
      seed: numberOf("seed", args.seed),
      count: numberOf("count", args.count),
      room: args.room ?? null,
      boundS: numberOf("bound", args.bound),
    };
    const isOwn = shareOf(args.share);
    const earlier = args.against === undefined ? null : readResult(args.against);
    const out = resolve(args.out ?? join(folder, `faults-${head.commit.slice(0, 8)}.json`));
    const result = openResult(out, head);
    const tree = openTree(folder, head.commit);
    const files = tree.files.filter((file) => roomOf(file) === (args.room ?? roomOf(file)));
    const faults = drawFaults(tree.root, files, head);
    if (args.list === true) {
      for (const fault of faults)
        console.log(args.json === true ? JSON.stringify(fault) : faultLine(fault));
      return;
    }
    const covered = join(folder, `coverage-${head.commit.slice(0, 8)}.ndjson`);
    if (args.cover === true) {
      await record(tree, covered, tree.tests.filter(isOwn));
      return;
    }
    const evidence = {
      blocks: tree.blocks({ write: false }),
      coverage: await coverageOf(tree, covered),
      boundS: head.boundS,
    };
    result.unusable = evidence.coverage.filter(({ passes }) => !passes).map(({ test }) => test);
    const done = new Set(result.outcomes.map(({ key }) => key));
    const left = faults.filter((fault, at) => isOwn(fault, at) && !done.has(fault.key));
    for (const [at, fault] of left.entries()) {
      const outcome = await hunt(tree, fault, evidence);
      result.outcomes.push(outcome);
      writeFileSync(out, JSON.stringify(result, null, 1));
      writeFileSync(out.replace(/(?:\.json)?$/, ".md"), reportOf(result, earlier));
      console.error(`${at + 1} of ${left.length}: ${outcomeLine(outcome)}`);
      if (args.json === true) console.log(JSON.stringify(outcome));
    }
    if (args.json !== true) console.log(reportOf(result, earlier));
    tree.remove();
  },
});

function numberOf(option: string, text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0
    ? value
    : stopWith(`--${option}: give a whole number.`, 2);
}

const readResult = (path: string): Result => JSON.parse(readFileSync(path, "utf8")) as Result;

/** A result that was begun, if it is of the same faults, or a new one. */
function openResult(out: string, head: Omit<Result, "outcomes" | "unusable">): Result {
  if (!existsSync(out)) return { ...head, unusable: [], outcomes: [] };
  const result = readResult(out);
  for (const [name, value] of Object.entries(head)) {
    if (result[name as keyof typeof head] !== value) {
      stopWith(`${out} is of another ${name}. Give another file with --out.`, 2);
    }
  }
  return result;
}

/** Which of a list belong to a share, such as the second of three. */
function shareOf(text: string): (item: unknown, at: number) => boolean {
  const [, number = 0, of = 0] = (/^([1-9]\d?)\/([1-9]\d?)$/.exec(text) ?? []).map(Number);
  if (number < 1 || number > of) return stopWith("--share: give 1/2, or 2/2.", 2);
  return (_item, at) => at % of === number - 1;
}

const linesOf = (path: string): TestCoverage[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as TestCoverage)
    : [];

/** Records what test files run: a line of a file for each, so that a pass that was broken off goes on. */
async function record(tree: Tree, path: string, tests: readonly string[]): Promise<TestCoverage[]> {
  const coverage = linesOf(path);
  const missing = tests.filter((test) => !coverage.some((file) => file.test === test));
  if (missing.length > 0) tree.blocks({ write: true });
  for (const [at, test] of missing.entries()) {
    const file = await tree.cover(test);
    console.error(`${at + 1} of ${missing.length}: ${test}, ${file.seconds.toFixed(1)} s`);
    coverage.push(file);
    appendFileSync(path, `${JSON.stringify(file)}\n`);
  }
  tree.reset();
  return coverage;
}

/** What each test file runs, and whether it can tell of a fault. */
async function coverageOf(tree: Tree, path: string): Promise<TestCoverage[]> {
  const coverage = await record(tree, path, tree.tests);
  // Some read the product's own text, and fail where it is not as it was written.
  for (const file of coverage.filter(({ passes }) => !passes)) {
    const { passes } = await tree.test([file.test], 900);
    file.passes = passes;
    console.error(`${file.test} ${passes ? "passes" : "fails"} without a fault`);
  }
  return coverage;
}

if (import.meta.main) await runCommand(command);
