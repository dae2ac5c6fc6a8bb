import { defineCommand } from "citty";
import { causeIds } from "#content/shapes/cause.ts";
import { intents } from "#content/shapes/recommendation.ts";
import { type Figure, peakMemoryMb, printFigures, quantile } from "./support/figures.ts";
import { numbers } from "./support/search-queries.ts";
import { sendAll, serveService } from "./support/served-service.ts";
import { runCommand } from "../support/command.ts";

const concurrency = 8;
const p99MaxMs = 8;

const command = defineCommand({
  meta: {
    name: "bench recommend",
    description: "GET /api/recommend over HTTP, 8 requests at a time, on mixed donor intents",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    "data-dir": { type: "string", description: "A filled data folder instead of a sample" },
    requests: { type: "string", default: "5000", description: "Requests that are measured" },
    port: { type: "string", default: "18432", description: "Port of the service" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const profiles = Number(args.profiles);
    const service = await serveService({
      dataDir: args["data-dir"],
      profiles,
      port: Number(args.port),
    });
    try {
      const countries = await service.store.raw.execute(
        "SELECT DISTINCT country_code FROM nonprofits WHERE country_code IS NOT NULL LIMIT 30",
      );
      const codes = countries.rows.map((row) => String(row["country_code"]));
      const urls = intentUrls(service.url, codes, Number(args.requests));
      await sendAll(urls.slice(0, urls.length / 4), { concurrency });
      const { timesMs, perSecond } = await sendAll(urls, { concurrency });
      const megabytes = await peakMemoryMb(service.pid);
      const p99 = quantile(timesMs, 0.99);
      const figures: Figure[] = [
        plain("requests", `${perSecond.toFixed(0)} /s`),
        plain("p50", `${quantile(timesMs, 0.5).toFixed(2)} ms`),
        { what: "p99", measured: `${p99.toFixed(2)} ms`, asked: `≤ ${p99MaxMs} ms`, met: p99 <= p99MaxMs }, // prettier-ignore
        plain("most memory of the service", `${megabytes?.toFixed(0) ?? "?"} MB`),
      ];
      printFigures(`Recommend, ${profiles} profiles, concurrency ${concurrency}`, figures, args.json === true); // prettier-ignore
    } finally {
      await service.close();
    }
  },
});

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

/** Every cause, many countries, all intents, wishes in words; drawn with a fixed seed. */
function intentUrls(base: string, countries: readonly string[], count: number): string[] {
  const random = numbers(5);
  const pick = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;
  return Array.from({ length: count }, () => {
    const params = new URLSearchParams({ intent: pick(intents) });
    const kind = random();
    if (kind < 0.6) params.set("q", pick(wishes));
    if (kind > 0.4) params.set("cause", pick(causeIds));
    if (random() < 0.3) params.set("country", pick(countries));
    return `${base}/api/recommend?${params}`;
  });
}

await runCommand(command);
