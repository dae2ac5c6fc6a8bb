import { describe, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import * as fc from "fast-check";
import { EncodedBody } from "#api/http/encoded-body.ts";
import { answersWith, cachedAnswers, openSearch } from "#api/search/engine.ts";
import { openPool } from "#api/search/pool.ts";
import { filtersOf, noFilters } from "#content/contract/browse.ts";
import { SearchAnswer, type SearchQuery, unfiltered } from "#content/contract/search.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { findProfiles } from "#content/find/answer.ts";
import { searchIn } from "#content/find/search.ts";
import type { Store } from "#content/store/open.ts";
import { watchChanges } from "#content/feed/store.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService } from "#test/support/service.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const answersHere = (store: Store) =>
  answersWith(findProfiles({ store, search: searchIn(store), baseUrl: "https://almoner.example" }));

const shared = await theService({
  records: Array.from({ length: 60 }, (_, at) =>
    aNonprofit({
      name: `Harbour ${at} ${at % 2 === 0 ? "lantern" : "anchor"}`,
      causes: [at % 3 === 0 ? "health" : "education"],
      country_code: at % 4 === 0 ? "US" : "KE",
      beneficiaries_per_year: at,
    }),
  ),
});

const answer = async (query: string) =>
  SearchAnswer.parse(await shared.json(`/api/search?${query}`));

describe("GET /api/search", () => {
  test("says what an unknown value is near", async () => {
    expect(await answer("q=lantern&country=Kenja")).toMatchObject({
      total: 0,
      exact: false,
      note: 'No country "Kenja" is known here. The nearest: Kenya.',
    });
  });

  test("answers both shapes of the contract in one object", async () => {
    const asked = { q: "lantern", cause: "health", country: "us" };
    const body = await answer(`${new URLSearchParams(asked)}&ghd_aligned=0&limit=2`);
    const place = { near: null, within_km: null };
    const read = { ...noFilters, ...place, ...asked, ghd_aligned: false, literal: false };
    expect<object>(body.query).toEqual(read);
    expect(body.results).toEqual(body.nonprofits);
    expect(body).toMatchObject({ count: 2, total: 5, limit: 2, offset: 0, prev: null });
    expect(body.next).toBe(
      "https://almoner.example/api/search?q=lantern&cause=health&country=us&limit=2&offset=2",
    );
  });

  test("holds 20 unless asked, 50 at most, and leads on and back", async () => {
    for (const [query, count] of Object.entries({ "": 20, "&limit=999": 50 }))
      expect((await answer(`q=harbour${query}`)).count).toBe(count);
    const last = await answer("q=harbour&limit=7&offset=56");
    expect([last.next, last.prev]).toEqual([null, expect.stringContaining("offset=49")]);
  });

  test("answers 304 to a client that has the page", async () => {
    const first = await shared.get("/api/search?q=anchor");
    const etag = first.headers.get("etag") ?? "";
    const known = { "if-none-match": etag };
    expect((await shared.get("/api/search?q=anchor", known)).status).toBe(304);
  });
});

const queries: SearchQuery[] = ["zak", "bom zak", "cro", null].flatMap((q) =>
  [null, "health"].flatMap((cause) =>
    [null, "KE"].map((country) => ({
      q,
      filters: { ...noFilters, cause, country },
      literal: false,
      limit: 3,
      offset: 0,
    })),
  ),
);

describe("answers that are kept", () => {
  const service = forEachTest(aService);

  test("are always what a new search would find, whatever is written", async () => {
    const words = fc.constantFrom("zak", "bom", "kiv", "crowd", "dul");
    const write = fc.record({
      at: fc.nat({ max: 19 }),
      change: fc.oneof(
        fc.record({ mission: fc.option(words) }),
        fc.record({ name: words }),
        fc.record({ beneficiaries_per_year: fc.nat({ max: 50 }) }),
        fc.record({ causes: fc.constantFrom(["health"], ["education"], ["education", "health"]) }),
        fc.record({ country_code: fc.constantFrom("KE", "US") }),
        fc.record({ city: words }),
        fc.record({ verified: fc.constantFrom(0, 1) }),
        fc.record({ status: fc.constantFrom("listed" as const, "withdrawn" as const) }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 6, maxLength: 9 }), async (writes) => {
        using fresh = await aService();
        const { store, context } = fresh;
        const engine = context.search;
        const made = await fresh.add(
          ...Array.from({ length: 20 }, (_, n) => aNonprofit({ name: `zak ${n}` })),
        );
        for (const { at, change } of writes) {
          for (const query of queries) await engine.find(query);
          await fresh.change(made[at]?.slug ?? "", change as Partial<NonprofitRecord>);
          for (const query of queries) {
            const { total, matching, count, nonprofits, understood, exact, note } = answerOf(
              await engine.find(query),
            );
            const ids = nonprofits.map((one) => Number(one.id));
            const found = { query, total, matching, ids, understood, exact, note };
            expect(found).toEqual({ query, ...(await searchIn(store)(query)) });
            expect(count).toBe(ids.length);
          }
        }
      }),
      { numRuns: isFull ? 50 : 1 },
    );
  });

  test("stay until something changes, and one search serves all who ask at once", async () => {
    const { store } = service;
    const asked: (string | null)[] = [];
    const answerHere = answersHere(store);
    const find = cachedAnswers(watchChanges(store), (query, version) => {
      asked.push(query.q);
      return answerHere(query, version);
    });
    await service.add(aNonprofit({ slug: "lantern", name: "Lantern" }));
    const query = lanterns;
    await Promise.all([find(query), find(query)]);
    await find(query);
    expect(asked).toEqual(["lantern"]);
    await service.change("lantern", { name: "Anchor" });
    expect(answerOf(await find(query)).total).toBe(0);
    expect(asked).toEqual(["lantern", "lantern"]);
  });

  test("of a thousand different searches of 12 kB each are all kept", async () => {
    const half = new TextEncoder().encode(JSON.stringify("x".repeat(12_000)));
    let asked = 0;
    const find = cachedAnswers(watchChanges(service.store), async () => {
      asked++;
      return new EncodedBody([half, half], "application/json");
    });
    const different = Array.from({ length: 1_000 }, (_, n) => ({ ...anyQuery, q: `word ${n}` }));
    for (const query of [...different, ...different]) await find(query);
    expect(asked).toBe(1_000);
  });

  test("are let go of when something changed", async () => {
    const find = cachedAnswers(watchChanges(service.store), async () => new EncodedBody("x", "x"));
    const kept: WeakRef<EncodedBody>[] = [];
    for (let n = 0; n < 50; n++)
      kept.push(new WeakRef(await find({ ...anyQuery, q: `word ${n}` })));
    await service.add(aNonprofit({ name: "Lantern" }));
    await find({ ...anyQuery, q: "another" });
    await Bun.sleep(0); // A target lives until the turn in which it was looked at ends.
    Bun.gc(true);
    // The collector may take a value on the stack for one of them.
    expect(kept.filter((one) => one.deref() !== undefined).length).toBeLessThan(10);
  });
});

const anyQuery = { ...unfiltered, limit: 5, offset: 0 };
const lanterns = { ...anyQuery, q: "lantern", limit: 1 };

test("a thread of its own finds the same", async () => {
  const { store, context } = shared;
  const pooled = openSearch(store, watchChanges(store), {
    databaseUrl: context.config.databaseUrl,
    baseUrl: context.config.baseUrl,
    threads: 1,
  });
  const query = { ...lanterns, filters: filtersOf({ country: "KE" }), limit: 9, offset: 3 };
  expect(answerOf(await pooled.find(query))).toEqual(answerOf(await context.search.find(query)));
  await pooled.close();
});

const answerOf = ({ body }: EncodedBody) =>
  SearchAnswer.parse(JSON.parse(new TextDecoder().decode(body)));

test("while no file can be opened, a search is refused, and the process lives on", async () => {
  const child = "ulimit -n 64; exec bun test/support/no-descriptors-child.ts";
  const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", child]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout.toString())).toEqual([
    expect.stringContaining("More searches are waiting"),
    expect.stringContaining("/nowhere/at/all"),
  ]);
});

test("while no file can be opened for a second thread, the first one answers", async () => {
  const { openSync } = fs;
  let opened = 0;
  using _ = spyOn(fs, "openSync").mockImplementation((path, flags) => {
    if (++opened > 32) throw new Error("EMFILE");
    return openSync(path, flags);
  });
  const pool = openPool({ url: "file:/nowhere/at/all/store.db", threads: 2 });
  const [outcome] = await Promise.allSettled([pool.search(lanterns, 0)]);
  expect(outcome?.status === "rejected" && String(outcome.reason)).toContain("/nowhere/at/all");
  await pool.close();
});

test("a search that a thread cannot do is an error of that search alone", async () => {
  const pool = openPool({ url: "file:/nowhere/at/all/store.db", threads: 1 });
  const [outcome] = await Promise.allSettled([pool.search(lanterns, 0)]);
  expect(outcome?.status).toBe("rejected");
  await pool.close();
});
