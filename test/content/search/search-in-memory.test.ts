import type { InArgs } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { openReader } from "#content/search/reader.ts";
import { recordsById } from "#content/nonprofit/records.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { Searcher } from "#content/search/searcher.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { mixedQueries } from "#scripts/bench/support/search-queries.ts";

const profiles = 4_000;
const folder = mkdtempSync(join(tmpdir(), "almoner-postings-"));
const url = `file:${join(folder, "store.db")}`;
let store: Store;
let memory: Searcher;

const none: SearchQuery = {
  q: null,
  cause: null,
  country: null,
  ghd_aligned: false,
  limit: 20,
  offset: 0,
};
const inMemory = async () => {
  const searcher = new Searcher(await openReader(url), { inMemory: true });
  await searcher.loaded;
  return searcher;
};
const foundBy = (searcher: Searcher, query: SearchQuery) =>
  searcher.find(query, ({ total, ids, nonprofits }) => ({
    total,
    ids,
    names: (JSON.parse(new TextDecoder().decode(nonprofits)) as { id: string }[]).map(({ id }) =>
      Number(id),
    ),
  }));
async function byFts(query: SearchQuery) {
  const searcher = new Searcher(store, { inMemory: false });
  const found = await foundBy(searcher, query);
  searcher.close();
  return found;
}

beforeAll(async () => {
  store = await openStore({ url, synchronous: "OFF" });
  await seedDirectory(store, { profiles, seedNumber: 3 });
  memory = await inMemory();
}, 60_000);
afterAll(() => {
  memory.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Words of the directory, common and rare, whole and cut short, phrases, other scripts, operators. */
async function anyText() {
  const { rows } = await store.raw.execute(
    "SELECT term FROM search_vocabulary ORDER BY doc DESC LIMIT 4000",
  );
  const word = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(...rows.slice(0, 150).map((row) => String(row["term"]))),
    },
    { weight: 3, arbitrary: fc.constantFrom(...rows.map((row) => String(row["term"]))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "Women's",
        "co-op",
        '"clean water"',
        "É",
        "水",
        "NOT",
        "St.",
        "u.s.a",
      ),
    },
  );
  const cut = fc.tuple(word, fc.nat({ max: 5 })).map(([text, length]) => text.slice(0, length + 1));
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: word }, { weight: 1, arbitrary: cut }), {
      minLength: 1,
      maxLength: 6,
    })
    .map((words) => words.join(" "));
}

const filters = {
  cause: fc.option(fc.constantFrom("education", "health", "animals", "nothing")),
  country: fc.option(fc.constantFrom("US", "KE", "India", "nowhere")),
  ghd_aligned: fc.boolean(),
  limit: fc.constantFrom(1, 7, 20, 50),
  offset: fc.oneof(fc.constant(0), fc.constantFrom(1, 20, 50, 990, 1_010), fc.nat({ max: 4_100 })),
};

describe("postings in memory", () => {
  test("find what FTS5 finds, in the same order, for the queries of the bench", async () => {
    for (const params of await mixedQueries(store, { count: 300, seed: 5 })) {
      const given = new URLSearchParams(params);
      const query = {
        ...none,
        q: given.get("q"),
        cause: given.get("cause"),
        country: given.get("country"),
      };
      const found = await foundBy(memory, query);
      expect({ query, ...found }).toEqual({ query, ...(await byFts(query)) });
      expect(found.names).toEqual(found.ids);
    }
  }, 120_000);

  test("find what FTS5 finds, in the same order, for any words, filters and page", async () => {
    const queries = fc.record({ q: await anyText(), ...filters });
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        expect({ query, ...(await foundBy(memory, query)) }).toEqual({
          query,
          ...(await byFts(query)),
        });
      }),
      { numRuns: 400 },
    );
  }, 120_000);

  test("find the same after any changes as postings that are read anew", async () => {
    const text = await anyText();
    const changed = fc.record({
      id: fc.integer({ min: 1, max: 400 }),
      change: fc.oneof(
        fc.record({ mission: fc.option(text) }),
        fc.record({ name: text, tagline: text }),
        fc.record({ beneficiaries_per_year: fc.nat({ max: 5_000_000 }) }),
        fc.record({ causes: fc.constantFrom(["health"], ["education", "health"]) }),
        fc.record({ country_code: fc.constantFrom("KE", "US") }),
        fc.record({ status: fc.constantFrom("listed" as const, "withdrawn" as const) }),
      ),
    });
    const queries = fc.array(fc.record({ q: text, ...filters }), { minLength: 12, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(changed, { minLength: 1, maxLength: 8 }),
        queries,
        async (changes, asked) => {
          for (const { id, change } of changes) {
            const [before] = await recordsById(store, [id]);
            if (before === undefined) throw new Error("it was seeded");
            const after = { ...before, ...change } as NonprofitRecord;
            await store.write((tx) =>
              saveNonprofits(tx, [{ before, after }], { origin: "review", now: new Date() }),
            );
          }
          await memory.change(changes.map(({ id }) => ({ id, searched: true })));
          const anew = await inMemory();
          for (const query of asked) {
            const found = await foundBy(memory, query);
            expect({ query, ...found }).toEqual({ query, ...(await foundBy(anew, query)) });
            // FTS5 counts replaced rows in its averages, so only what is found is the same, not its order.
            expect(found.total).toBe((await byFts(query)).total);
          }
          anew.close();
        },
      ),
      { numRuns: 8 },
    );
  }, 240_000);

  test("are read anew when more changed than was told", async () => {
    const searcher = await inMemory();
    expect(await searcher.change(null)).toBeNull();
    const query = { ...none, q: "water" };
    expect(await foundBy(searcher, query)).toMatchObject({ total: (await byFts(query)).total });
    searcher.close();
  });

  test("tell what changed profiles say now", async () => {
    const [words] = (await memory.change([{ id: 401, searched: true }])) ?? [];
    const [record] = await recordsById(store, [401]);
    expect(words?.id).toBe(401);
    for (const word of record?.name.toLowerCase().match(/[a-z]+/g) ?? []) {
      expect(words?.words).toContain(word);
    }
    expect(await memory.change([{ id: 402, searched: false }])).toEqual([]);
  });
});

test("a store that cannot be read into memory is searched through FTS5", async () => {
  const reader = await openReader(url);
  const errors: unknown[] = [];
  const broken = new Searcher(
    {
      db: reader.db,
      raw: {
        execute: (statement: { sql: string; args: InArgs }) =>
          statement.sql.includes("search_instances")
            ? Promise.reject(new Error("no such table"))
            : reader.raw.execute(statement),
      },
    },
    { inMemory: true, onError: (error) => errors.push(error) },
  );
  await broken.loaded;
  expect(errors).toHaveLength(1);
  expect((await foundBy(broken, { ...none, q: "water" })).total).toBeGreaterThan(0);
  broken.close();
  reader.close();
});
