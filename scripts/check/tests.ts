import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { coverageGaps } from "./coverage.ts";

export type TestCounts = { passed: number; failed: number; skipped: number };

/** Files of one process: few enough to share the cores evenly, enough to load the code seldom. */
const filesOfRun = 3;

/** Rooms whose tests take longest come first, so that no core waits at the end. */
const slowestFirst = ["test/flows/", "test/scripts/", "test/site/", "test/api/", "test/"];

/** Runs all tests, a process for each core, shows what they print, and counts them from the machine-readable reports. */
export async function runTests(): Promise<TestCounts> {
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

const testFiles = (): Promise<string[]> =>
  Array.fromAsync(new Bun.Glob("test/**/*.test.ts").scan({ cwd: process.cwd() }));

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
