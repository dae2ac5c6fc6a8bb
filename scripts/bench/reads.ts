import { type Figure, figure, peakMemoryMb, runBench, serving } from "./support/harness.ts";
import { needTools, wrk } from "./support/load.ts";
import { serve } from "./support/serve.ts";

const perSecondMin = 15_000;

const pagesOf = (filter: string): string[] =>
  Array.from({ length: 50 }, (_, page) => `/api/nonprofits?${filter}limit=20&offset=${20 * page}`);

const kinds: Record<string, readonly string[]> = {
  "list pages": pagesOf(""),
  "list pages of a cause": pagesOf("cause=education&"),
  causes: ["/api/causes"],
  statistics: ["/api/stats"],
};

await runBench({
  name: "reads",
  description: "List pages, causes and statistics from the service alone (needs wrk)",
  options: { ...serving, seconds: [5, "How long each kind is asked for"] },
  run: async ({ profiles, port, seconds, folder }) => {
    needTools("wrk");
    await using service = await serve({ folder, profiles, port });
    const figures: Figure[] = [];
    for (const [what, paths] of Object.entries(kinds)) {
      await wrk(service.url, { paths, folder, seconds: 1 });
      const rate = await wrk(service.url, { paths, folder, seconds });
      figures.push(figure(what, rate, "/s", { least: perSecondMin }));
    }
    const memory = await peakMemoryMb(service.pid);
    figures.push(figure("most memory of the service", memory, "MB", { most: 300 }));
    return { title: `Reads, ${profiles} profiles, 32 connections`, figures };
  },
});
