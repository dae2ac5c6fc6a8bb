import type { Store } from "#content/store/open.ts";
import { defineCommand } from "citty";
import { type Figure, printFigures, quantile } from "./support/figures.ts";
import { numbers } from "./support/search-queries.ts";
import { serveService } from "./support/served.ts";
import { runCommand } from "../support/command.ts";

const slowestMaxMs = 250;

const command = defineCommand({
  meta: {
    name: "bench hostile-search",
    description:
      "Random and hostile searches, one after another: none may fail, none may be slow (promise 15: 100,000)",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    "data-dir": { type: "string", description: "A filled data folder instead of a sample" },
    queries: { type: "string", default: "100000", description: "How many" },
    port: { type: "string", default: "18433", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const dataDir = args["data-dir"];
    const service = await serveService({ dataDir, profiles, port: Number(args.port) });
    try {
      const hostile = hostileQueries(await commonWords(service.store));
      const timesMs: number[] = [];
      let failed = 0;
      let slowest = { tookMs: 0, query: "" };
      for (let sent = 0; sent < Number(args.queries); sent++) {
        const query = hostile();
        const startMs = performance.now();
        const response = await fetch(`${service.url}/api/search?${query}`);
        await response.arrayBuffer();
        const tookMs = performance.now() - startMs;
        if (tookMs > slowest.tookMs) slowest = { tookMs, query };
        timesMs.push(tookMs);
        if (response.status !== 200 && response.status !== 400) failed++;
      }
      const most = slowest.tookMs;
      const figures: Figure[] = [
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
      printFigures(`Hostile searches, ${profiles} profiles`, figures, args.json === true);
    } finally {
      await service.close();
    }
  },
});

/** The words that cost most: those that most profiles have. */
async function commonWords(store: Store) {
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
