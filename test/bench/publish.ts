import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { changeOf, disturb, withoutYears } from "./support/edits.ts";
import {
  type Figure,
  figure,
  median,
  peakMemoryMb,
  quantile,
  runBench,
  serving,
  timed,
} from "./support/harness.ts";
import { serveWhole } from "./support/serve.ts";

type Bench = Awaited<ReturnType<typeof serveWhole>> & { profiles: number };
async function singleChanges(bench: Bench, edits: number): Promise<Figure[]> {
  const others = disturb(bench);
  const waitsMs: number[] = [];
  for (let at = 0; at < edits; at++) {
    waitsMs.push(await changeOf(bench));
    await Bun.sleep(15);
  }
  const committedMs = performance.now();
  const { reads, writes } = await others.stop();
  await bench.published();
  const lagMs = performance.now() - committedMs;
  const files = bench.manifest.db
    .query<{ most: number }, []>(
      "SELECT max(changed_files) AS most FROM releases WHERE reason LIKE 'change %'",
    )
    .get();
  const p99MaxMs = bench.profiles > 100_000 ? 100 : 60;
  return [
    figure("one change: p50", median(waitsMs), "ms", { most: 15 }),
    figure("one change: p99", quantile(waitsMs, 0.99), "ms", { most: p99MaxMs }),
    figure("files of one change, most", files?.most ?? 0, "", { most: 12 }),
    figure("lists live after the last change", lagMs, "ms", { most: 5_000 }),
    figure("reads meanwhile", reads, ""),
    figure("writes meanwhile", writes, ""),
  ];
}

/** A hundred profiles changed at once. */
async function burst(bench: Bench): Promise<Figure> {
  const waitsMs: number[] = [];
  for (let at = 0; at < 10; at++) {
    waitsMs.push(await changeOf(bench, 100));
    await bench.published();
  }
  return figure("100 changed profiles, median of 10", median(waitsMs), "ms", { most: 300 });
}

/** The publisher, and its background process, which ends when nothing changes for ten minutes. */
async function memory({ manifest }: Bench): Promise<Figure[]> {
  const { pid } = manifest.state();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const worker = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("background-worker-entry"),
  );
  const limit = { most: 250 };
  return [
    figure("publisher, most memory", await peakMemoryMb(pid), "MB", limit),
    ...(worker === undefined
      ? []
      : [figure("its background process", await peakMemoryMb(Number(worker)), "MB", limit)]),
  ];
}

const FullBuild = z.object({ differing: z.array(z.string()) });

/** Everything again must give the same bytes. */
async function sameAsFullBuild(bench: Bench): Promise<Figure[]> {
  await bench.published();
  await bench.stop();
  const script = join(import.meta.dirname, "../../scripts/publish.ts");
  const { out, seconds, peakMb } = await timed(
    [process.execPath, script, "--full", "--json"],
    bench.env,
  );
  const { differing } = FullBuild.parse(JSON.parse(out));
  const examples = differing.slice(0, 3).join(" ");
  const what = `files that differ after a full build ${examples}`.trim();
  return [
    figure(what, differing.length, "", { most: 0 }),
    figure("full build, search indexes included", seconds, "s"),
    figure("most memory of one of its processes", peakMb, "MB"),
  ];
}

await runBench({
  name: "publish",
  description: "From a write that goes live to a reader who gets it, while others read and write",
  options: { ...serving, edits: [300, "Measured single changes"] },
  run: async ({ profiles, port, edits, folder }) => {
    const env = { ALMONER_TRUSTED_HOPS: "1" };
    await using served = await serveWhole({ folder, profiles, port, env, prepare: withoutYears });
    const bench = { ...served, profiles };
    const figures = [
      ...(await singleChanges(bench, edits)),
      await burst(bench),
      ...(await memory(bench)),
      ...(await sameAsFullBuild(bench)),
    ];
    return { title: `Publishing, ${profiles} profiles`, figures };
  },
});
