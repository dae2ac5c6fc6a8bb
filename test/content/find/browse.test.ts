import { beforeEach, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  browseParams,
  browseQuery,
  facetNames,
  type FilterName,
  type Filters,
  givenFilters,
  incomeBandIds,
  listSorts,
  noFilters,
} from "#content/contract/browse.ts";
import { browseColumns } from "#content/find/browse-columns.ts";
import { type Browse, openBrowse } from "#content/find/browse-store.ts";
import { type Search, searchIn } from "#content/find/search.ts";
import {
  filteredOf,
  incomeBand,
  passes,
  facetsAnswer,
  facetValueName,
} from "#content/nonprofit/filters.ts";
import { incomeOf, listingsOf } from "#content/nonprofit/listing.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { fold } from "#content/nonprofit/text.ts";
import { openStore } from "#content/store/open.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit, earning, saveNew, withMoney } from "#test/support/records.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const store = forEachTest(() => openStore({ url: ":memory:" }));
let browse: Browse;
let search: Search;
beforeEach(() => {
  browse = openBrowse(store);
  search = searchIn(store);
});

const context = { origin: "seed", now: new Date("2026-06-01T12:00:00Z") };
const save = (after: NonprofitRecord, before: NonprofitRecord | null = null) =>
  store.write(async (tx) => {
    const [saved] = await saveNonprofits(tx, [{ before, after }], context);
    if (saved === undefined) throw new Error("nothing was saved");
    return saved;
  });

/** Every other record, of a whole register, with that of an older selection, which does not count. */
const inTwoRegisters = (record: RegisterRecord, at: number): RegisterRecord[] =>
  at % 2 === 0
    ? [record]
    : [
        { ...record, register: "ccni" },
        { ...record, register: "ukcat", facts: { income: 20_000_000 } },
      ];

const some = <Value>(...values: Value[]) => fc.constantFrom(...values);
const drawn = fc
  .record({
    name: some("Alpha", "Beta", "054 Syndicate", "Ägir"),
    causes: fc.subarray(["health", "education", "water-sanitation"]),
    country_code: some("US", "KE", null),
    region: some("Hawaii", "hawaii", "Nevada", null),
    city: some("Hilo", "São Paulo", "sao paulo", null),
    verified: some<0 | 1>(0, 1),
    ghd_aligned: some<0 | 1>(0, 1),
    usdc_wallet: some("wallet", null),
    website: some("https://a.example", "", null),
    beneficiaries_per_year: some(0, 7, null),
    status: some<"listed" | "withdrawn">("listed", "listed", "listed", "withdrawn"),
    money: fc.subarray([
      { income: -3 },
      { income: 9_999 },
      { income: 500_000_000, revenue: 10_000 },
      { income: 2_000_000 },
    ]),
  })
  .map(({ money, ...parts }) => ({ ...parts, ...withMoney(...money) }))
  .map((parts) => ({ ...parts, register_records: parts.register_records.flatMap(inTwoRegisters) }));

const asked: fc.Arbitrary<Filters> = fc.record({
  cause: some(null, null, "health", "Education ", "none", "nothing"),
  country: some(null, null, "us", "Kenya", "Nowhere"),
  region: some(null, null, null, "HAWAII", "Nevada"),
  city: some(null, null, null, "sao paulo", "Hilo"),
  claimed: some(null, null, null, "true", "false"),
  accepts: some(null, null, null, "usdc"),
  has_website: some(null, null, null, "true", "false"),
  income: some(null, null, null, ...incomeBandIds),
  ghd_aligned: some(null, null, null, "1"),
});

/** The same filters, one nonprofit after another. */
const passesPlainly: Record<FilterName, (n: NonprofitRecord, value: string) => boolean> = {
  cause: (n, value) =>
    value === "none"
      ? n.causes.length === 0
      : n.causes.some((cause) => cause === value.trim().toLowerCase()),
  country: (n, value) => n.country_code === { us: "US", US: "US", Kenya: "KE", KE: "KE" }[value],
  region: (n, value) => n.region !== null && fold(n.region) === fold(value),
  city: (n, value) => n.city !== null && fold(n.city) === fold(value),
  claimed: (n, value) => String(n.verified === 1) === value,
  accepts: (n) => n.usdc_wallet !== null,
  has_website: (n, value) => String(n.website !== null && n.website !== "") === value,
  income: (n, value) => incomeBand(incomeOf(n)) === value,
  ghd_aligned: (n) => n.ghd_aligned === 1,
};
const matching = (records: readonly NonprofitRecord[], filters: Filters) =>
  records.filter(
    (record) =>
      record.status !== "withdrawn" &&
      givenFilters(filters).every(([name, value]) => passesPlainly[name](record, value)),
  );

test("counts, facets and pages are those of a plain filter, also after changes", async () => {
  const tagline = "Shared words";
  const first = fc.sample(drawn, { seed: 7, numRuns: 30 });
  const records = await saveNew(store, ...first.map((parts) => aNonprofit({ ...parts, tagline })));
  await fc.assert(
    fc.asyncProperty(
      drawn,
      fc.nat(),
      asked,
      some(...listSorts),
      async (parts, at, filters, sort) => {
        const before = at % 3 === 0 ? records[at % records.length] : undefined;
        if (before === undefined) records.push(await save(aNonprofit({ ...parts, tagline })));
        else {
          const after = { ...before, ...parts };
          records[records.indexOf(before)] = await save(after, before);
        }

        const expected = matching(records, filters);
        const whole = await browse.page({ filters, sort, limit: 1_000, offset: 0 });
        const ids = expected.map(({ id }) => id);
        const sorted = (found: readonly number[]) => found.toSorted((a, b) => a - b);
        expect([whole.total, sorted(whole.ids)]).toEqual([expected.length, sorted(ids)]);

        // The same filters mean the same in a search, with words or none, and in a recommendation.
        for (const q of [null, "shared"]) {
          const found = await search({ q, filters, literal: false, limit: 1_000, offset: 0 });
          expect([q, found.total, sorted(found.ids)]).toEqual([q, whole.total, sorted(ids)]);
        }
        const listed = records.filter(({ status }) => status === "listed");
        expect(listed.filter((record) => passes(filteredOf(record), filters))).toEqual(expected);

        for (const name of facetNames) {
          for (const { value, count } of whole.facets[name]) {
            const narrowed = matching(records, { ...filters, [name]: value });
            expect([name, value, count]).toEqual([name, value, narrowed.length]);
          }
          const others = matching(records, { ...filters, [name]: null });
          const counted = whole.facets[name].reduce((sum, { count }) => sum + count, 0);
          if (name === "claimed" || name === "income") expect(counted).toBe(others.length);
        }

        const page = await browse.page({ filters, sort, limit: 3, offset: 2 });
        expect(page.ids).toEqual(whole.ids.slice(2, 5));
      },
    ),
    { numRuns: isFull ? 120 : 30 },
  );
});

describe("the order", () => {
  const named = async (sort: (typeof listSorts)[number], filters: Filters = noFilters) => {
    const { ids } = await browse.page({ filters, sort, limit: 10, offset: 0 });
    return (await summariesById(store, ids, "")).map(({ name }) => name);
  };
  beforeEach(async () => {
    await saveNew(
      store,
      aNonprofit({ name: "Small", ...earning(5) }),
      aNonprofit({ name: "Abacus" }),
      aNonprofit({ name: "Great", ...earning(5_000_000) }),
      aNonprofit({ name: "Told", mission: "Trees", website: "https://t.example" }),
      aNonprofit({ name: "Claimed", verified: 1 }),
    );
  });

  test("is the usual one, by income, by completeness, or by name", async () => {
    const usual = ["Claimed", "Told", "Great", "Small", "Abacus"];
    expect(await named("relevance")).toEqual(usual);
    expect(await named("relevance", { ...noFilters, claimed: "false" })).toEqual(usual.slice(1));
    expect(await named("relevance", { ...noFilters, cause: "education" })).toEqual(usual);
    expect(await named("income")).toEqual(["Great", "Small", "Abacus", "Told", "Claimed"]);
    expect(await named("completeness")).toEqual(["Told", "Great", "Small", "Abacus", "Claimed"]);
    expect(await named("name")).toEqual(["Abacus", "Claimed", "Great", "Small", "Told"]);
  });

  test("goes on beyond the end, and in an empty directory", async () => {
    const beyond = { filters: noFilters, sort: "income", limit: 10, offset: 99 } as const;
    expect(await browse.page(beyond)).toMatchObject({ total: 5, ids: [] });
    using empty = await openStore({ url: ":memory:" });
    expect(await openBrowse(empty).page(beyond)).toMatchObject({ total: 0, ids: [] });
  });
});

test("long lists are walked, to the same pages", async () => {
  const many = Array.from({ length: 60 }, (_, at) =>
    aNonprofit({
      name: `N ${(at * 7) % 60}`,
      city: at % 5 === 0 ? null : "Hilo",
      beneficiaries_per_year: at % 7,
    }),
  );
  const saved = await saveNew(store, ...many);
  const inHilo = saved.filter(({ city }) => city !== null);
  const filters = { ...noFilters, city: "Hilo" };
  const at = { limit: 5, offset: 33 };
  const walking = openBrowse(store, { sortedMax: 10 });
  const keyed = inHilo.flatMap((one) => {
    const [listing] = listingsOf(one);
    return listing === undefined ? [] : [{ id: one.id, ...listing }];
  });
  const nameOf = ({ tie_key }: { tie_key: string }) => fold(tie_key.slice(6));
  const byName = keyed.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const { ids } = await walking.page({ filters, sort: "name", ...at });
  expect(ids).toEqual(byName.slice(33, 38).map(({ id }) => id));
  const usual = keyed.toSorted(
    (a, b) => a.list_order - b.list_order || (a.tie_key < b.tie_key ? -1 : 1),
  );
  const page = await walking.page({ filters, sort: "relevance", ...at });
  expect(page.ids).toEqual(usual.slice(33, 38).map(({ id }) => id));
});

test("a list has the counts of its filter", async () => {
  await save(aNonprofit({ city: "Hilo" }));
  await save(aNonprofit({ city: "Oslo", country_code: "NO", causes: [] }));
  expect((await browse.facetsOf("cause:education")).city).toEqual([{ value: "Hilo", count: 1 }]);
  expect((await browse.facetsOf("country:NO")).city).toEqual([{ value: "Oslo", count: 1 }]);
  expect((await browse.facetsOf("all")).city).toHaveLength(2);
});

test("a question is read from its parameters and written as them", () => {
  const query = browseQuery({ claimed: "true", city: "Hilo", sort: "name", limit: 5, offset: 0 });
  expect(query.filters).toEqual({ ...noFilters, claimed: "true", city: "Hilo" });
  expect(browseParams(query).toString()).toBe("city=Hilo&claimed=true&sort=name");
  const usual = browseQuery({ limit: 5, offset: 0 });
  expect([usual.sort, browseParams(usual).toString()]).toEqual(["relevance", ""]);
  // Words that objects know of themselves are values like others.
  for (const city of ["constructor", "__proto__", "toString"])
    expect(browseQuery({ city, limit: 1, offset: 0 }).filters.city).toBe(city);
});

test("facets name values, and put incomes in rising order; an unknown value is its own name", async () => {
  await save(aNonprofit({ ...earning(2_000_000), usdc_wallet: "w" }));
  await save(aNonprofit({ ...earning(3_000_000) }));
  await save(aNonprofit({ ...earning(0) }));
  await save(aNonprofit());
  const facets = facetsAnswer(await browse.facetsOf("all"));
  expect(facets.income.map(({ name, count }) => [name, count])).toEqual([
    ["No income", 1],
    ["1 to 10 million", 2],
    ["Not known", 1],
  ]);
  expect(facets.country).toEqual([{ value: "KE", name: "Kenya", count: 4 }]);
  expect(facets.accepts).toEqual([{ value: "usdc", name: "Takes gifts in USDC", count: 1 }]);
  expect(facets.cause).toEqual([{ value: "education", name: "Education", count: 4 }]);
  for (const facet of facetNames) expect(facetValueName(facet, "XQ")).toBe("XQ");
});

test("more ids than were expected are counted as well", () => {
  const columns = browseColumns(2);
  const row = { causes: ["health"], country_code: "KE", region: null, city: null };
  const flags = {
    isListed: true,
    claimed: false,
    has_wallet: false,
    has_website: true,
    ghd_aligned: false,
  };
  for (const id of [1, 7, 3, 40]) {
    columns.set({ id, ...row, ...flags, income: id * 1_000, standing: 9 });
  }
  expect(columns.ids({ ...noFilters, country: "Kenya" })).toEqual([1, 3, 7, 40]);
  expect(columns.sorted([1, 3, 7, 40], "income", 2)).toEqual([40, 7]);
});
