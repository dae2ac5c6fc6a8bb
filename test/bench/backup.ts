import { join } from "node:path";
import { startChild } from "#content/runtime/supervised-child.ts";
import { figure, median, quantile, runBench, serving } from "./support/harness.ts";
import { newClient, post, type Request } from "./support/load.ts";
import { column, serve } from "./support/serve.ts";

const takesMaxSeconds = 10;
const costMaxPercent = 10;
const warmUpMs = 3_000;
const readers = { count: 4, restMs: 5 } as const;
const writers = { count: 2, restMs: 20 } as const;

await runBench({
  name: "backup",
  description:
    "A backup beside readers and writers: how long it takes, and what it costs them, against the time after it",
  options: {
    ...serving,
    rounds: [12, "Backups, each followed by twice its time without one; medians are told"],
  },
  run: async ({ profiles, port, rounds, folder }) => {
    const env = { ALMONER_TRUSTED_HOPS: "1", ALMONER_ENRICH_PER_MINUTE: "0" };
    await using served = await serve({ folder, profiles, port, env });
    const slugs = await column(served.store, "SELECT slug FROM nonprofits ORDER BY id LIMIT 20000");
    let asked = 0;
    const read = (): Request => ({
      path: `/api/nonprofits/${slugs[(asked * 7_919) % slugs.length]}`,
    });
    const write = (): Request =>
      post(`/api/enrich/${slugs[(asked * 104_729) % slugs.length]}`, {
        field: "city",
        value: `Town ${asked}`,
        agent_id: `bot-${asked}`,
      });
    /** What each request took, in ms, until `ends`. */
    const phase = async (ends: Promise<unknown>) => {
      let goesOn = true;
      void ends.then(() => (goesOn = false));
      const loop = async (timesMs: number[], next: () => Request, restMs: number) => {
        while (goesOn) {
          asked += 1;
          const { path, ...init } = next();
          const startMs = performance.now();
          const headers = { ...init.headers, ...newClient() };
          const answer = await fetch(served.url + path, { ...init, headers });
          await answer.arrayBuffer();
          timesMs.push(performance.now() - startMs);
          if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
          await Bun.sleep(restMs);
        }
      };
      const times = { reads: [] as number[], writes: [] as number[] };
      await Promise.all([
        ...Array.from({ length: readers.count }, () => loop(times.reads, read, readers.restMs)),
        ...Array.from({ length: writers.count }, () => loop(times.writes, write, writers.restMs)),
      ]);
      return times;
    };
    const backup = async () => {
      const startMs = performance.now();
      const ended = Promise.withResolvers<string>();
      startChild({
        script: "scripts/backup.ts",
        args: ["--to", join(folder, "backups"), "--quiet"],
        env: { ...process.env, ...served.env },
        nice: 19,
        onExit: ended.resolve,
      });
      if ((await ended.promise) !== "0") throw new Error("the backup failed");
      return (performance.now() - startMs) / 1_000;
    };
    await phase(Bun.sleep(warmUpMs));
    const all: Round[] = [];
    let seconds = 0;
    for (let round = 0; round < rounds; round++) {
      const taking = backup();
      const beside = await phase(taking);
      const tookSeconds = await taking;
      seconds = Math.max(seconds, tookSeconds);
      const pause = () => phase(Bun.sleep(tookSeconds * 1_000));
      all.push({ beside, alone: await pause(), again: await pause() });
    }
    return {
      title: `${rounds} backups of ${profiles} profiles`,
      figures: [
        figure("a backup", seconds, "s", { most: takesMaxSeconds }),
        ...(["reads", "writes"] as const).flatMap((kind) => {
          const p99 = (when: keyof Round) =>
            median(all.map((round) => quantile(round[when][kind], 0.99)));
          const percent = (when: keyof Round) => (p99(when) / p99("alone") - 1) * 100;
          return [
            figure(`${kind}: p99 without a backup`, p99("alone"), "ms"),
            figure(`${kind}: p99 beside one`, p99("beside"), "ms"),
            figure(`${kind}: more`, percent("beside"), "%", { most: costMaxPercent }),
            figure(`${kind}: more without one again, by chance`, percent("again"), "%"),
          ];
        }),
      ],
    };
  },
});

type Times = { reads: number[]; writes: number[] };
/** A backup's time, and as long without one twice: by the second the first is seen to be no chance. */
type Round = Record<"beside" | "alone" | "again", Times>;
