import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { completenessOf, incomeOf, listingsOf, searchRank } from "#content/nonprofit/listing.ts";
import { idsInList } from "#content/nonprofit/list-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { aNonprofit, aRegisterRecord, earning, saveNew, withMoney } from "#test/support/records.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });

const orderOf = (...records: NonprofitRecord[]) => {
  const keys = records.map((record) => {
    const [listing] = listingsOf(record);
    if (listing === undefined) throw new Error("it stands in no list");
    return { name: record.name, ...listing };
  });
  return keys
    .sort((a, b) => a.list_order - b.list_order || (a.tie_key < b.tie_key ? -1 : 1))
    .map(({ name }) => name);
};

describe("the order of lists", () => {
  test("is verified, people reached, completeness, size by register, name", () => {
    expect(
      orderOf(
        aNonprofit({ name: "054 Syndicate Inc" }),
        aNonprofit({ name: "Zoo", ...earning(9_000_000) }),
        aNonprofit({ name: "Aid", ...earning(80_000) }),
        aNonprofit({ name: "None", ...earning(-5) }),
        aNonprofit({ name: "Site", website: "https://site.example" }),
        aNonprofit({ name: "Reach", beneficiaries_per_year: 0 }),
        aNonprofit({ name: "Claimed", verified: 1 }),
        aNonprofit({ name: "Abacus" }),
      ),
    ).toEqual(["Claimed", "Reach", "Site", "Zoo", "Aid", "None", "054 Syndicate Inc", "Abacus"]);
  });

  test("lists no one who was withdrawn", () => {
    expect(listingsOf(aNonprofit({ status: "withdrawn" }))).toEqual([]);
  });
});

test("completeness counts what a reader looks for, not what every register has", () => {
  expect(completenessOf(aNonprofit({ causes: [], city: "Oslo", founded_year: 1990 }))).toBe(0);
  expect(completenessOf(aNonprofit({ mission: "Trees", tagline: "", website: "" }))).toBe(2);
  const metric = { name: "Trees", value: "3", unit: null, period: null };
  const whole = { website: "https://a.example", tagline: "Trees", usdc_wallet: "w" };
  expect(completenessOf(aNonprofit({ ...whole, impact_metrics: [metric] }))).toBe(5);
});

test("the income is the greatest that a register gives, of which its revenue comes first", () => {
  expect(incomeOf(aNonprofit(earning(3, 12)))).toBe(12);
  expect(incomeOf(aNonprofit(withMoney({ income: 99, revenue: -2 }, { income: -3 })))).toBe(-2);
  const whole = aRegisterRecord({ org_id: "GB-NIC-1", register: "ccni", facts: { income: 3 } });
  const selection = { ...whole, register: "ukcat", facts: { income: 12 } };
  expect(incomeOf(aNonprofit({ register_records: [whole, selection] }))).toBe(3);
  expect(incomeOf(aNonprofit())).toBeNull();
});

test("places in the search index say in SQL what the rank says, and follow the list", async () => {
  const drawing = fc.record({
    beneficiaries_per_year: fc.option(fc.nat({ max: 3_000_000 })),
    website: fc.constantFrom("https://a.example", null),
    verified: fc.constantFrom(0 as const, 1 as const),
  });
  const records = fc.array(drawing, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(records, async (drawn) => {
      const stored = await saveNew(store, ...drawn.map((parts) => aNonprofit(parts)));
      const { rows } = await store.raw.execute("SELECT nonprofit_id, place FROM search_places");
      const places = new Map(rows.map((row) => [row["nonprofit_id"], row["place"]]));
      for (const record of stored) {
        const rank = listingsOf(record).map(searchRank)[0] ?? 0;
        expect(places.get(record.id)).toBe(rank * 2 ** 32 + record.id);
        expect(Number.isSafeInteger(rank * 2 ** 32 + record.id)).toBe(true);
      }
    }),
    { numRuns: 8 },
  );
  // Among equals in reach and verification, the index goes through profiles as the list does.
  const equals = await saveNew(
    store,
    aNonprofit({ slug: "bare", name: "Bare" }),
    aNonprofit({ slug: "told", name: "Told", mission: "Rare words", website: "https://b.example" }),
  );
  const [bare, told] = equals.map(({ id }) => id);
  const all = await idsInList(store, "all");
  expect(all.indexOf(told ?? 0)).toBeLessThan(all.indexOf(bare ?? 0));
});
