import { defineCommand } from "citty";
import { causeIds } from "#content/contract/cause.ts";
import { intents } from "#content/contract/recommendation.ts";
import { saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import type { Store } from "#content/store/open.ts";
import { cpuMs, type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { type Load, numbers, sendAll } from "./support/load.ts";
import { serveService } from "./support/served.ts";
import { runCommand } from "../support/command.ts";

const concurrency = 8;
const p99MaxMs = 8;
const perSecondMin = 3_000;
const flushedWithinMs = 2_500;

const command = defineCommand({
  meta: {
    name: "bench recommend",
    description:
      "GET /api/recommend over HTTP with telemetry, 8 requests at a time: mixed donor intents that repeat, and intents in ever new words",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    curated: { type: "string", default: "500", description: "Recommended profiles" },
    "data-dir": { type: "string", description: "A filled data folder instead of a sample" },
    requests: { type: "string", default: "20000", description: "Requests of each kind" },
    port: { type: "string", default: "18432", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const [profiles, curated, requests] = [args.profiles, args.curated, args.requests].map(
      Number,
    ) as [number, number, number];
    const service = await serveService({
      dataDir: args["data-dir"],
      profiles,
      port: Number(args.port),
      prepare: (store) => pickMore(store, curated),
    });
    try {
      const { rows } = await service.store.raw.execute(
        "SELECT DISTINCT country_code FROM nonprofits WHERE country_code IS NOT NULL LIMIT 30",
      );
      const countries = rows.map((row) => String(row["country_code"]));
      const words = await wordsOf(service.store);
      const mixed = intentUrls(service.url, { countries, count: requests, wish: fromList(wishes) });
      const anew = intentUrls(service.url, {
        countries,
        count: 2 * requests,
        wish: inNewWords(words),
      });
      await sendAll(anew.slice(requests, requests + requests / 2), { concurrency });
      await Bun.sleep(flushedWithinMs); // The log is written in batches.
      const before = await loggedCalls(service.store);
      const repeated = await costOf(service.pid, mixed);
      const fresh = await costOf(service.pid, anew.slice(0, requests));
      await Bun.sleep(flushedWithinMs);
      const logged = (await loggedCalls(service.store)) - before;
      const megabytes = await peakMemoryMb(service.pid);
      const figures: Figure[] = [
        ...figuresOf("mixed", repeated),
        ...figuresOf("new words", fresh),
        {
          what: "calls logged",
          measured: `${logged}`,
          asked: `${2 * requests}`,
          met: logged === 2 * requests,
        },
        plain("most memory of the service", `${megabytes?.toFixed(0) ?? "?"} MB`),
      ];
      printFigures(
        `Recommend, ${profiles} profiles, ${curated} curated, concurrency ${concurrency}`,
        figures,
        args.json === true,
      );
    } finally {
      await service.close();
    }
  },
});

/** With the processor time that the service took: what a request costs, however busy the machine is otherwise. */
async function costOf(pid: number, urls: readonly string[]): Promise<Load & { cpuUs: number }> {
  const before = await cpuMs(pid);
  const load = await sendAll(urls, { concurrency });
  return { ...load, cpuUs: (1_000 * ((await cpuMs(pid)) - before)) / urls.length };
}

function figuresOf(of: string, { timesMs, perSecond, cpuUs }: Load & { cpuUs: number }): Figure[] {
  const p99 = quantile(timesMs, 0.99);
  return [
    {
      what: `${of}: requests`,
      measured: `${perSecond.toFixed(0)} /s`,
      asked: `≥ ${perSecondMin} /s`,
      met: perSecond >= perSecondMin,
    },
    plain(`${of}: processor time`, `${cpuUs.toFixed(0)} µs a request`),
    plain(`${of}: p50`, `${quantile(timesMs, 0.5).toFixed(2)} ms`),
    {
      what: `${of}: p99`,
      measured: `${p99.toFixed(2)} ms`,
      asked: `≤ ${p99MaxMs} ms`,
      met: p99 <= p99MaxMs,
    },
  ];
}

/** Recommends this many profiles, spread over the directory, beside those of the sample. */
async function pickMore(store: Store, curated: number): Promise<void> {
  const { rows } = await store.raw.execute({
    sql: `SELECT id FROM nonprofits
          WHERE status <> 'withdrawn' AND id NOT IN (SELECT nonprofit_id FROM curated_picks)
          ORDER BY (id * 7919) % 41011
          LIMIT max(0, ? - (SELECT count(*) FROM curated_picks))`,
    args: [curated],
  });
  const picks = rows.map((row) => ({
    nonprofit_id: Number(row["id"]),
    recommended_for: ["donors interested in what the profile describes", "donors who give locally"],
    why_recommended: "Reports each year what it does and what that costs.",
  }));
  await store.write((tx) => saveCuratedPicks(tx, picks));
}

async function loggedCalls({ raw }: Store): Promise<number> {
  const { rows } = await raw.execute("SELECT count(*) AS calls FROM recommendation_log");
  return Number(rows[0]?.["calls"] ?? 0);
}

/** Words that stand in the texts of profiles. */
async function wordsOf({ raw }: Store): Promise<string[]> {
  const { rows } = await raw.execute(
    "SELECT mission FROM nonprofits WHERE mission IS NOT NULL ORDER BY (id * 7919) % 41011 LIMIT 2000",
  );
  const all = rows.flatMap(
    (row) =>
      String(row["mission"])
        .toLowerCase()
        .match(/\p{L}{4,}/gu) ?? [],
  );
  return [...new Set(all)];
}

const plain = (what: string, measured: string): Figure => ({
  what,
  measured,
  asked: "no figure asked",
  met: null,
});

const wishes = [
  "clean water for villages",
  "help children learn to read",
  "surf therapy for veterans",
  "food for families in winter",
  "mental health of young people",
  "protect the ocean",
  "shelter for animals",
  "girls in science",
  "legal advice for refugees",
  "music lessons",
];

type Wish = (random: () => number) => string;

const fromList =
  (texts: readonly string[]): Wish =>
  (random) =>
    texts[Math.floor(random() * texts.length)] ?? "";

const inNewWords =
  (words: readonly string[]): Wish =>
  (random) =>
    Array.from({ length: 3 }, () => fromList(words)(random)).join(" ");

/** Every cause, many countries, all intents, wishes in words; drawn with a fixed seed. */
function intentUrls(
  base: string,
  { countries, count, wish }: { countries: readonly string[]; count: number; wish: Wish },
): string[] {
  const random = numbers(5);
  const pick = (values: readonly string[]) => fromList(values)(random);
  return Array.from({ length: count }, () => {
    const params = new URLSearchParams({ intent: pick(intents) });
    const kind = random();
    if (kind < 0.6) params.set("q", wish(random));
    if (kind > 0.4) params.set("cause", pick(causeIds));
    if (random() < 0.3) params.set("country", pick(countries));
    return `${base}/api/recommend?${params}`;
  });
}

await runCommand(command);
