import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { Store } from "#content/store/open.ts";
import { randomOf } from "#scripts/seed/numbers.ts";
import {
  type Figure,
  figure,
  peakMemoryMb,
  quantile,
  runBench,
  serving,
} from "./support/harness.ts";
import { loadFigures, post, type Request, send } from "./support/load.ts";
import { mixedQueries, searchOf } from "./support/queries.ts";
import { column, serve, type Served } from "./support/serve.ts";

const atOnce = 8;
const repeats = 10;
const writeEveryMs = 50;

/** The words of a search, asked with a tool. */
const byTool = ({ path }: Request): Request => {
  const q = new URL(path, "http://localhost").searchParams.get("q") ?? "";
  const params = { name: "search_nonprofits", arguments: { q } };
  return post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
};

async function mixedSearches(
  { store, url, pid }: Served,
  { profiles, queries }: { profiles: number; queries: number },
): Promise<Figure[]> {
  const all = await mixedQueries(store, 2 * queries);
  const fresh = all.slice(all.length / 2);
  await send(url, all.slice(0, all.length / 2), { atOnce }); // The engine compiles what runs often.
  const first = await send(url, fresh, { atOnce });
  const again = Array.from({ length: repeats }, () => fresh).flat();
  const repeated = await send(url, again, { atOnce });
  const called = await send(url, again.map(byTool), { atOnce, holds: "structuredContent" });
  const written = await whileWriting(store, () => send(url, again, { atOnce }));
  // One at a time, with a limit that no other asks for: none is answered from memory.
  const words = ["the", "and", "of", "to", "in", "for", "community", "foundation", "a", "co"];
  const common = await send(
    url,
    words.map((q) => searchOf(new URLSearchParams({ q, limit: "19" }))),
    { atOnce: 1 },
  );
  const asked = profiles >= 200_000 ? { p99Ms: 250 } : { perSecond: 600, p50Ms: 15, p99Ms: 60 };
  return [
    ...loadFigures("every query new", first, asked),
    ...loadFigures("repeated", repeated, { perSecond: 5_000, p99Ms: 5 }),
    ...loadFigures("repeated, as calls of a tool", called, { perSecond: 1_000 }),
    ...loadFigures("repeated while another profile is written each 50 ms", written),
    figure("very common words, new, the slowest", Math.max(...common.timesMs), "ms", { most: 40 }),
    figure("most memory of the service", await peakMemoryMb(pid), "MB", { most: 300 }),
  ];
}

/** Rewrites the mission of one profile again and again while `work` goes on. */
async function whileWriting<Value>(store: Store, work: () => Promise<Value>): Promise<Value> {
  let isDone = false;
  const write = async () => {
    let [record] = await recordsById(store, [1]);
    for (let n = 0; !isDone && record !== undefined; n++) {
      const save = {
        before: record,
        after: { ...record, mission: `Quite another mission, the ${n}th` },
      };
      [record] = await store.write((tx) =>
        saveNonprofits(tx, [save], { origin: "review", now: new Date() }),
      );
      await Bun.sleep(writeEveryMs);
    }
  };
  const [value] = await Promise.all([work().finally(() => (isDone = true)), write()]);
  return value;
}

/** Sends them one after another: what each took is its own. */
async function hostileSearches({ store, url }: Served, count: number): Promise<Figure[]> {
  const common = await column(
    store,
    "SELECT term FROM search_vocabulary ORDER BY doc DESC LIMIT 300",
  );
  const hostile = hostileQueries(common);
  const requests = Array.from({ length: count }, hostile);
  const { timesMs } = await send(url, requests, { atOnce: 1, expected: [200, 400] });
  const slowest = Math.max(...timesMs);
  const path = requests[timesMs.indexOf(slowest)]?.path.slice(0, 120) ?? "";
  return [
    figure("p99", quantile(timesMs, 0.99), "ms"),
    figure(`slowest: ${path}`, slowest, "ms", { most: 250 }),
  ];
}

/** Common words by the dozen, half words, operators, quotes, other scripts, random characters. */
function hostileQueries(common: readonly string[]): () => Request {
  const { chance, pick, below } = randomOf(3, 0);
  const pieces = [
    ...`"'*()^:-\\%水éﷺİ`.split(""),
    "NEAR(",
    "AND",
    "OR",
    "NOT",
    "{name}:",
    "\u0000",
    "\uFFFD",
    "\u{1F30A}",
  ];
  const kinds = [
    ...Array.from({ length: 5 }, () => () => pick(common)),
    ...Array.from({ length: 2 }, () => () => pick(common).slice(0, 1 + below(3))),
    ...Array.from({ length: 2 }, () => () => pick(pieces)),
    () => String.fromCodePoint(32 + below(50_000)).toWellFormed(),
  ];
  return () => {
    const length = chance(1) ? 300 : 1 + below(18);
    const text = Array.from({ length }, () => pick(kinds)()).join(chance(80) ? " " : "");
    const params = new URLSearchParams({ q: text, limit: pick(["1", "20", "50"]) });
    if (chance(20)) params.set("cause", pick(["education", "health", text]));
    if (chance(20)) params.set("country", pick(["US", "Kenya", text]));
    if (chance(20)) params.set("offset", String(below(45_000)));
    return searchOf(params);
  };
}

await runBench({
  name: "search",
  description:
    "GET /api/search over HTTP, 8 requests at a time, on a mixed list of queries; with --hostile, one after another: none may fail, none may be slow",
  options: {
    ...serving,
    queries: [1_000, "Different queries"],
    hostile: [0, "The number of random and hostile searches to send instead"],
  },
  run: async ({ profiles, port, queries, hostile, folder }) => {
    await using service = await serve({ folder, profiles, port });
    const figures =
      hostile > 0
        ? await hostileSearches(service, hostile)
        : await mixedSearches(service, { profiles, queries });
    const what = hostile > 0 ? "Hostile searches" : `Search, ${atOnce} at a time`;
    return { title: `${what}, ${profiles} profiles`, figures };
  },
});
