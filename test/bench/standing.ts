import { insertMany } from "#content/store/query.ts";
import { registerRecords, registerScopes } from "#content/store/tables/nonprofits.ts";
import type { Store } from "#content/store/open.ts";
import { type Figure, figure, peakMemoryMb, runBench, serving } from "./support/harness.ts";
import { loadFigures, post, send, wrk } from "./support/load.ts";
import { column, serve } from "./support/serve.ts";

const atOnce = 8;
const batchSize = 1_000;
const rowsAtOnce = 10_000;

const path = (number: string) => `/api/organisations/${number}`;

const listsOf = (filter: string): string[] =>
  Array.from({ length: 50 }, (_, page) => `/api/nonprofits?${filter}limit=20&offset=${20 * page}`);

/** Other reads, to compare with. */
const reads: Readonly<Record<string, readonly string[]>> = {
  "list pages": listsOf(""),
  "list pages of a cause": listsOf("cause=education&"),
  causes: ["/api/causes"],
  statistics: ["/api/stats"],
};

const inventedNumbers = (organisations: number): string[] =>
  Array.from({ length: organisations }, (_, at) =>
    String((at * 7_919_333 + 10_000_000) % 1_000_000_000).padStart(9, "0"),
  );

/** Rows of two registers of the IRS for each of these numbers, without a profile. */
async function addRegisters(store: Store, numbers: readonly string[]): Promise<void> {
  for (let from = 0; from < numbers.length; from += rowsAtOnce) {
    const rows = numbers.slice(from, from + rowsAtOnce).flatMap((number) =>
      ["irs-bmf", "irs-pub78"].map((register) => ({
        org_id: `US-EIN-${number}`,
        register,
        nonprofit_id: null,
        name: `Sample Society ${number}`,
        as_of: "2026-04-14",
        scope: "US",
        state: "registered" as const,
        facts: {
          subsection: "03",
          deductibility: register === "irs-bmf" ? "1" : "PC",
          income: 35_220,
        },
      })),
    );
    await store.write((tx) => insertMany(tx, registerRecords, rows));
  }
  const scopes = ["irs-bmf", "irs-pub78"].map((register) => ({
    register,
    scope: "US",
    as_of: "2026-04-14",
  }));
  await store.write((tx) => insertMany(tx, registerScopes, scopes));
}

await runBench({
  name: "standing",
  description:
    "Standing by register number: one at a time, many at once, and batches of 1,000; list pages, causes and statistics beside it (needs wrk)",
  options: {
    ...serving,
    organisations: [41_000, "Numbers without a profile, two rows each"],
    seconds: [5, "How long the rate is measured"],
  },
  run: async ({ profiles, port, organisations, seconds, folder }) => {
    const invented = inventedNumbers(organisations);
    const prepare = (store: Store) => addRegisters(store, invented);
    await using service = await serve({ folder, profiles, port, prepare });
    const { store, url, pid } = service;
    const listed = await column(
      store,
      "SELECT org_id FROM registrations ORDER BY nonprofit_id LIMIT 20000",
    );
    const numbers = [...invented.slice(0, 20_000), ...listed];
    const requests = numbers.map((number) => ({ path: path(number) }));
    await send(url, requests.slice(0, 2_000), { atOnce });
    const one = await send(url, requests.slice(2_000, 4_000), { atOnce: 1 });
    const paths = requests.slice(4_000).map((request) => request.path);
    const every = await wrk(url, { paths, folder, seconds });
    const some = await wrk(url, { paths: paths.slice(0, 1_000), folder, seconds });
    const compared: Figure[] = [];
    for (const [what, asked] of Object.entries(reads)) {
      await wrk(url, { paths: asked, folder, seconds: 1 });
      const rate = await wrk(url, { paths: asked, folder, seconds });
      compared.push(figure(what, rate, "/s", { least: 15_000 }));
    }
    const batches = Array.from({ length: 20 }, (_, at) =>
      post("/api/organisations/standing", {
        ids: numbers.slice(at * batchSize, (at + 1) * batchSize),
      }),
    );
    const batch = await send(url, batches, { atOnce: 1 });
    const figures: Figure[] = [
      ...loadFigures("one at a time, every number new", one, { p99Ms: 5 }),
      figure(`${paths.length} numbers, over 32 connections`, every, "/s", { least: 10_000 }),
      figure("1,000 numbers, over 32 connections", some, "/s", { least: 10_000 }),
      ...compared,
      ...loadFigures("batch of 1,000", batch, { p99Ms: 100 }),
      figure("most memory of the service", await peakMemoryMb(pid), "MB", { most: 300 }),
    ];
    return { title: `Standing, ${profiles} profiles, ${organisations} other numbers`, figures };
  },
});
