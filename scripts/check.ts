import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { runCommand } from "./support/command.ts";

/** What has to hold before anything is merged, besides the tests. */
const steps: readonly { name: string; command: string[] }[] = [
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "lint", command: ["oxlint"] },
  { name: "types", command: ["tsc", "--noEmit"] },
  {
    name: "pages",
    command: ["bun", "--bun", "astro", "check", "--minimumFailingSeverity", "error"],
  },
  { name: "dead code", command: ["knip", "--no-progress"] },
];

const command = defineCommand({
  meta: {
    name: "check",
    description: "Format, lint, types, dead code and tests; the last line counts the tests",
  },
  args: {
    only: {
      type: "string",
      description: `One step: ${steps.map(({ name }) => name).join(", ")} or tests`,
    },
  },
  run: async ({ args }) => {
    // Side by side: each is busy with one core.
    const asked = steps.filter(({ name }) => args.only === undefined || args.only === name);
    const outcomes = await Promise.all(asked.map(runStep));
    let failed = outcomes.filter((passed) => !passed).length;
    if (args.only !== undefined && args.only !== "tests") process.exit(failed === 0 ? 0 : 1);
    const tests = await runTests();
    // Steps count as tests: a run is green only when all of it is.
    const passed = tests.passed + (args.only === undefined ? steps.length - failed : 0);
    failed += tests.failed;
    console.log(
      `${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`,
    );
    process.exit(failed === 0 ? 0 : 1);
  },
});

/** One line per step; what it printed is shown only when it failed. */
async function runStep({
  name,
  command: [tool = "", ...rest],
}: (typeof steps)[number]): Promise<boolean> {
  const startedMs = performance.now();
  const bin = new URL(`../node_modules/.bin/${tool}`, import.meta.url).pathname;
  const child = Bun.spawn([bin, ...rest], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: "1", NO_COLOR: "1" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${out}${err}`);
  return code === 0;
}

type TestCounts = { passed: number; failed: number; skipped: number };

/** Files of one process: few enough to share the cores evenly, enough to load the code seldom. */
const filesOfRun = 6;

/** Rooms whose tests take longest come first, so that no core waits at the end. */
const slowestFirst = ["test/flows/", "test/scripts/", "test/site/", "test/api/", "test/"];

/** Runs all tests, a process for each core, shows what they print, and counts them from the machine-readable reports. */
async function runTests(): Promise<TestCounts> {
  const folder = await mkdtemp(join(tmpdir(), "almoner-tests-"));
  try {
    const runs = inRuns(await testFiles());
    const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
    const waiting = [...runs.entries()];
    const core = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [number, files] = next;
        const { passed, failed, skipped } = await runFiles(files, join(folder, String(number)));
        counts.passed += passed;
        counts.failed += failed;
        counts.skipped += skipped;
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, core));
    const gaps = await coverageGaps(runs.map((_, number) => join(folder, `${number}/lcov.info`)));
    for (const gap of gaps) console.log(`FAILED coverage: ${gap}`);
    counts.failed += gaps.length;
    return counts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whole flows and commands work in processes of their own, where no lines are counted: only slower. */
const isCounted = (file: string): boolean => !/test\/(?:flows|scripts)\//.test(file);

const coverage = (folder: string): string[] => [
  "--coverage",
  "--coverage-reporter=lcov",
  `--coverage-dir=${folder}`,
];

/** Tests of these files in a process of their own; what it printed appears when it has ended, unmixed with others'. */
async function runFiles(files: readonly string[], folder: string): Promise<TestCounts> {
  const report = join(folder, "report.xml");
  await mkdir(folder);
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      "--timeout=60000",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...(files.some(isCounted) ? coverage(folder) : []),
      ...files,
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NO_COLOR: "1" } },
  );
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  console.log(`${out}${err}`.trimEnd());
  const counts = countsOf(await readFile(report, "utf8").catch(() => ""));
  const told = counts.passed + counts.failed + counts.skipped > 0;
  if ((code !== 0 || !told) && counts.failed === 0) {
    // A run that broke off tells of no failed test, or of nothing; it failed all the same.
    console.log(`FAILED with exit code ${code}: ${files.join(" ")}`);
    counts.failed = 1;
  }
  return counts;
}

async function testFiles(): Promise<string[]> {
  const found = await Array.fromAsync(
    new Bun.Glob("test/**/*.test.ts").scan({ cwd: process.cwd() }),
  );
  // The clients that tests speak with bring tests of their own.
  return found.filter((path) => !path.includes("node_modules/"));
}

function inRuns(files: readonly string[]): string[][] {
  const place = (file: string) => slowestFirst.findIndex((room) => file.startsWith(room));
  const ordered = files.toSorted((a, b) => place(a) - place(b) || a.localeCompare(b));
  const runs: string[][] = [];
  for (let at = 0; at < ordered.length; at += filesOfRun) {
    runs.push(ordered.slice(at, at + filesOfRun).map((file) => `./${file}`));
  }
  return runs;
}

function countsOf(report: string): TestCounts {
  const head = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const [all, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  return { passed: all - failed - skipped, failed, skipped };
}

/** How much of the lines tests have to run: the pure files of the ground floor are the heart. */
const floors: readonly { name: string; holds: (path: string) => boolean; percent: number }[] = [
  { name: "pure files of content", holds: isPure, percent: 100 },
  // Commands run in processes of their own, where lines are not counted; so does much of what they call.
  {
    name: "content, api, site",
    holds: (path) => /^(content|api|site)\//.test(path),
    percent: 85,
  },
];

/** A file of a room of content that never sees the store. */
function isPure(path: string): boolean {
  if (!/^content\/(?!editorial|runtime|contract|store|openapi)/.test(path)) return false;
  return !/"(?:#content\/store\/|bun:sqlite|node:fs)/.test(readFileSync(path, "utf8"));
}

/** Which rooms are tested less than they should be, with the files that lack most. Empty when all is well. */
async function coverageGaps(lcovPaths: readonly string[]): Promise<string[]> {
  const reports = await Promise.all(
    lcovPaths.map((path) => readFile(path, "utf8").catch(() => "")),
  );
  const files = filesOf(reports);
  return floors.flatMap(({ name, holds, percent }) => {
    const own = files.filter(({ path }) => holds(path));
    const [lines, hit] = [sum(own.map((file) => file.lines)), sum(own.map((file) => file.hit))];
    const reached = lines === 0 ? 0 : (100 * hit) / lines;
    if (reached >= percent) return [];
    const worst = own
      .toSorted((a, b) => b.lines - b.hit - (a.lines - a.hit))
      .slice(0, 8)
      .map(({ path, lines: all, hit: run }) => `${path} ${run}/${all}`);
    return [`${name} ${reached.toFixed(1)} % of ${percent} %: ${worst.join(", ")}`];
  });
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** A line counts as run when any process ran it. */
function filesOf(reports: readonly string[]): { path: string; lines: number; hit: number }[] {
  const files = new Map<string, Map<string, boolean>>();
  for (const record of reports.flatMap((lcov) => lcov.split("end_of_record"))) {
    const path = /SF:(.+)/.exec(record)?.[1];
    if (path === undefined) continue;
    const lines = files.get(path) ?? new Map<string, boolean>();
    for (const [, line = "", runs] of record.matchAll(/^DA:(\d+),(\d+)/gm)) {
      lines.set(line, lines.get(line) === true || Number(runs) > 0);
    }
    files.set(path, lines);
  }
  return [...files].map(([path, lines]) => ({
    path,
    lines: lines.size,
    hit: [...lines.values()].filter(Boolean).length,
  }));
}

await runCommand(command);
