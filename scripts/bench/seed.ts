import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { type Figure, printFigures } from "./support/figures.ts";
import { runCommand } from "../support/command.ts";

const secondsMax = 8;
const root = join(import.meta.dirname, "../..");

const command = defineCommand({
  meta: {
    name: "bench seed",
    description: "How long the sample directory takes, and whether memory grows with its size",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    times: { type: "string", default: "3", description: "Runs; the fastest counts" },
    factor: {
      type: "string",
      default: "4",
      description: "Repeat with this many times as many profiles",
    },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const factor = Number(args.factor);
    const runs: Run[] = [];
    for (let time = 0; time < Number(args.times); time += 1) runs.push(await seeded(profiles));
    const fastest = runs.toSorted((a, b) => a.seconds - b.seconds)[0];
    if (fastest === undefined) throw new Error("--times: give at least 1");
    const large = factor > 1 ? await seeded(profiles * factor) : null;
    const figures: Figure[] = [
      {
        what: `${profiles} profiles, start of the process included`,
        measured: `${fastest.seconds.toFixed(1)} s`,
        asked: `≤ ${secondsMax} s for 41,000`,
        met: profiles === 41_000 ? fastest.seconds <= secondsMax : null,
      },
      plain(
        "processor time",
        `${fastest.processorSeconds.toFixed(1)} s`,
        "wall without neighbours",
      ),
      plain("most memory", `${fastest.memoryMb.toFixed(0)} MB`, "of the process"),
      plain("store", `${fastest.storeMb.toFixed(0)} MB`, "on disk"),
    ];
    if (large !== null) {
      const growth = large.memoryMb / fastest.memoryMb;
      figures.push({
        what: `most memory with ${profiles * factor}`,
        measured: `${large.memoryMb.toFixed(0)} MB`,
        asked: "≤ 1.25 times as much",
        met: growth <= 1.25,
      });
      figures.push(plain("time", `${large.seconds.toFixed(1)} s`, `${factor} times the profiles`));
    }
    printFigures("Sample directory", figures, args.json === true);
  },
});

const plain = (what: string, measured: string, asked: string): Figure => ({
  what,
  measured,
  asked,
  met: null,
});

type Run = { seconds: number; processorSeconds: number; memoryMb: number; storeMb: number };

/** The command itself in a process of its own, into an empty folder. */
async function seeded(profiles: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "almoner-bench-seed-"));
  try {
    const startedMs = performance.now();
    const child = Bun.spawn(
      [process.execPath, "scripts/seed.ts", "--profiles", String(profiles), "--json"],
      {
        cwd: root,
        env: { ...process.env, ALMONER_DATA_DIR: folder },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    const code = await child.exited;
    const seconds = (performance.now() - startedMs) / 1_000;
    if (code !== 0) throw new Error(`seed ended with ${code}`);
    const used = child.resourceUsage();
    return {
      seconds,
      processorSeconds: Number(used?.cpuTime.total ?? 0) / 1e6,
      memoryMb: (used?.maxRSS ?? Number.NaN) / 2 ** 20,
      storeMb: statSync(join(folder, "store.db")).size / 2 ** 20,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await runCommand(command);
