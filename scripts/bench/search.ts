import { defineCommand } from "citty";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Store } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { mixedQueries } from "./support/search-queries.ts";
import { type Load, sendAll } from "./support/load.ts";
import { serveService } from "./support/served.ts";
import { runCommand } from "../support/command.ts";

const concurrency = 8;
const repeats = 10;
const largeFrom = 200_000;

const command = defineCommand({
  meta: {
    name: "bench search",
    description: "GET /api/search over HTTP, 8 requests at a time, on a mixed list of queries",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    "data-dir": { type: "string", description: "A filled data folder instead of a sample" },
    queries: { type: "string", default: "1000", description: "Different queries" },
    port: { type: "string", default: "18431", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const dataDir = args["data-dir"];
    const service = await serveService({ dataDir, profiles, port: Number(args.port) });
    try {
      const { store, url, pid } = service;
      const all = await mixedQueries(store, { count: 2 * Number(args.queries), seed: 7 });
      const urls = all.map((query) => `${url}/api/search?${query}`);
      const [warm, fresh] = [urls.slice(0, urls.length / 2), urls.slice(urls.length / 2)];
      await sendAll(warm, { concurrency }); // The engine compiles what runs often.
      const anew = await sendAll(fresh, { concurrency });
      const again = Array.from({ length: repeats }, () => fresh).flat();
      const repeated = await sendAll(again, { concurrency });
      const written = await whileWriting(store, () => sendAll(again, { concurrency }));
      const common = await commonWords(url);
      const figures = [
        ...newFigures(anew, profiles),
        ...repeatedFigures("repeated", repeated),
        rate("repeated while another profile is written each 50 ms", written, 0),
        tail("", written, 0.99, 0),
        {
          what: "very common words, new, the slowest",
          measured: `${common.toFixed(1)} ms`,
          asked: "≤ 40 ms",
          met: common <= 40,
        },
        await memory(pid),
      ];
      printFigures(
        `Search, ${profiles} profiles, concurrency ${concurrency}`,
        figures,
        args.json === true,
      );
    } finally {
      await service.close();
    }
  },
});

const newFigures = (load: Load, profiles: number): Figure[] =>
  profiles >= largeFrom
    ? [rate("every query new", load, 0), tail("p50", load, 0.5, 0), tail("p99", load, 0.99, 250)]
    : [rate("every query new", load, 600), tail("p50", load, 0.5, 15), tail("p99", load, 0.99, 60)];

const repeatedFigures = (what: string, load: Load): Figure[] => [
  rate(what, load, 5_000),
  tail("p99", load, 0.99, 5),
];

const rate = (what: string, { perSecond }: Load, least: number): Figure => ({
  what,
  measured: `${perSecond.toFixed(0)} /s`,
  asked: least === 0 ? "no figure asked" : `≥ ${least} /s`,
  met: least === 0 ? null : perSecond >= least,
});

const tail = (name: string, { timesMs }: Load, share: number, most: number): Figure => ({
  what: `  ${name === "" ? "p99" : name}`,
  measured: `${quantile(timesMs, share).toFixed(1)} ms`,
  asked: most === 0 ? "no figure asked" : `≤ ${most} ms`,
  met: most === 0 ? null : quantile(timesMs, share) <= most,
});

/** Words that most profiles have, one at a time, so that none is answered from what is kept. */
async function commonWords(url: string): Promise<number> {
  const words = ["the", "and", "of", "to", "in", "for", "community", "foundation", "a", "co"];
  const { timesMs } = await sendAll(
    words.map((word) => `${url}/api/search?q=${word}&limit=19`),
    { concurrency: 1 },
  );
  return Math.max(...timesMs);
}

const writeEveryMs = 50;

/** Rewrites the mission of one profile again and again while `work` goes on. */
async function whileWriting<Value>(store: Store, work: () => Promise<Value>): Promise<Value> {
  const done = new AbortController();
  const writer = (async () => {
    let [record] = await recordsById(store, [1]);
    for (let n = 0; !done.signal.aborted && record !== undefined; n++) {
      const after = { ...record, mission: `Quite another mission, the ${n}th` };
      const save = { before: record, after };
      [record] = await store.write((tx) =>
        saveNonprofits(tx, [save], { origin: "review", now: new Date() }),
      );
      await Bun.sleep(writeEveryMs);
    }
  })();
  const value = await work();
  done.abort();
  await writer;
  return value;
}

async function memory(pid: number): Promise<Figure> {
  const megabytes = await peakMemoryMb(pid);
  return {
    what: "most memory of the service",
    measured: megabytes === null ? "not told" : `${megabytes.toFixed(0)} MB`,
    asked: "≤ 300 MB",
    met: megabytes === null ? null : megabytes <= 300,
  };
}

await runCommand(command);
