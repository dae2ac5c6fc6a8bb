import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coverageGaps } from "./coverage.ts";

export type TestCounts = { passed: number; failed: number; skipped: number };

/** Runs all tests, shows what they print, and counts them from the machine-readable report. */
export async function runTests(): Promise<TestCounts> {
  const folder = await mkdtemp(join(tmpdir(), "almoner-tests-"));
  try {
    const report = join(folder, "report.xml");
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        "--timeout=60000",
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        "--coverage",
        "--coverage-reporter=lcov",
        `--coverage-dir=${folder}`,
        "test/",
      ],
      { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, NO_COLOR: "1" } },
    );
    const code = await child.exited;
    const counts = countsOf(await readFile(report, "utf8").catch(() => ""));
    const gaps = await coverageGaps(join(folder, "lcov.info"));
    for (const gap of gaps) console.log(`FAILED coverage: ${gap}`);
    counts.failed += gaps.length;
    // A run that broke off tells of no failed test; it failed all the same.
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    return counts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function countsOf(report: string): TestCounts {
  const head = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const [all, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  return { passed: all - failed - skipped, failed, skipped };
}
