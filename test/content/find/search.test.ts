import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { theStoreOf, type Searching, searchQuery } from "#test/support/finding.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { searchIn } from "#content/find/search.ts";
import { filtersOf } from "#content/contract/browse.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { anyText } from "#test/support/any-text.ts";

const hostileCharacters = Array.from("\"'*()^:-+{}NEAROTD \\%_\u0000\uD800水é");

const change = (before: NonprofitRecord, parts: Partial<NonprofitRecord>) =>
  store.write(async (tx) => {
    const context = { origin: "test", now: new Date("2026-06-01T12:00:00Z") };
    const after = { ...before, ...parts };
    return (await saveNonprofits(tx, [{ before, after }], context))[0] ?? after;
  });

async function find(query: Searching) {
  const { total, matching, ids } = await searchIn(store)(searchQuery(query));
  return { total, matching, ids, nonprofits: await summariesById(store, ids, "") };
}
const names = async (query: Searching) => (await find(query)).nonprofits.map(({ name }) => name);

// Words that no stemmer touches and none of which begins another.
const vocabulary = ["zak", "bom", "kiv", "dul", "fen", "gorp", "hux", "jat", "lem", "moq"] as const;
const countries = ["KE", "US", "IN"] as const;
const causes = ["education", "health", "animals"] as const;

const store = await theStoreOf(
  aNonprofit({ name: "Clean Water Alliance", mission: "Digging wells" }),
  aNonprofit({ name: "Alliance of Divers", mission: "We keep the water clean" }),
  aNonprofit({ name: "Société Générosité", description: "Libraries kept by volunteers" }),
  aNonprofit({ name: "O'Neil Co-op", tagline: "Women's credit union" }),
  aNonprofit({ name: "Running Communities", mission: "Anonymous running clubs" }),
);
// A crowd large enough for the very common words not to be scored one and all.
const pick = <Value>(values: readonly Value[], at: number): Value =>
  values[at % values.length] as Value;
const crowd = await saveNew(
  store,
  ...Array.from({ length: 2_000 }, (_, at) =>
    aNonprofit({
      name: `Crowd ${pick(vocabulary, at)} ${at}`,
      mission: at % 3 === 0 ? null : `crowded ${pick(vocabulary, at * 7 + 3)}`,
      description: at % 5 === 0 ? `${pick(vocabulary, at * 3 + 1)} plenty` : null,
      country_code: pick(countries, at),
      causes: [pick(causes, Math.floor(at / 3))],
      ghd_aligned: at % 4 === 0 ? 1 : 0,
      verified: at % 11 === 0 ? 1 : 0,
      website: at % 6 === 0 ? null : `https://crowd-${at}.example`,
      usdc_wallet: at % 5 === 0 ? "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" : null,
      beneficiaries_per_year: at % 2 === 0 ? (at * 37) % 10_000 : null,
    }),
  ),
);

describe("search by words", () => {
  test.each([
    [["Clean Water Alliance", "Alliance of Divers"], ["water"]],
    [["Clean Water Alliance"], ["WELLS", "dig", '"clean water"']],
    [["Alliance of Divers"], ['"water clean"']],
    [["Société Générosité"], ["societe generosite", "Sociétés", "librar", "volunteering library"]],
    [["O'Neil Co-op"], ["oneil", "o'neil", "co-op", "womens"]],
    [["Running Communities"], ["runni", "communi", "anony"]],
    [[], ["nothing-has-this"]],
  ])("finds %j by each of %j", async (found, texts) => {
    for (const q of texts) expect([q, await names({ q })]).toEqual([q, found]);
  });

  test.each([1, 5, 50])(
    "puts what has all the words before what has any, with a limit of %p",
    async (limit) => {
      const { total, matching, nonprofits } = await find({ q: "clean divers water", limit });
      expect({ total, matching }).toEqual({ total: 2, matching: 1 });
      const both = ["Alliance of Divers", "Clean Water Alliance"];
      expect(nonprofits.map(({ name }) => name)).toEqual(both.slice(0, limit));
    },
  );

  test.each([
    ["divers water", ["Alliance of Divers"]],
    ["sesquipedal keep water", []],
    ["wells plenty", ["Clean Water Alliance"]],
    // Nobody has the first: the other has to be in the name.
    ["lgbt running", ["Running Communities"]],
    ["lgbt anonymous", []],
  ])("asks for the rarest word where a profile lacks one: %s", async (q, found) => {
    expect(await names({ q })).toEqual(found);
  });

  test("is content with all the words when they fill the page", async () => {
    const { total, nonprofits } = await find({ q: "clean water", limit: 2 });
    expect([total, nonprofits.length]).toEqual([2, 2]);
  });

  test("finds changed words, and no longer those that went", async () => {
    const quondam = aNonprofit({ name: "Quondam", mission: "sesquipedalian" });
    const [before = quondam] = await saveNew(store, quondam);
    let now = before;
    for (const [parts, found] of [
      [{ mission: "perspicacious", verified: 1 }, ["Quondam"]],
      [{ status: "withdrawn" }, []],
      [{ status: "listed" }, ["Quondam"]],
      [{ status: "withdrawn" }, []],
    ] as const) {
      now = await change(now, parts);
      expect(await names({ q: "sesquipedalian" })).toEqual([]);
      expect(await names({ q: "perspicacious" })).toEqual([...found]);
    }
  });
});

/** Which of the crowd has a word, decided without the index. */
const has = (record: NonprofitRecord, word: string) =>
  `${record.name} ${record.mission ?? ""} ${record.description ?? ""}`
    .toLowerCase()
    .split(" ")
    .some((own) => own === word);

const optional = <Value>(...values: Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined });

/** When fewer have all of the words, what is related follows. */
const fewMax = 20;

const anyQuery = fc.record({
  words: fc.uniqueArray(fc.constantFrom(...vocabulary, "plenty"), { maxLength: 3 }),
  cause: optional(...causes),
  country: optional(...countries),
  ghd_aligned: optional("1" as const),
  accepts: optional("usdc" as const),
  has_website: optional("true" as const, "false" as const),
  limit: fc.constantFrom(1, 7, 20, 50),
});

describe("any search", () => {
  test("counts exactly, and its pages hold each match once", async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, async ({ words, ...filters }) => {
        const filtered = crowd.filter((record) => passes(filteredOf(record), filtersOf(filters)));
        const withAll = filtered.filter((record) => words.every((word) => has(record, word)));
        const counts = words.map((word) => crowd.filter((record) => has(record, word)).length);
        const isRarest = (at: number) => counts[at] === Math.min(...counts);
        // No name has two of the words, which would count without the rarest.
        const related = filtered.filter((record) =>
          words.some((word, at) => isRarest(at) && has(record, word)),
        );
        const matching = words.length < 2 || withAll.length >= fewMax ? withAll : related;
        const q = words.length === 0 ? "crowd" : words.join(" ");
        const { total } = await find({ ...filters, q });
        expect(total).toBe(matching.length);
        const ids: number[] = [];
        // Some pages of many: a page's ids depend on nothing but its offset.
        const step = Math.max(filters.limit, Math.ceil(total / 4));
        for (let offset = 0; offset < total; offset += step) {
          const page = await find({ ...filters, q, offset });
          expect(page.total).toBe(total);
          ids.push(...page.ids);
        }
        expect(new Set(ids).size).toBe(ids.length);
        const known = new Set(matching.map(({ id }) => id));
        expect(ids.filter((id) => !known.has(id))).toEqual([]);
      }),
      { numRuns: isFull ? 60 : 20 },
    );
  });

  test.each([
    ["crowd", 2_000],
    ["plenty", 400],
    ["zak crowd", 334],
    ["crowd nobodyhasthis", 2_000],
  ])("%j can be read to the end, page by page", async (q, total) => {
    const ids: number[] = [];
    for (let offset = 0; offset < total + 300; offset += 300) {
      const page = await find({ q, limit: 300, offset });
      expect(page.total).toBe(total);
      ids.push(...page.ids);
    }
    expect([ids.length, new Set(ids).size]).toEqual([total, total]);
  });

  test.each<Searching>([
    { country: "India", cause: "health" },
    { accepts: "usdc" },
    { country: "India", accepts: "usdc", has_website: "true" },
    { country: "India", has_website: "false" },
  ])("without words, by %j, is ordered by impact, then verified, then name", async (query) => {
    const rank = (a: NonprofitRecord, b: NonprofitRecord) =>
      (b.beneficiaries_per_year ?? -1) - (a.beneficiaries_per_year ?? -1) ||
      b.verified - a.verified ||
      (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1);
    const expected = crowd.filter((one) => passes(filteredOf(one), filtersOf(query))).sort(rank);
    const found = await find({ ...query, limit: 50 });
    expect(found.total).toBe(expected.length);
    expect(found.ids).toEqual(expected.slice(0, 50).map(({ id }) => id));
  });

  test("with nothing given holds the whole directory, of an unknown value nothing", async () => {
    const { total } = await find({});
    expect(total).toBe(2_005);
    expect((await find({ has_website: "false", limit: 50 })).total).toBe(339);
    // An unknown value is no error.
    expect((await find({ cause: "nothing", q: "water" })).total).toBe(0);
    expect((await find({ country: "Nowhere" })).total).toBe(0);
  });

  test("takes any text without an error", async () => {
    const hostile = fc.oneof(
      anyText(),
      fc.string({ unit: fc.constantFrom(...hostileCharacters), maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(hostile, fc.nat({ max: 5 }), async (q, offset) => {
        const { total, ids } = await find({ q, offset, limit: 3 });
        expect(ids.length).toBe(Math.max(0, Math.min(3, total - offset)));
      }),
      { numRuns: isFull ? 2_000 : 150 },
    );
  });
});
