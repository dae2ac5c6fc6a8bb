import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { listAnswer, toDetail, toSummary } from "#content/nonprofit/wire.ts";
import { CauseList, noFilters } from "#content/contract/browse.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { NonprofitDetail, NonprofitList } from "#content/contract/nonprofit.ts";
import { ApiIndex, Stats } from "#content/contract/stats.ts";
import { aNonprofit, anEin } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";
import { forTests } from "#test/support/at-file-top.ts";

const baseUrl = "https://almoner.example";
let service: TestService;
/** Opens a directory of these nonprofits before each test of a part, or once before all. */
function opened(
  before: typeof beforeEach,
  after: typeof afterEach,
  records: NonprofitRecord[] = [],
) {
  before(async () => {
    service = await aService({ records });
  });
  after(() => service.close());
}

const addOne = async (values: Partial<NonprofitRecord>) => {
  const [record] = await service.add(aNonprofit(values));
  if (record === undefined) throw new Error("nothing was stored");
  return record;
};
const list = async (query = "") =>
  NonprofitList.parse(await service.json(`/api/nonprofits${query}`));
const names = async (query = "") => (await list(query)).nonprofits.map(({ name }) => name);

describe("GET /api/nonprofits", () => {
  opened(beforeEach, afterEach);

  test("gives 50 unless asked, 100 at most, and nothing behind the end", async () => {
    await service.add(...Array.from({ length: 110 }, () => aNonprofit()));
    const counts = { "": 50, "?limit=1000": 100, "?offset=100": 10, "?offset=99999999999999": 0 };
    for (const [query, count] of Object.entries(counts)) {
      const page = await list(query);
      expect([query, page.total, page.count]).toEqual([query, 110, count]);
      expect(page.nonprofits).toHaveLength(count);
    }
  });

  test("gives the bytes that the bundle's file holds", async () => {
    const stored = await addOne({ mission: "Trees & “words”" });
    const answer = listAnswer({
      baseUrl,
      query: { filters: noFilters, sort: "relevance", limit: 50, offset: 0 },
      total: 1,
      nonprofits: [toSummary(stored, baseUrl)],
    });
    expect(await (await service.get("/api/nonprofits")).text()).toBe(answerBytes(answer));
  });

  test("shows a change at once", async () => {
    const { slug } = await addOne({ name: "Oak" });
    await addOne({ name: "Elm" });
    expect(await names()).toEqual(["Elm", "Oak"]);
    await service.change(slug, { beneficiaries_per_year: 5 });
    expect(await names()).toEqual(["Oak", "Elm"]);
  });
});

describe("GET /api/nonprofits, narrowed", () => {
  opened(beforeAll, afterAll, [
    aNonprofit({ name: "Hilo Aid", city: "Hilo", region: "Hawaii", country_code: "US" }),
    aNonprofit({ name: "Site", website: "https://s.example", causes: ["health"] }),
    aNonprofit({ name: "Claimed", verified: 1, status: "claimed" }),
  ]);

  test.each([
    ["city=HILO", ["Hilo Aid"]],
    ["region=HI&country=usa", ["Hilo Aid"]],
    ["cause=health&has_website=true", ["Site"]],
    ["claimed=0&sort=name", ["Hilo Aid", "Site"]],
    ["city=&region=&claimed=&sort=&colour=red", ["Claimed", "Site", "Hilo Aid"]],
  ])("%s gives %p", async (query, found) => {
    expect(await names(`?${query}`)).toEqual(found);
  });

  test("says what an unknown value is near", async () => {
    expect((await list("?region=Hawaai")).note).toContain("Hawaii");
    expect((await list("?region=Hawaii")).note).toBeNull();
  });
});

const drawsNothing = async () => Response.json({});
const draw: NonNullable<Context["draw"]> = {
  list: async (found) => Response.json(found),
  search: async (asked, answer) => Response.json({ asked, answer }),
  organisation: drawsNothing,
  history: async (found) => Response.json(found),
  feed: (found) => encodedJson(found),
  compare: drawsNothing,
  form: drawsNothing,
  profile: async ({ name }, { language }) => Response.json({ name, language }),
  donate: async ({ name }, { language }) => Response.json({ name, language }),
  missing: async ({ language }) => Response.json({ language }, { status: 404 }),
};

describe("where there is a site, it draws for people", () => {
  opened(beforeAll, afterAll);
  const aid = aNonprofit({ slug: "aid", name: "Hilo Aid", city: "Hilo" });
  const drawn = forTests(() => aService({ records: [aid, aNonprofit()], context: { draw } }));

  test("lists, searches, histories and pages in other languages", async () => {
    const found = await drawn.json("/browse?city=hilo&page=1");
    const items = [{ name: "Hilo Aid" }];
    expect(found).toMatchObject({ total: 1, page: 1, sort: "relevance", items });
    const search = await drawn.json("/search?q=aid&accepts=&page=1");
    expect(search).toMatchObject({ asked: { q: "aid", page: 1 }, answer: { total: 1, limit: 20 } });
    const history = { slug: "aid", count: 1 };
    const page = { name: "Hilo Aid", history, contested: [], gifts: null };
    expect(await drawn.json("/history/aid")).toMatchObject(page);
    for (const path of ["nonprofits/aid", "donate/aid"])
      expect(await drawn.json(`/es/${path}`)).toEqual({ name: "Hilo Aid", language: "es" });
    const { status, headers } = await drawn.get("/nonprofits/aid/history");
    expect([status, headers.get("location")]).toEqual([308, "/history/aid"]);
    const dots = await drawn.get("/nonprofits/..%2Faid%3Fx/history");
    expect(dots.headers.get("location")).toBe("/history/..%2Faid%3Fx");
  });

  test("and refuses what it does not know", async () => {
    for (const path of ["/browse?sort=best", "/search?accepts=cash"])
      expect((await drawn.get(path)).status).toBe(400);
    const missing = ["es/nonprofits/nobody", "es/donate/nobody", "xx/nonprofits/aid"];
    for (const path of [...missing, "xx/donate/aid", "history/nobody"])
      expect((await drawn.get(`/${path}`)).status).toBe(404);
    // Without a site there are no such pages.
    for (const path of ["/browse?city=Hilo", "/search?q=aid", "/history/aid"])
      expect((await service.get(path)).status).toBe(404);
  });

  test("a history tells of both sides where agents disagree", async () => {
    for (const [agent_id, field, value] of [
      ["ant", "website", "https://hilo-aid.org"],
      ["bee", "website", "https://aid-hilo.org"],
      ["ant", "founded_year", "1999"],
      ["ant", "contact_email", "jane@hilo-aid.org"],
      ["bee", "contact_email", "joe@hilo-aid.org"],
      ["ant", "city", "Kona"],
      ["bee", "city", "Kona"],
    ] as const)
      await drawn.post("/api/enrich/aid", { agent_id, field, value });
    const side = (value: string, ...agents: string[]) => ({ value, agents });
    const masked = "j…@hilo-aid.org";
    const sites = [side("https://hilo-aid.org", "ant"), side("https://aid-hilo.org", "bee")];
    expect((await drawn.json("/history/aid")).contested).toEqual([
      { field: "website", values: sites },
      { field: "contact_email", values: [side(masked, "ant"), side(masked, "bee")] },
      { field: "city", values: [side("Hilo"), side("Kona", "ant", "bee")] },
    ]);
  });
});

describe("one nonprofit, causes and numbers", () => {
  opened(beforeEach, afterEach);

  test("give_url names where a gift is taken, wherever a nonprofit is shown; donate_url stays its own page", async () => {
    const usdc_wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
    const donate_url = "https://well.example/give";
    await service.add(
      aNonprofit({ slug: "well", name: "Well", usdc_wallet, donation_url: donate_url }),
      aNonprofit({ slug: "dry", name: "Dry", donation_url: donate_url }),
      aNonprofit({ slug: "ended", name: "Ended", usdc_wallet, status: "withdrawn" }),
    );
    const give_url = `${baseUrl}/api/donate/well`;
    expect(await service.json("/api/nonprofits/well")).toMatchObject({ give_url, donate_url });
    for (const slug of ["dry", "ended"])
      expect(await service.json(`/api/nonprofits/${slug}`)).toMatchObject({ give_url: null });
    const well = [{ slug: "well", give_url, donate_url }];
    for (const path of ["nonprofits?", "search?", "search?q=well&"])
      expect((await service.json(`/api/${path}accepts=usdc`)).nonprofits).toMatchObject(well);
    expect((await service.json("/api/search?q=dry&has_website=1&accepts=")).nonprofits).toEqual([]);
  });

  describe("GET /api/nonprofits/{slug}", () => {
    test("gives the profile as it is stored", async () => {
      const oak = await addOne({ slug: "oak", contact_email: "a@oak.example" });
      const answer = await service.get("/api/nonprofits/oak");
      expect(answer.headers.get("content-type")).toBe("application/json");
      const text = await answer.text();
      expect(text).toBe(answerBytes(toDetail(oak, baseUrl)));
      expect(text).not.toContain("a@oak.example");
      expect(NonprofitDetail.parse(JSON.parse(text)).has_contact_email).toBe(true);
      await addOne({ slug: "gone", status: "withdrawn" });
      expect(await service.json("/api/nonprofits/gone")).toMatchObject({ status: "withdrawn" });
    });

    test("answers 404 to what is no slug", async () => {
      const slugs = [
        "nobody",
        "..%2F..%2Fetc%2Fpasswd",
        "%00",
        "oak%2Fjson",
        "a".repeat(201),
        "%20",
      ];
      for (const slug of slugs) {
        const problem = { code: "nonprofit_not_found", status: 404 };
        expect(await service.json(`/api/nonprofits/${slug}`)).toMatchObject(problem);
      }
    });
  });

  test("GET /api/causes counts each of the 29 causes under both names, at once", async () => {
    const health = async () => {
      const { causes } = CauseList.parse(await service.json("/api/causes"));
      expect(causes).toHaveLength(29);
      return causes.find(({ id }) => id === "health");
    };
    await addOne({ causes: ["health", "education"] });
    expect(await health()).toMatchObject({ name: "Health", nonprofit_count: 1, count: 1 });
    await addOne({ causes: ["health"] });
    expect(await health()).toMatchObject({ nonprofit_count: 2, count: 2 });
  });

  test("GET /api/stats is both shapes in one object, with live counters", async () => {
    const stats = async () => Stats.parse(await service.json("/api/stats"));
    await addOne({ verified: 1, status: "claimed", beneficiaries_per_year: 100 });
    await addOne({ beneficiaries_per_year: 20, country_code: "FR" });
    expect(await stats()).toMatchObject({
      nonprofits: 2,
      verified_nonprofits: 1,
      countries: 2,
      causes: 29,
      total_beneficiaries: 120,
      total_beneficiaries_per_year: 120,
      total_queries: 0,
      queries: { llms_txt: 0, agents_md: 0, ai_plugin: 0, mcp: 0 },
    });
    await service.get("/api/search?q=water");
    service.context.activity.count("hit:llms_txt");
    const counted = { total_queries: 1, queries_this_week: 1, queries: { llms_txt: 1 } };
    expect(await stats()).toMatchObject(counted);
  });
});

describe("every read", () => {
  opened(beforeAll, afterAll, [
    aNonprofit({ slug: "oak", description: "A long text. ".repeat(200) }),
  ]);

  test.each(["/api/nonprofits", "/api/nonprofits/oak", "/api/causes", "/api/stats"])(
    "%s has a strong ETag, is open to other sites, and answers HEAD and OPTIONS",
    async (path) => {
      const get = await service.get(path);
      const { headers } = get;
      const etag = headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[^"]+"$/);
      const again = await service.get(path, { "if-none-match": `"other", ${etag}` });
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([
        304,
        "",
        etag,
      ]);
      for (const [sent, status] of [
        ['"other"', 200],
        [`W/${etag}`, 304],
        ["*", 304],
      ] as const)
        expect((await service.get(path, { "if-none-match": sent })).status).toBe(status);

      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("cache-control")).toStartWith("public, max-age=");
      expect(headers.get("link")).toContain('rel="service-desc"');
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("vary") ?? "").not.toContain("*");
      expect(headers.has("set-cookie")).toBe(false);

      const head = await service.request(path, { method: "HEAD" });
      expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
      const { byteLength } = await get.arrayBuffer();
      expect(head.headers.get("content-length")).toBe(String(byteLength));

      const options = await service.request(path, { method: "OPTIONS" });
      expect(options.status).toBe(204);
      for (const name of ["allow", "access-control-allow-methods"])
        expect(options.headers.get(name)).toBe("GET, HEAD, OPTIONS");
    },
  );

  test.each([
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const)("is sent in %s to a client that accepts it", async (encoding, decode) => {
    const plain = await service.get("/api/nonprofits/oak");
    const packed = await service.get("/api/nonprofits/oak", { "accept-encoding": encoding });
    expect(packed.headers.get("content-encoding")).toBe(encoding);
    expect(packed.headers.get("vary")).toBe("Accept-Encoding");
    expect(packed.headers.get("etag")).not.toBe(plain.headers.get("etag"));
    expect(decode(await packed.arrayBuffer()).toString()).toBe(await plain.text());
  });

  test("is sent plain to a client that refuses encodings, and when it is short", async () => {
    for (const [path, accepted] of [
      ["/api/causes", "gzip;q=0, br; q=0.0, zstd"],
      ["/healthz", "gzip, br"],
    ] as const) {
      const { headers } = await service.get(path, { "accept-encoding": accepted });
      expect(headers.has("content-encoding")).toBe(false);
    }
  });

  test("is the same whatever headers no one keys by", async () => {
    const plain = await (await service.get("/api/nonprofits")).text();
    const odd = await service.get("/api/nonprofits", {
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "gopher",
      "x-original-url": "/api/stats",
      forwarded: "host=evil.example",
      host: "evil.example",
    });
    expect(await odd.text()).toBe(plain);
  });
});

describe("a slug in other letters, an id or a register number leads to the profile", () => {
  const org_id = "US-EIN-990305781";
  const number = anEin("99-0305781");
  const slug = "hope-kitchen";
  opened(beforeAll, afterAll, [aNonprofit({ slug, country_code: "KE", registrations: [number] })]);
  const locationOf = async (path: string) => {
    const { status, headers } = await service.get(path);
    return [path, status, headers.get("location")];
  };

  test("at every address with a slug, query and all", async () => {
    for (const path of [
      "/api/nonprofits/Hope-Kitchen",
      "/api/donate/Hope-Kitchen/quote?amount=2",
      "/api/nonprofits/Hope-Kitchen?fields=name%2Cmission",
      "/nonprofits/Hope-Kitchen",
      "/nonprofits/Hope-Kitchen.md",
      "/nonprofits/Hope-Kitchen.atom",
      "/donate/Hope-Kitchen",
      "/history/Hope-Kitchen",
      "/api/history/Hope-Kitchen",
    ])
      expect(await locationOf(path)).toEqual([path, 308, path.replace("Hope-Kitchen", slug)]);
    const { id } = await service.live(slug);
    for (const name of [id, org_id, "99-0305781", "HOPE-KITCHEN"]) {
      const path = `/api/nonprofits/${name}`;
      expect(await locationOf(path)).toEqual([path, 308, `/api/nonprofits/${slug}`]);
    }
    const city = { field: "city", value: "Oslo", agent_id: "a" };
    const { status, headers } = await service.post("/api/enrich/Hope-Kitchen", city);
    expect([status, headers.get("location")]).toEqual([308, `/api/enrich/${slug}`]);
  });

  test.each(["", ".md"])("and a page%s that is to be published is not of nobody", async (form) => {
    const body = await service.json(`/nonprofits/${slug}${form}`);
    expect(body).toMatchObject({ status: 404, code: "nonprofit_not_found" });
    expect(body.detail).toContain(`not published yet. GET /api/nonprofits/${slug} has`);
    const unknown = await service.json(`/nonprofits/nobody${form}`);
    expect(unknown.detail).toStartWith("No nonprofit has this slug.");
  });

  test.each([".json", ".atom.md", ".md."])("but a name with %s is no page", async (end) => {
    const body = await service.json(`/nonprofits/${slug}${end}`);
    expect(body.detail).toStartWith("No nonprofit has this slug.");
  });

  test("and nowhere else", async () => {
    const nobody = ["/api/nonprofits/nobody", "/api/nonprofits/999", "/nonprofits/NOBODY.md"];
    for (const path of [...nobody, "/api/donations/hope-kitchen/none"])
      expect(await locationOf(path)).toEqual([path, 404, null]);
  });

  test("a country may be named by its three digits in every filter", async () => {
    await addOne({ country_code: "UG" });
    for (const path of ["search", "nonprofits", "needs-enrichment", "recommend"]) {
      const body = await service.json(`/api/${path}?country=404`);
      const found: unknown[] = body.nonprofits ?? body.recommendations;
      expect([path, found.length]).toEqual([path, path === "recommend" ? 0 : 1]);
    }
    expect((await service.json("/api/search?q=404")).nonprofits).toEqual([]);
  });

  test("GET /api lists every address, but those of operators, with a line each", async () => {
    const { endpoints } = ApiIndex.parse(await service.json("/api"));
    const some = ["GET /api/search", "POST /mcp", "GET /openapi.yaml"];
    expect(Object.keys(endpoints)).toEqual(expect.arrayContaining(some));
    expect(Object.keys(endpoints).filter((one) => one.includes("/api/admin/"))).toEqual([]);
    expect(Object.values(endpoints)).not.toContain("");
  });
});
