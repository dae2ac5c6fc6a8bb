import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import type { ImportReport } from "../import/report.ts";
import { stopWith } from "../support/config.ts";
import { runCommand } from "../support/command.ts";

/** What an import of all files may take. Source: the project's figures. */
const secondsMax = 25;
const megabytesMax = 400;

type Run = { what: string; report: ImportReport; seconds: number; cpuSeconds: number; mb: number };

const command = defineCommand({
  meta: {
    name: "bench import",
    description:
      "Imports the IRS master files of ALMONER_REGISTER_DATA into an empty store, then once more, and prints what it took.",
  },
  args: { json: { type: "boolean", description: "Answer as JSON on standard output" } },
  run: async ({ args }) => {
    const folder = process.env["ALMONER_REGISTER_DATA"] ?? "";
    if (folder === "") stopWith("ALMONER_REGISTER_DATA names no folder of real registers.", 2);
    const source = join(folder, "irs_bmf");
    const files = readdirSync(source).filter((name) => name.endsWith(".csv.gz"));
    const dataDir = mkdtempSync(join(tmpdir(), "almoner-bench-"));
    try {
      const paths = files.toSorted().map((name) => join(source, name));
      const runs = [
        await measure("first import", paths, dataDir),
        await measure("the same again", paths, dataDir),
      ];
      const store = statSync(join(dataDir, "store.db")).size;
      if (args.json) console.log(JSON.stringify({ runs, store_bytes: store }));
      else print(runs, store);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
});

async function measure(what: string, files: readonly string[], dataDir: string): Promise<Run> {
  const script = join(import.meta.dirname, "../import.ts");
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, script, "irs-bmf", "--json", ...files], {
    env: { ...process.env, ALMONER_DATA_DIR: dataDir, ALMONER_DATABASE_URL: "" },
    stdout: "pipe",
    stderr: "ignore",
  });
  const out = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) stopWith("the import failed");
  const seconds = (performance.now() - startedMs) / 1_000;
  const used = child.resourceUsage();
  return {
    what,
    report: JSON.parse(out) as ImportReport,
    seconds,
    cpuSeconds: Number(used?.cpuTime.total ?? 0) / 1e6,
    mb: (used?.maxRSS ?? 0) / 1e6,
  };
}

function print(runs: readonly Run[], storeBytes: number): void {
  console.log(
    `limit: ${secondsMax} s, ${megabytesMax} MB; store ${(storeBytes / 1e6).toFixed(0)} MB`,
  );
  console.table(
    Object.fromEntries(
      runs.map(({ what, report, seconds, cpuSeconds, mb }) => [
        what,
        {
          rows: report.rows,
          added: report.added,
          unchanged: report.unchanged,
          seconds: Number(seconds.toFixed(1)),
          "CPU s": Number(cpuSeconds.toFixed(1)),
          "organisations/s": Math.round((report.added + report.unchanged) / seconds),
          MB: Math.round(mb),
        },
      ]),
    ),
  );
}

await runCommand(command);
