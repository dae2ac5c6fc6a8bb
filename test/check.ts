import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand, wordedCommand } from "#scripts/support/command.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { compiledSites } from "#test/support/processes.ts";

/** What has to hold before anything is merged, besides the tests. */
const steps: readonly { name: string; command: string[] }[] = [
  { name: "format", command: ["oxfmt", "--check", "."] },
  {
    // Of pages alone, and first: it makes the types of the site's own modules.
    name: "types of pages",
    command: [
      "bun",
      "--bun",
      "astro",
      "check",
      "--minimumFailingSeverity",
      "error",
      "--tsconfig",
      "site/pages.tsconfig.json",
    ],
  },
  // A second thread only repeats work: the tests have the other core.
  { name: "lint and types", command: ["oxlint", "--type-check", "--threads=1"] },
  // Under Bun it takes half the processor time.
  { name: "dead code", command: ["bun", "--bun", "knip", "--no-progress"] },
];

const command = wordedCommand("check", {
  args: {
    only: {
      type: "string",
      description: `One step: ${steps.map(({ name }) => name).join(", ")} or tests`,
    },
  },
  run: async ({ args }) => {
    const chosen = steps.filter(({ name }) => args.only === undefined || args.only === name);
    if (args.only !== undefined && args.only !== "tests" && chosen.length === 0) {
      console.error(`--only takes one of: ${steps.map(({ name }) => name).join(", ")}, tests`);
      process.exit(2);
    }
    // Beside the tests, which leave a core idle where they wait.
    const failing = runSteps(chosen);
    if (args.only !== undefined && args.only !== "tests") process.exit((await failing).length);
    const tests = await runTests();
    const failedSteps = await failing;
    for (const name of failedSteps) console.log(`FAILED ${name}: see above`);
    // Again at the end: of a long log often only that is kept.
    for (const failure of tests.failures) console.log(`FAILED ${failure}`);
    // Steps count as tests: a run is green only when all of it is.
    const failed = tests.failed + failedSteps.length;
    const passed = tests.passed + chosen.length - failedSteps.length;
    console.log(
      `${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`,
    );
    process.exit(failed === 0 ? 0 : 1);
  },
});

const toolPath = (name: string) =>
  new URL(`../node_modules/.bin/${name}`, import.meta.url).pathname;
const env = {
  ...process.env,
  ASTRO_TELEMETRY_DISABLED: "1",
  NO_COLOR: "1",
  // No process lives long enough to gain from Bun's slowest compiler, and each core has a process of its own to collect for.
  BUN_JSC_useFTLJIT: "0",
  BUN_JSC_numberOfGCMarkers: "1",
  // The type checker, which Go runs, ends before it needs the memory again.
  GOGC: "off",
};

/** Runs steps one after another; answers the names of those that failed. */
async function runSteps(chosen: typeof steps): Promise<string[]> {
  const failed: string[] = [];
  for (const step of chosen) if (!(await runStep(step))) failed.push(step.name);
  return failed;
}

/** One line per step; what it printed is shown only when it failed. */
async function runStep({ name, command: [tool = "", ...args] }: (typeof steps)[number]) {
  const startedMs = performance.now();
  // The tests have deadlines and go first; the steps have none, and end before them.
  const words = ["nice", "-n", "5", toolPath(tool), ...args];
  const child = Bun.spawn(words, { stdio: ["ignore", "pipe", "pipe"], env });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${out}${err}`.trimEnd());
  return code === 0;
}

/** `failures`: each failed test's file, name and what it said. */
type TestCounts = { passed: number; failed: number; skipped: number; failures: string[] };

/** Runs all tests, shows what they print, and counts them from the machine-readable reports. */
async function runTests(): Promise<TestCounts> {
  const folder = await mkdtemp(join(tmpdir(), "almoner-tests-"));
  try {
    // Once, or the first of each process would at the same time. That it does not compile is told by tests.
    await compileSite(compiledSites).catch(() => undefined);
    // Whole flows and commands work in processes of their own, where no lines are counted.
    const flows = runFiles(join(folder, "apart.xml"), [
      "./test/bench/",
      "./test/flows/",
      "./test/scripts/",
    ]);
    // Beside them: each waits for processes or for deadlines much of the time, and neither's last file keeps a core to itself.
    const rooms = runFiles(join(folder, "inside.xml"), [
      "--coverage",
      "--coverage-reporter=lcov",
      `--coverage-dir=${folder}`,
      "--preload=./test/support/as-published.ts",
      // The clients that tests speak with bring tests of their own.
      "--path-ignore-patterns=test/{bench,clients,flows,scripts}/**",
      "./test/",
    ]);
    const [apart, inside] = await Promise.all([flows, rooms]);
    const gaps = coverageGaps(await readFile(join(folder, "lcov.info"), "utf8").catch(() => ""));
    for (const gap of gaps) console.log(`FAILED coverage: ${gap}`);
    return {
      passed: apart.passed + inside.passed,
      failed: apart.failed + inside.failed + gaps.length,
      skipped: apart.skipped + inside.skipped,
      failures: [...apart.failures, ...inside.failures],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs test files, in a process for each core. To load what they share again for each file takes a fifth longer. */
async function runFiles(report: string, args: readonly string[]): Promise<TestCounts> {
  const parallel = ["--timeout=240000", `--parallel=${availableParallelism()}`, "--no-isolate"];
  const preload = "--preload=./test/support/same-seed.ts";
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const words = [toolPath("bun"), "test", ...parallel, preload, ...reporter, ...args];
  const code = await Bun.spawn(words, { stdio: ["ignore", "inherit", "inherit"], env }).exited;
  const counts = countsOf(await readFile(report, "utf8").catch(() => ""));
  if (counts.failed > 0 || (code === 0 && counts.passed > 0)) return counts;
  // A run that broke off tells of no failed test, or of nothing; it failed all the same.
  console.log(`FAILED with exit code ${code}`);
  return { ...counts, failed: 1 };
}

function countsOf(report: string): TestCounts {
  const head = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const all = number("tests");
  const failed = number("failures");
  const skipped = number("skipped");
  const cases = report.matchAll(
    /<testcase name="([^"]*)"[^>]*file="([^"]*)"[^>]*[^/]>\s*<failure[^>]*>([^<]*)/g,
  );
  const failures = [...cases].map(([, test, file, said]) =>
    `${file}: ${test}\n${said}`.replaceAll("&#10;", "\n"),
  );
  return { passed: all - failed - skipped, failed, skipped, failures };
}

/** How much of the lines tests have to run: the pure files of the ground floor are the heart. */
const floors: readonly { name: string; holds: (path: string) => boolean; percent: number }[] = [
  { name: "pure files of content", holds: isPure, percent: 100 },
  // Commands run in processes of their own, where lines are not counted; so does much of what they call.
  { name: "content, api, site", holds: (path) => /^(content|api|site)\//.test(path), percent: 85 },
];

/** A file of a room of content that sees neither the store nor a verb's world, nor has the steps of a kind of request. */
function isPure(path: string): boolean {
  if (!/^content\/(?!editorial|runtime|contract|store|openapi|operator|requests)/.test(path))
    return false;
  if (path.endsWith("-kind.ts")) return false;
  return !/"(?:#content\/store\/|\.\/world\.ts|bun:sqlite|node:fs)/.test(
    readFileSync(path, "utf8"),
  );
}

/** Which rooms are tested less than they should be, with the files that lack most. Empty when all is well. */
function coverageGaps(lcov: string): string[] {
  const files = lcov.split("end_of_record").map((record) => {
    const number = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(record)?.[1]);
    return { path: /SF:(.+)/.exec(record)?.[1] ?? "", lines: number("LF"), hit: number("LH") };
  });
  return floors.flatMap(({ name, holds, percent }) => {
    const own = files.filter(({ path }) => holds(path));
    const lines = sum(own.map((file) => file.lines));
    const hit = sum(own.map((file) => file.hit));
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

await runCommand(command);
