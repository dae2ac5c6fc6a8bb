import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { defineCommand } from "citty";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { type ServedDirectory, serveSample } from "./support/served.ts";
import { runCommand } from "../support/command.ts";

const backgroundWriteEveryMs = 40;
const readersAtOnce = 4;

const command = defineCommand({
  meta: {
    name: "bench publish",
    description: "From a committed write to a reader who gets it, while others read and write",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    edits: { type: "string", default: "300", description: "Measured single changes" },
    dir: { type: "string", default: tmpdir(), description: "Where the directory is made" },
    port: { type: "string", default: "18080", description: "Port of the service under test" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const served = await serveSample(args.dir, profiles, Number(args.port));
    const figures: Figure[] = [];
    try {
      figures.push(...(await singleChanges(served, profiles, Number(args.edits))));
      figures.push(...(await burst(served, profiles)));
      figures.push(...(await memory(served.manifest.state().pid)));
      figures.push(await sameAsFullBuild(served, profiles));
    } finally {
      await served.close();
    }
    printFigures(`Publishing, ${profiles} profiles`, figures, args.json === true);
  },
});

const figure = (what: string, measured: number, limit: number, unit: string): Figure => ({
  what,
  measured: `${measured.toFixed(1)} ${unit}`,
  asked: `≤ ${limit} ${unit}`,
  met: measured <= limit,
});

/** The publisher, and the process that does its slow work: it ends when nothing changes for a minute. */
async function memory(pid: number): Promise<Figure[]> {
  const peak = (await peakMemoryMb(pid)) ?? Number.NaN;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const slow = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("slow-work-child"),
  );
  const slowPeak = slow === undefined ? null : await peakMemoryMb(Number(slow));
  return [
    figure("publisher, most memory", peak, 250, "MB"),
    {
      what: "its process for slow work, most memory",
      measured: slowPeak === null ? "ended" : `${slowPeak.toFixed(1)} MB`,
      asked: "",
      met: null,
    },
  ];
}

let round = 0;

async function edited(
  served: ServedDirectory,
  ids: readonly number[],
  parts: (r: NonprofitRecord) => Partial<NonprofitRecord>,
) {
  return served.store.write(async (tx) => {
    const records = await recordsById(tx, ids);
    const saves: Save[] = records.map((before) => ({
      before,
      after: { ...before, ...parts(before) },
    }));
    return saveNonprofits(tx, saves, { origin: "bench", now: new Date() });
  });
}

const anyId = (profiles: number) => 1 + Math.floor(Math.random() * profiles);

async function singleChanges(
  served: ServedDirectory,
  profiles: number,
  edits: number,
): Promise<Figure[]> {
  const others = disturb(served, profiles);
  const waits: number[] = [];
  for (let at = 0; at < edits; at++) {
    const mark = `Bench line ${round++}`;
    const [record] = await edited(served, [anyId(profiles)], () => ({ tagline: mark }));
    if (record === undefined) continue;
    waits.push(await untilServed(`${served.url}/api/nonprofits/${record.slug}`, mark));
    await Bun.sleep(15);
  }
  const committedMs = performance.now();
  await others.stop();
  await served.settled();
  const lagMs = performance.now() - committedMs;
  const files = served.manifest.db
    .query<{ most: number }, []>(
      "SELECT max(changed_files) AS most FROM releases WHERE reason LIKE 'change %'",
    )
    .get();
  const big = profiles > 100_000;
  return [
    figure("one change, p50", quantile(waits, 0.5), 15, "ms"),
    figure("one change, p99", quantile(waits, 0.99), big ? 100 : 60, "ms"),
    figure("files of one change, most", files?.most ?? 0, 12, "files"),
    figure("second lane behind the last change", lagMs, 5_000, "ms"),
    {
      what: "disturbed by",
      measured: `${others.reads()} reads, ${others.writes()} writes`,
      asked: "",
      met: null,
    },
  ];
}

/** Time from now until the answer holds the text. */
async function untilServed(url: string, text: string): Promise<number> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < 30_000) {
    const body = await (await fetch(url)).text();
    if (body.includes(text)) return performance.now() - startedMs;
  }
  throw new Error(`${url} did not show the change within 30 s`);
}

/** Readers and a writer that go on meanwhile. */
function disturb(served: ServedDirectory, profiles: number) {
  let going = true;
  let [reads, writes] = [0, 0];
  const read = async () => {
    while (going) {
      const rows = await served.store.raw.execute({
        sql: "SELECT slug FROM nonprofits WHERE id = ?",
        args: [anyId(profiles)],
      });
      await (
        await fetch(`${served.url}/nonprofits/${String(rows.rows[0]?.["slug"])}`)
      ).arrayBuffer();
      reads++;
      await Bun.sleep(5);
    }
  };
  const write = async () => {
    while (going) {
      await edited(served, [anyId(profiles)], () => ({ description: `Background ${round++}` }));
      writes++;
      await Bun.sleep(backgroundWriteEveryMs);
    }
  };
  const all = [write(), ...Array.from({ length: readersAtOnce }, read)];
  return {
    reads: () => reads,
    writes: () => writes,
    stop: async () => {
      going = false;
      await Promise.all(all);
    },
  };
}

/** A hundred profiles changed in one transaction. */
async function burst(served: ServedDirectory, profiles: number): Promise<Figure[]> {
  const waits: number[] = [];
  for (let at = 0; at < 10; at++) {
    const ids = [...new Set(Array.from({ length: 110 }, () => anyId(profiles)))].slice(0, 100);
    const mark = `Burst ${round++}`;
    const records = await edited(served, ids, () => ({ tagline: mark }));
    const startedMs = performance.now();
    // All of them are asked for at once, as by a hundred readers.
    await Promise.all(
      records.map(({ slug }) => untilServed(`${served.url}/api/nonprofits/${slug}`, mark)),
    );
    waits.push(performance.now() - startedMs);
    await served.settled();
  }
  return [figure("100 changed profiles, median of 10", quantile(waits, 0.5), 300, "ms")];
}

/** Random edits, adds and withdrawals; then everything again must give the same bytes. */
async function sameAsFullBuild(served: ServedDirectory, profiles: number): Promise<Figure> {
  for (let at = 0; at < 1_000; at++) {
    const dice = Math.random();
    await edited(served, [anyId(profiles)], (before) =>
      dice < 0.6
        ? { mission: `Random mission ${round++}` }
        : dice < 0.8
          ? { beneficiaries_per_year: Math.floor(Math.random() * 1e6) }
          : dice < 0.9
            ? { causes: before.causes.toReversed(), city: `City ${round++}` }
            : { status: before.status === "withdrawn" ? "listed" : "withdrawn" },
    );
    if (dice > 0.95) await addOne(served);
  }
  await served.settled();
  await served.stopServing();
  const script = join(import.meta.dirname, "../publish.ts");
  const full = Bun.spawn([process.execPath, script, "--full", "--json"], {
    env: served.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { differing } = JSON.parse(await new Response(full.stdout).text()) as {
    differing: string[];
  };
  return {
    ...figure("1,000 random changes, then a full build differs in", differing.length, 0, "files"),
    what: `1,000 random changes, then a full build differs in ${differing.slice(0, 3).join(" ")}`.trim(),
  };
}

async function addOne(served: ServedDirectory): Promise<void> {
  await served.store.write(async (tx) => {
    const [like] = await recordsById(tx, [1]);
    if (like === undefined) return;
    const slug = `newcomer-${round++}`;
    const after = {
      ...like,
      id: 0,
      slug,
      name: `Newcomer ${round}`,
      registrations: [],
      created_at: 0,
    };
    await saveNonprofits(tx, [{ before: null, after }], { origin: "bench", now: new Date() });
  });
}

await runCommand(command);
