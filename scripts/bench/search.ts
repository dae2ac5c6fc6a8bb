import { defineCommand } from "citty";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Store } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { type Load, mixedQueries, numbers, sendAll } from "./support/load.ts";
import { type ServedService, serveService } from "./support/served.ts";
import { runCommand } from "../support/command.ts";

const concurrency = 8;
const repeats = 10;
const largeFrom = 200_000;
const slowestMaxMs = 250;

const command = defineCommand({
  meta: {
    name: "bench search",
    description:
      "GET /api/search over HTTP, 8 requests at a time, on a mixed list of queries; with --hostile, one after another: none may fail, none may be slow (promise 15: 100,000)",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    "data-dir": { type: "string", description: "A filled data folder instead of a sample" },
    queries: { type: "string", default: "1000", description: "Different queries" },
    hostile: { type: "string", description: "So many random and hostile searches instead" },
    port: { type: "string", default: "18431", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const dataDir = args["data-dir"];
    const service = await serveService({ dataDir, profiles, port: Number(args.port) });
    try {
      const hostile = args.hostile !== undefined;
      const figures = hostile
        ? await hostileSearches(service, Number(args.hostile))
        : await mixedSearches(service, profiles, Number(args.queries));
      const title = hostile
        ? `Hostile searches, ${profiles} profiles`
        : `Search, ${profiles} profiles, concurrency ${concurrency}`;
      printFigures(title, figures, args.json === true);
    } finally {
      await service.close();
    }
  },
});

async function mixedSearches(
  { store, url, pid }: ServedService,
  profiles: number,
  count: number,
): Promise<Figure[]> {
  const all = await mixedQueries(store, { count: 2 * count, seed: 7 });
  const urls = all.map((query) => `${url}/api/search?${query}`);
  const [warm, fresh] = [urls.slice(0, urls.length / 2), urls.slice(urls.length / 2)];
  await sendAll(warm, { concurrency }); // The engine compiles what runs often.
  const anew = await sendAll(fresh, { concurrency });
  const again = Array.from({ length: repeats }, () => fresh).flat();
  const repeated = await sendAll(again, { concurrency });
  const written = await whileWriting(store, () => sendAll(again, { concurrency }));
  const common = await commonWords(url);
  return [
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
}

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

/** Sends them one after another: what each took is its own. */
async function hostileSearches({ store, url }: ServedService, count: number): Promise<Figure[]> {
  const hostile = hostileQueries(await commonTerms(store));
  const timesMs: number[] = [];
  let failed = 0;
  let slowest = { tookMs: 0, query: "" };
  for (let sent = 0; sent < count; sent++) {
    const query = hostile();
    const startMs = performance.now();
    const response = await fetch(`${url}/api/search?${query}`);
    await response.arrayBuffer();
    const tookMs = performance.now() - startMs;
    if (tookMs > slowest.tookMs) slowest = { tookMs, query };
    timesMs.push(tookMs);
    if (response.status !== 200 && response.status !== 400) failed++;
  }
  const most = slowest.tookMs;
  return [
    {
      what: "answered neither 200 nor 400",
      measured: String(failed),
      asked: "0",
      met: failed === 0,
    },
    {
      what: "p99",
      measured: `${quantile(timesMs, 0.99).toFixed(1)} ms`,
      asked: "no figure asked",
      met: null,
    },
    {
      what: "slowest",
      measured: `${most.toFixed(1)} ms`,
      asked: `≤ ${slowestMaxMs} ms`,
      met: most <= slowestMaxMs,
    },
    { what: `  which was ${slowest.query.slice(0, 120)}`, measured: "", asked: "", met: null },
  ];
}

/** The words that cost most: those that most profiles have. */
async function commonTerms(store: Store) {
  const { rows } = await store.raw.execute(
    "SELECT term FROM search_vocabulary ORDER BY doc DESC LIMIT 300",
  );
  return rows.map(({ term }) => String(term));
}

/** Query strings: common words by the dozen, half words, operators, quotes, other scripts, random bytes. */
function hostileQueries(common: readonly string[]): () => string {
  const random = numbers(3);
  const pick = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;
  const pieces = [
    '"',
    "'",
    "*",
    "(",
    ")",
    "^",
    ":",
    "-",
    "NEAR(",
    "AND",
    "OR",
    "NOT",
    "{name}:",
    "\\",
    "%",
    "\u0000",
    "\uFFFD",
    "水",
    "é",
    "\u{1F30A}",
    "ﷺ",
    "İ",
  ];
  const word = () => {
    const kind = random();
    if (kind < 0.5) return pick(common);
    if (kind < 0.7) return pick(common).slice(0, 1 + Math.floor(random() * 3));
    if (kind < 0.9) return pick(pieces);
    return String.fromCodePoint(32 + Math.floor(random() * 50_000)).toWellFormed();
  };
  return () => {
    const length = random() < 0.01 ? 300 : 1 + Math.floor(random() * 18);
    const text = Array.from({ length }, word).join(random() < 0.8 ? " " : "");
    const params = new URLSearchParams({ q: text, limit: pick(["1", "20", "50"]) });
    if (random() < 0.2) params.set("cause", pick(["education", "health", text]));
    if (random() < 0.2) params.set("country", pick(["US", "Kenya", text]));
    if (random() < 0.2) params.set("offset", String(Math.floor(random() * 45_000)));
    return params.toString();
  };
}

await runCommand(command);
