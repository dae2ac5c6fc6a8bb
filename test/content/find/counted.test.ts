import { expect, test } from "bun:test";
import { facetNames, type FilterParameters, filtersOf } from "#content/contract/browse.ts";
import { openBrowse } from "#content/find/browse-store.ts";
import { countedIn, searchIn } from "#content/find/search.ts";
import { theStoreOf } from "#test/support/finding.ts";
import { aNonprofit } from "#test/support/records.ts";

const pick = <Value>(values: readonly Value[], at: number): Value =>
  values[at % values.length] as Value;

const records = Array.from({ length: 110 }, (_, at) =>
  aNonprofit({
    slug: `n-${at}`,
    name: `${pick(["Clean Water", "River", "Water School", "Garden"], at)} ${at}`,
    mission: pick(["We dig wells.", "Clean schools for all.", null], at),
    country_code: pick(["KE", "US", "US", "GB", null], at),
    region: pick(["Hawaii", "São Paulo", "Sao Paulo", null, "New York"], at * 3),
    city: pick(["Hilo", "New York", null, "Hawaii"], at * 7),
    causes: pick([["education"], ["health", "education"], []], at),
    usdc_wallet: at % 5 === 0 ? "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" : null,
    website: at % 4 === 0 ? `https://n-${at}.example` : null,
    status: at % 37 === 0 ? "withdrawn" : "listed",
  }),
);
const store = await theStoreOf(...records);
const search = searchIn(store);

// All of the words, some of them, a slip of the hand, a place, a cause, a number, one result, none, and no words.
type Asked = FilterParameters & { q: string | null; literal?: true };
const words = [
  "water",
  "clean water",
  "clean garden",
  "clan watr",
  "water hilo",
  "schools in kenya",
  "river 41",
  "wells health hawaii",
  "zzzz",
  "water new york",
  "garden reno",
];
const questions: readonly Asked[] = [
  ...words.map((q) => ({ q })),
  { q: "clean water", literal: true },
  { q: null },
  { q: "water", country: "US" },
  { q: "clean school", cause: "education", region: "Hawaii" },
  { q: "clean garden", accepts: "usdc", has_website: "true" },
  { q: null, region: "new york" },
  { q: "clean garden", city: "hilo", income: "unknown" },
];

test.each(questions)("%j: each value gives as many results as it says", async (parts) => {
  const { q, literal = false, ...asked } = parts;
  const filters = filtersOf(asked);
  const query = { q, filters, literal, limit: 20, offset: 0 };
  const counts = await countedIn(search, openBrowse(store))(query);
  for (const facet of facetNames) {
    for (const { value, count } of counts?.[facet] ?? []) {
      const narrowed = { ...query, filters: { ...filters, [facet]: value }, steady: true } as const;
      const { total, ids } = await search(narrowed);
      expect([facet, value, total, ids.length]).toEqual([facet, value, count, Math.min(count, 20)]);
    }
  }
  if (q === "clean water") expect(counts?.cause.length).toBeGreaterThan(1);
});
