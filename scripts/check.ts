import { defineCommand } from "citty";
import { runTests } from "./check/tests.ts";
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

await runCommand(command);
