import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { type Figure, peakMemoryMb, printFigures } from "./support/figures.ts";
import { serveService } from "./support/served.ts";
import { needTools, wrk, writePaths } from "./support/load.ts";
import { runCommand } from "../support/command.ts";

const perSecondMin = 15_000;
const pagesAsked = 50;

const command = defineCommand({
  meta: {
    name: "bench reads",
    description: "List pages, causes and statistics from the service alone (needs wrk)",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    seconds: { type: "string", default: "5", description: "How long each kind is asked for" },
    port: { type: "string", default: "18434", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    needTools("wrk");
    const [profiles, seconds] = [Number(args.profiles), Number(args.seconds)];
    const service = await serveService({ profiles, port: Number(args.port) });
    const folder = mkdtempSync(join(tmpdir(), "almoner-bench-reads-"));
    try {
      const figures: Figure[] = [];
      for (const [what, paths] of Object.entries(kinds)) {
        const script = writePaths(folder, paths);
        await wrk(service.url, { script, seconds: 1 });
        const rate = await wrk(service.url, { script, seconds });
        figures.push({
          what,
          measured: `${Math.round(rate).toLocaleString("en")} /s`,
          asked: `≥ ${perSecondMin.toLocaleString("en")} /s`,
          met: rate >= perSecondMin,
        });
      }
      const memory = (await peakMemoryMb(service.pid)) ?? Number.NaN;
      figures.push({
        what: "most memory of the service",
        measured: `${memory.toFixed(0)} MB`,
        asked: "≤ 300 MB",
        met: memory <= 300,
      });
      printFigures(`Reads, ${profiles} profiles, 32 connections`, figures, args.json === true);
    } finally {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

const kinds: Record<string, readonly string[]> = {
  "list pages": Array.from(
    { length: pagesAsked },
    (_, page) => `/api/nonprofits?limit=20&offset=${20 * page}`,
  ),
  "list pages of a cause": Array.from(
    { length: pagesAsked },
    (_, page) => `/api/nonprofits?cause=education&limit=20&offset=${20 * page}`,
  ),
  causes: ["/api/causes"],
  statistics: ["/api/stats"],
};

await runCommand(command);
