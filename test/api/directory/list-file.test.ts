import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { listen } from "#api/http/listen.ts";
import { NonprofitList } from "#content/contract/nonprofit.ts";
import { fileRowsMax } from "#content/contract/operations/list-file.ts";
import { SearchAnswer } from "#content/contract/search.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService } from "#test/support/service.ts";

const hostile = ["=1+1", "+2", "-x", "@y", '"quoted"', "a, b; c", "line\nfeed", "Ünï — 水"];
const count = 203;
const numbers = ["US-EIN-530196605", "GB-CHC-1089464"].map((org_id) => ({
  country_code: org_id.slice(0, 2),
  type: "Number",
  org_id,
  registration_number: org_id.slice(7),
}));
const service = await theService({
  records: Array.from({ length: count }, (_, at) =>
    aNonprofit({
      slug: `harbour-${at}`,
      name: `Harbour ${at}`,
      tagline: hostile[at % 50] ?? null,
      causes: at % 2 === 0 ? ["health", "education"] : [],
      country_code: at % 20 === 0 ? "US" : "KE",
      beneficiaries_per_year: at,
      registrations: at === 0 ? numbers : [],
    }),
  ),
});

const textOf = async (path: string) => (await service.get(path)).text();
const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });
const linesOf = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** A value as its cell has it, when the apostrophes that stand before formulas are taken off. */
const cell = (value: unknown): string =>
  Array.isArray(value) ? value.join("; ") : String(value ?? "");
const undefused = (text: string): string => text.replace(/^'(?=[=+\-@])/, "");

async function allPages(path: string, shape: typeof NonprofitList | typeof SearchAnswer) {
  const found: Record<string, unknown>[] = [];
  for (let next: string | null = path; next !== null;) {
    const page: { next: string | null; nonprofits: object[] } = shape.parse(
      await service.json(next),
    );
    found.push(...page.nonprofits.map((one) => ({ ...one })));
    next = page.next?.replace("https://almoner.example", "") ?? null;
  }
  return found;
}

describe("a whole list as a file", () => {
  test.each([
    ["/api/nonprofits?country=us&sort=name&limit=5", NonprofitList],
    ["/api/nonprofits?cause=education&sort=income&limit=100", NonprofitList],
    ["/api/search?q=harbour+7&limit=50", SearchAnswer],
    ["/api/search?country=KE&limit=50&offset=30", SearchAnswer],
    ["/api/search?near=02903&limit=50", SearchAnswer],
  ] as const)("has the rows of all pages together: %s", async (path, shape) => {
    const items = await allPages(path, shape);
    const whole = path.replace(/&?limit=\d+/, "");
    const csv = await service.get(`${whole}&format=csv`);
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const text = await csv.text();
    expect(text.split("\r\n").at(-1)).toBe("");
    const rows = rowsOf(text);
    const names = Object.keys(rows[0] ?? {});
    const cells = (one: Readonly<Record<string, unknown>>) =>
      names.map((name) => undefused(cell(one[name])));
    expect(rows.map(cells)).toEqual(items.map((item) => names.map((name) => cell(item[name]))));
    const ndjson = await service.get(`${whole}&format=ndjson`);
    expect(ndjson.headers.get("content-type")).toBe("application/ndjson; charset=utf-8");
    expect(linesOf(await ndjson.text())).toEqual(items);
  });

  test("says what it is called, how many match, and that its form may be chosen", async () => {
    const { headers } = await service.get("/api/nonprofits?format=csv&country=US");
    for (const [name, value] of [
      ["content-disposition", 'attachment; filename="nonprofits.csv"'],
      ["x-total-count", "11"],
      ["x-truncated", null],
      ["vary", "Accept"],
    ] as const)
      expect(headers.get(name)).toBe(value);
    expect(headers.get("access-control-expose-headers")).toContain("X-Total-Count");
    for (const path of ["/api/nonprofits", "/api/search?q=harbour"])
      expect((await service.get(path)).headers.get("vary")).toBe("Accept, Accept-Encoding");
  });

  test("has a header and no row where nothing matches", async () => {
    const path = "/api/search?q=nothing-like-it&format=csv&fields=slug,name";
    expect(await textOf(path)).toBe("slug,name\r\n");
    const lines = await service.get("/api/nonprofits?country=Nowhere&format=ndjson");
    expect([lines.status, await lines.text()]).toEqual([200, ""]);
    expect(lines.headers.get("x-total-count")).toBe("0");
  });

  test("has what fields name, in that order, and the numbers of registers when they are asked for", async () => {
    const path = "/api/nonprofits?sort=name&limit=2";
    const rows = (await textOf(`${path}&format=csv&fields=country,slug,identifiers`)).split("\r\n");
    expect(rows.slice(0, 2)).toEqual([
      "country,slug,identifiers",
      'United States,harbour-0,"US-EIN-530196605; GB-CHC-1089464"',
    ]);
    expect(linesOf(await textOf(`${path}&format=ndjson&fields=slug,identifiers`))).toEqual([
      { slug: "harbour-0", identifiers: ["US-EIN-530196605", "GB-CHC-1089464"] },
      { slug: "harbour-1", identifiers: [] },
    ]);
  });

  test.each([
    ["/api/nonprofits?q=harbour&format=csv", "q", "GET /api/search takes it."],
    ["/api/nonprofits?near=02903&format=ndjson", "near", "GET /api/search takes it."],
    ["/api/search?sort=name&format=csv", "sort", "GET /api/nonprofits takes it."],
    ["/api/nonprofits?contry=KE", "contry", "The nearest: country."],
  ])("%s is refused: a file cannot name what it ignores", async (path, parameter, detail) => {
    const refusal = await service.json(path, { accept: "text/csv" });
    const code = "unknown_parameter";
    expect(refusal).toMatchObject({ code, parameter, detail: expect.stringContaining(detail) });
    expect((await service.get(path.replace(/format=\w+/, "utm_source=x"))).status).toBe(200);
  });

  test("refuses a field that no item has, and names the nearest", async () => {
    for (const path of [
      "/api/nonprofits?format=csv&fields=websit",
      "/api/search?q=harbour&fields=slug,nam",
      "/api/nonprofits/harbour-0?fields=cuases",
      "/api/recommend?q=x&fields=rnk",
    ]) {
      const body = await service.json(path);
      expect(body).toMatchObject({ code: "invalid_parameter", parameter: "fields", status: 400 });
      expect(body.allowed).toContain("name");
      expect(body.detail).toContain("The nearest: ");
      expect(body.errors).toEqual([{ path: "fields", message: body.detail }]);
    }
    const wrong = [
      "format=xls",
      "format=csv&limit=0",
      "format=csv&limit=x",
      "format=csv&offset=-1",
    ];
    // Only what a search found says how well it matches.
    for (const query of [...wrong, "fields=match"])
      expect((await service.get(`/api/nonprofits?${query}`)).status).toBe(400);
  });

  test.each([
    ["limit=150", 150],
    ["limit=99999999999", count],
    ["offset=200", 3],
  ])("counts a limit up to the bound of files: %j gives %d", async (query, rows) => {
    const answer = await service.get(`/api/search?q=harbour&fields=slug&format=ndjson&${query}`);
    expect(linesOf(await answer.text()).length).toBe(rows);
    expect(answer.headers.get("x-total-count")).toBe(String(count));
  });

  test.each([["application/x-ndjson;q=0.5, */*;q=0.1", "application/ndjson; charset=utf-8"]])(
    "is asked for by Accept: %s",
    async (accept, type) => {
      const answer = await service.get("/api/search?q=harbour", { accept });
      expect(answer.headers.get("content-type")).toBe(type);
      await answer.body?.cancel();
      const named = await service.get("/api/search?q=harbour&format=json", { accept });
      expect(named.headers.get("content-type")).toBe("application/json");
    },
  );

  test("is answered by 304 until the directory changes", async () => {
    const path = "/api/nonprofits?format=csv&fields=slug&limit=2";
    const etag = (await service.get(path)).headers.get("etag") ?? "";
    const again = await service.get(path, { "if-none-match": `"other", ${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const other = await service.get(`${path}&offset=1`, { "if-none-match": etag });
    expect(other.status).toBe(200);
    using changed = await aService({ records: [aNonprofit({ slug: "first" })] });
    const before = (await changed.get(path)).headers.get("etag") ?? "";
    await changed.add(aNonprofit({ slug: "newest" }));
    expect((await changed.get(path, { "if-none-match": before })).status).toBe(200);
  });
});

test("HEAD of a file says what GET says, and writes no row", async () => {
  const path = "/api/search?q=harbour&format=csv";
  const get = await service.get(path);
  const head = await service.request(path, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  for (const name of ["content-type", "content-disposition", "etag", "x-total-count", "vary"])
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  expect(head.headers.has("content-length")).toBe(false);
});

/** The same directory, whose lists are these ids. */
const listing = (ids: number[], total = ids.length, store = service.context.store) => {
  const browse = async () => ({ total, ids, facets: {} as never });
  return aService({ context: { store, search: { ...service.context.search, browse } } });
};

test.each([
  [fileRowsMax, "", null],
  [fileRowsMax + 1, "", "true"],
  [fileRowsMax + 1, "&offset=1", null],
])("a file of %d rows%s says that it is cut: %j", async (total, query, truncated) => {
  const ids = Array.from({ length: Math.min(total, fileRowsMax) }, () => -1);
  const answer = await (await listing(ids, total)).get(`/api/nonprofits?format=csv${query}`);
  expect(answer.headers.get("x-total-count")).toBe(String(total));
  expect(answer.headers.get("x-truncated")).toBe(truncated);
  await answer.body?.cancel();
});

test("a file counts as a read for each thousand rows, and too many are refused before anything is written", async () => {
  using limited = await aService({
    env: { ALMONER_READS_PER_MINUTE: "5" },
    records: Array.from({ length: 1_001 }, (_, at) => aNonprofit({ slug: `one-${at}` })),
  });
  const leftAfter = async (query: string) => {
    const { status, headers } = await limited.get(`/api/nonprofits?${query}`);
    return [status, /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]];
  };
  expect(await leftAfter("format=csv&fields=slug")).toEqual([200, "4"]);
  // Two reads for the file, one for this.
  expect(await leftAfter("limit=1")).toEqual([200, "2"]);
  expect(await leftAfter("format=csv&limit=1000")).toEqual([200, "1"]);
  const refused = await limited.get("/api/nonprofits?format=csv");
  expect([refused.status, refused.headers.has("retry-after")]).toEqual([429, true]);
});

test("a client that goes away ends the reading", async () => {
  let reads = 0;
  const { store } = service.context;
  const raw = new Proxy(store.raw, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === "execute") reads++;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const ids = Array.from({ length: 40_000 }, () => 1);
  const watched = await listing(ids, ids.length, { ...store, raw });
  const reader = (await watched.get("/api/nonprofits?format=csv")).body?.getReader();
  await reader?.read();
  await reader?.read();
  await reader?.cancel();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  // Eighty would read it all.
  expect(reads).toBeLessThan(6);
});

test("a file comes whole through a socket, and HEAD claims no length of it", async () => {
  const { app } = service;
  const listening = listen(app, { host: "127.0.0.1", port: 0, baseUrl: "http://localhost" });
  try {
    const url = `${listening.url}/api/nonprofits?format=csv&fields=slug`;
    const { headers } = await fetch(url, { method: "HEAD" });
    expect([headers.get("content-length"), headers.get("x-total-count")]).toEqual([
      null,
      `${count}`,
    ]);
    const served = await fetch(url);
    expect(served.headers.get("x-total-count")).toBe(String(count));
    expect((await served.text()).split("\r\n").length).toBe(count + 2);
  } finally {
    await listening.stop();
  }
});

describe("an answer in JSON", () => {
  const asked = async (path: string) => {
    const text = await textOf(path);
    return { bytes: Buffer.byteLength(text), body: JSON.parse(text) };
  };
  const two = ["slug", "name"];

  test("has the fields of its items that are named, and weighs 4 kB for ten of them", async () => {
    const { bytes, body } = await asked("/api/search?q=harbour&limit=10&fields=slug,name");
    expect(bytes).toBeLessThanOrEqual(4_000);
    expect(body.nonprofits.map((one: object) => Object.keys(one))).toEqual(
      Array.from({ length: 10 }, () => two),
    );
    expect(body.results).toEqual(body.nonprofits);
    const next = await asked(body.next.replace("https://almoner.example", ""));
    expect(Object.keys(next.body.results[9])).toEqual(two);
    const [found] = (await asked("/api/search?q=harbour-0&fields=match,identifiers")).body.results;
    expect(Object.keys(found)).toEqual(["identifiers", "match"]);
  });

  test("leaves out one of two arrays that are the same", async () => {
    const path = "/api/search?q=harbour&limit=10&fields=slug,name";
    const whole = await asked(path);
    const { results, nonprofits, next, ...rest } = whole.body;
    for (const [shape, kept] of Object.entries({ a: { nonprofits }, b: { results } })) {
      const { bytes, body } = await asked(`${path}&shape=${shape}`);
      expect(body).toEqual({ ...rest, ...kept, next: `${next}&shape=${shape}` });
      expect(bytes).toBeLessThan(whole.bytes);
    }
  });

  test.each(["nonprofits?limit=2", "needs-enrichment?limit=2", "compare?orgs=harbour-0"])(
    "of %s has items of these fields alone, as one of a profile has",
    async (path) => {
      const {
        nonprofits,
        next: _,
        ...others
      } = await service.json(`/api/${path}&fields=slug,name`);
      expect(Object.keys(nonprofits[0])).toEqual(two);
      const whole = await service.json(`/api/${path}`);
      expect(Object.keys(whole.nonprofits[0]).length).toBeGreaterThan(2);
      expect(whole).toMatchObject(others);
      const one = await service.json("/api/nonprofits/harbour-0?fields=name,slug");
      expect(one).toEqual({ name: "Harbour 0", slug: "harbour-0" });
    },
  );

  test.each(["search?q=harbour", "nonprofits?limit=2"])(
    "of %s has all items whole when commas name nothing",
    async (path) => {
      const whole = await service.json(`/api/${path}`);
      expect(await service.json(`/api/${path}&fields=%2C`)).toEqual(whole);
      expect((await service.json("/api/nonprofits?include=,%20")).facets).toBeUndefined();
    },
  );

  test("has facets and charts when they are included, and its next page has, too", async () => {
    for (const included of ["", "charts", "facets", "facets,charts"]) {
      const query = included === "" ? "" : `?include=${included.replace(",", ",%20")}`;
      const list = await service.json(`/api/nonprofits${query}`);
      const stats = await service.json(`/api/stats${query}`);
      const has = ["facets" in list, "charts" in stats];
      expect(has).toEqual(["facets", "charts"].map((part) => included.includes(part)));
      const { searchParams } = new URL(list.next);
      expect(searchParams.get("include") ?? "").toBe(included);
    }
    expect((await service.get("/api/stats?include=chart")).status).toBe(400);
  });
});
