import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { runCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";

/** The options of a bench: default and meaning of each. Numbers and texts are read by their defaults. */
type Options = Readonly<Record<string, readonly [number | string, string]>>;

type Given<Asked extends Options> = {
  [Name in keyof Asked]: Asked[Name][0] extends number ? number : string;
};

type Bench<Asked extends Options> = {
  name: string;
  description: string;
  options: Asked;
  /** Measures, in a temporary folder below `--dir` that is removed afterwards. */
  run: (given: Given<Asked> & { folder: string }) => Promise<{ title: string; figures: Figure[] }>;
};

/** Options of every bench that serves a sample directory. */
export const serving = {
  profiles: [41_000, "Profiles of the sample directory"],
  port: [18_080, "Port of the service under test"],
} as const;

/** Runs a bench as a command, which prints one table of figures, or one JSON line with --json. */
export async function runBench<const Asked extends Options>(bench: Bench<Asked>): Promise<void> {
  const { name, description, options, run } = bench;
  const command = defineCommand({
    meta: { name: `bench ${name}`, description },
    args: {
      ...Object.fromEntries(Object.entries(options).map(argumentOf)),
      dir: { type: "string", default: tmpdir(), description: "Where temporary files are made" },
      json: { type: "boolean", description: "One JSON line" },
    },
    run: async ({ args }) => {
      const given = Object.entries(options).map(([option, [standard]]) => [
        option,
        typeof standard === "number" ? numberOf(option, args[option]) : args[option],
      ]);
      const folder = mkdtempSync(join(String(args["dir"]), `almoner-bench-${name}-`));
      try {
        const { title, figures } = await run({ ...Object.fromEntries(given), folder });
        console.log(
          args["json"] === true
            ? JSON.stringify({ title, figures })
            : `${title}\n${Bun.inspect.table(figures)}`,
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  });
  await runCommand(command);
}

const argumentOf = ([name, [standard, description]]: [string, Options[string]]) => [
  name,
  { type: "string" as const, default: String(standard), description },
];

function numberOf(option: string, text: unknown): number {
  const value = Number(text);
  return Number.isFinite(value) ? value : stopWith(`--${option}: give a number.`, 2);
}

/** One row of the table: what was measured beside what is asked; `met` is null where nothing is. */
export type Figure = { what: string; measured: string; asked: string; met: boolean | null };

/** A figure that may be `most`, or has to be `least`; one without a limit is only shown. */
export function figure(
  what: string,
  value: number,
  unit: string,
  { least, most }: { least?: number | undefined; most?: number | undefined } = {},
): Figure {
  const shown = (number: number) => `${rounded(number)} ${unit}`.trim();
  const asked = [
    ...(least === undefined ? [] : [`≥ ${shown(least)}`]),
    ...(most === undefined ? [] : [`≤ ${shown(most)}`]),
  ];
  const met = value >= (least ?? -Infinity) && value <= (most ?? Infinity);
  return {
    what,
    measured: shown(value),
    asked: asked.join(", "),
    met: asked.length === 0 ? null : met,
  };
}

const rounded = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 1_000 ? 1 : 0 });

/** The value below which this share of the sample lies; `share` from 0 to 1. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (sample: readonly number[]): number => quantile(sample, 0.5);

/** Processor time that a process has used so far, in ms: what it costs, however busy the machine is with other work. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  // The name of the command, in brackets, may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The most memory that a process held at once, in MB. */
export async function peakMemoryMb(pid: number | string): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** The same of those processes that this one started, and these, which held most. */
async function peakOfChildren(pid: number | string): Promise<number> {
  const children = await Bun.file(`/proc/${pid}/task/${pid}/children`).text();
  const peaks = children
    .split(" ")
    .filter(Boolean)
    .flatMap((child) => [peakMemoryMb(child), peakOfChildren(child)]);
  const known = await Promise.all(peaks.map((peak) => peak.catch(() => 0)));
  return Math.max(0, ...known.filter((mb) => mb > 0));
}

/** How often it is looked at what processes hold: of one that ends between two looks, what it held in the end is not known. */
const lookEveryMs = 50;

/** MB that a process has written to the disk so far, with those of its children that have ended. */
export async function writtenMb(pid: number | string): Promise<number> {
  return writtenIn(await Bun.file(`/proc/${pid}/io`).text());
}

const writtenIn = (io: string): number => Number(/^write_bytes: (\d+)/m.exec(io)?.[1]) / 2 ** 20;

/**
 * Runs a command to its end: what it printed, and what it took with its processes. `peakMb` is of that of them which held most,
 * `writtenMb` went to the disk.
 */
export async function timed(words: string[], env: Record<string, string> = {}) {
  const startedMs = performance.now();
  // What a process wrote is known as long as it lives; a shell inherits the sum of its children.
  const shell = ["sh", "-c", '"$@" && cat /proc/$$/io >&2', "sh", ...words];
  const child = Bun.spawn(shell, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // What the kernel tells of an ended process counts what its parent held when it started it.
  let peakMb = 0;
  const note = (mb: number) => (peakMb = Math.max(peakMb, mb));
  const look = setInterval(() => {
    peakOfChildren(child.pid).then(note, () => {});
  }, lookEveryMs);
  const read = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [out = "", said = ""] = await Promise.all(read);
  const code = await child.exited;
  clearInterval(look);
  if (code !== 0) throw new Error(`${words.join(" ")} failed: ${said.slice(-500)}`);
  const used = child.resourceUsage();
  return {
    out,
    seconds: (performance.now() - startedMs) / 1_000,
    cpuSeconds: Number(used?.cpuTime.total) / 1e6,
    peakMb,
    writtenMb: writtenIn(said),
  };
}
