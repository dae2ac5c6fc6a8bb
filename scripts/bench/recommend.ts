import { causeIds } from "#content/contract/cause.ts";
import { intents } from "#content/contract/recommendation.ts";
import { saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import type { Store } from "#content/store/open.ts";
import { randomOf } from "../seed/random.ts";
import { figure, peakMemoryMb, runBench, serving } from "./support/harness.ts";
import { loadFigures, type Request, send } from "./support/load.ts";
import { column, serve } from "./support/serve.ts";

const atOnce = 8;

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

/** Recommends this many profiles, spread over the directory, beside those of the sample. */
async function pickMore(store: Store, curated: number): Promise<void> {
  const ids = await column(
    store,
    `SELECT id FROM nonprofits
     WHERE status <> 'withdrawn' AND id NOT IN (SELECT nonprofit_id FROM curated_picks)
     ORDER BY (id * 7919) % 41011
     LIMIT max(0, ? - (SELECT count(*) FROM curated_picks))`,
    [curated],
  );
  const picks = ids.map((id) => ({
    nonprofit_id: Number(id),
    recommended_for: ["donors interested in what the profile describes", "donors who give locally"],
    why_recommended: "Reports each year what it does and what that costs.",
  }));
  await store.write((tx) => saveCuratedPicks(tx, picks));
}

/** Words that stand in the texts of profiles. */
async function wordsOf(store: Store): Promise<string[]> {
  const missions = await column(
    store,
    "SELECT mission FROM nonprofits WHERE mission IS NOT NULL ORDER BY (id * 7919) % 41011 LIMIT 2000",
  );
  return [...new Set(missions.flatMap((text) => text.toLowerCase().match(/\p{L}{4,}/gu) ?? []))];
}

type Wish = (pick: (texts: readonly string[]) => string) => string;

/** Every cause, many countries, all intents, wishes in words; the same each time. */
function requestsFor(count: number, countries: readonly string[], wish: Wish): Request[] {
  const { pick, below, chance } = randomOf(5, 0);
  return Array.from({ length: count }, () => {
    const params = new URLSearchParams({ intent: pick(intents) });
    const kind = below(10);
    if (kind < 6) params.set("q", wish(pick));
    if (kind >= 4) params.set("cause", pick(causeIds));
    if (chance(30)) params.set("country", pick(countries));
    return { path: `/api/recommend?${params}` };
  });
}

await runBench({
  name: "recommend",
  description:
    "GET /api/recommend over HTTP with telemetry, 8 requests at a time: mixed donor intents that repeat, and intents in ever new words",
  options: {
    ...serving,
    curated: [500, "Recommended profiles"],
    requests: [20_000, "Requests of each kind"],
  },
  run: async ({ profiles, port, curated, requests, folder }) => {
    const prepare = (store: Store) => pickMore(store, curated);
    await using service = await serve({ folder, profiles, port, prepare });
    const { url, pid, store } = service;
    const countries = await column(
      store,
      "SELECT DISTINCT country_code FROM nonprofits WHERE country_code IS NOT NULL LIMIT 30",
    );
    const words = await wordsOf(store);
    const mixed = requestsFor(requests, countries, (pick) => pick(wishes));
    const fresh = requestsFor(1.5 * requests, countries, (pick) =>
      [pick(words), pick(words), pick(words)].join(" "),
    );
    await send(url, fresh.slice(requests), { atOnce });
    const asked = { perSecond: 3_000, p99Ms: 8 };
    const figures = [
      ...loadFigures("mixed", await send(url, mixed, { atOnce }), asked),
      ...loadFigures("new words", await send(url, fresh.slice(0, requests), { atOnce }), asked),
      figure("most memory of the service", await peakMemoryMb(pid), "MB"),
    ];
    const title = `Recommend, ${profiles} profiles, ${curated} curated, ${atOnce} at a time`;
    return { title, figures };
  },
});
