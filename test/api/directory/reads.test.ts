import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { encodedJson } from "#api/http/encoded-body.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { listAnswer, toDetail, toSummary } from "#content/nonprofit/wire.ts";
import { CauseList, noFilters } from "#content/contract/browse.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { NonprofitDetail, NonprofitList } from "#content/contract/nonprofit.ts";
import { ApiIndex, Stats } from "#content/contract/stats.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, testNow, type TestService } from "#test/support/service.ts";

let service: TestService;
beforeEach(async () => {
  service = await aService();
});
afterEach(() => service.close());

const change = (before: NonprofitRecord, parts: Partial<NonprofitRecord>) =>
  service.store.write((tx) =>
    saveNonprofits(tx, [{ before, after: { ...before, ...parts } }], {
      origin: "review",
      now: testNow,
    }),
  );

const names = async (path: string) => {
  const body = NonprofitList.parse(await (await service.get(path)).json());
  return body.nonprofits.map(({ name }) => name);
};

describe("GET /api/nonprofits", () => {
  test("lists the verified first, then by people reached, then by name", async () => {
    await service.add(
      aNonprofit({ name: "Small", beneficiaries_per_year: 10 }),
      aNonprofit({ name: "Great", beneficiaries_per_year: 1_000 }),
      aNonprofit({ name: "Claimed", verified: 1, status: "claimed" }),
      aNonprofit({ name: "Beta" }),
      aNonprofit({ name: "Alpha" }),
      aNonprofit({ name: "Gone", status: "withdrawn", beneficiaries_per_year: 9_999 }),
    );
    expect(await names("/api/nonprofits")).toEqual(["Claimed", "Great", "Small", "Alpha", "Beta"]);
  });

  test("pages to the end by its own links", async () => {
    await service.add(...Array.from({ length: 23 }, () => aNonprofit()));
    const seen: string[] = [];
    let path: string | null = "/api/nonprofits?limit=10";
    while (path !== null) {
      const page: NonprofitList = NonprofitList.parse(await (await service.get(path)).json());
      expect(page.total).toBe(23);
      expect(page.count).toBe(page.nonprofits.length);
      seen.push(...page.nonprofits.map(({ slug }) => slug));
      path = page.next?.replace("https://almoner.example", "") ?? null;
    }
    expect(new Set(seen).size).toBe(23);
  });

  test("gives 50 unless asked, and 100 at most", async () => {
    await service.add(...Array.from({ length: 120 }, () => aNonprofit()));
    expect(await names("/api/nonprofits")).toHaveLength(50);
    expect(await names("/api/nonprofits?limit=1000")).toHaveLength(100);
    expect(await names("/api/nonprofits?offset=110")).toHaveLength(10);
    expect(await names("/api/nonprofits?offset=99999999999999")).toEqual([]);
  });

  test("gives the bytes that the bundle's file holds", async () => {
    const stored = await service.add(aNonprofit({ mission: "Trees & “words”" }));
    const answer = listAnswer({
      baseUrl: "https://almoner.example",
      query: { filters: noFilters, sort: "relevance", limit: 50, offset: 0 },
      total: 1,
      nonprofits: stored.map((one) => toSummary(one, "https://almoner.example")),
    });
    expect(await (await service.get("/api/nonprofits")).text()).toBe(answerBytes(answer));
  });

  test.each(["limit=0", "limit=-1", "limit=ten", "offset=-5", "offset=1.5"])(
    "refuses %s by its name",
    async (query) => {
      const answer = await service.get(`/api/nonprofits?${query}`);
      expect(answer.status).toBe(400);
      const parameter = query.split("=")[0];
      expect(await answer.json()).toMatchObject({ code: "invalid_parameter", parameter });
    },
  );

  test("shows a change at once", async () => {
    const [oak] = await service.add(aNonprofit({ name: "Oak" }), aNonprofit({ name: "Elm" }));
    expect(await names("/api/nonprofits")).toEqual(["Elm", "Oak"]);
    if (oak === undefined) throw new Error("nothing was stored");
    await change(oak, { beneficiaries_per_year: 5 });
    expect(await names("/api/nonprofits")).toEqual(["Oak", "Elm"]);
  });
});

describe("GET /api/nonprofits, narrowed", () => {
  beforeEach(async () => {
    await service.add(
      aNonprofit({ name: "Hilo Aid", city: "Hilo", region: "Hawaii", country_code: "US" }),
      aNonprofit({ name: "Site", website: "https://s.example", causes: ["health"] }),
      aNonprofit({ name: "Claimed", verified: 1, status: "claimed" }),
    );
  });

  test.each([
    ["city=HILO", ["Hilo Aid"]],
    ["region=hawaii&country=usa", ["Hilo Aid"]],
    ["region=HI", ["Hilo Aid"]],
    ["cause=health&has_website=true", ["Site"]],
    ["claimed=0&sort=name", ["Hilo Aid", "Site"]],
    ["income=unknown&claimed=true", ["Claimed"]],
    ["accepts=usdc", []],
    ["cause=nothing", []],
    ["city=&region=&claimed=&sort=&colour=red", ["Claimed", "Site", "Hilo Aid"]],
  ])("%s gives %p", async (query, found) => {
    expect(await names(`/api/nonprofits?${query}`)).toEqual(found);
  });

  test("says what an unknown value is near", async () => {
    const said = async (query: string) =>
      NonprofitList.parse(await (await service.get(`/api/nonprofits?${query}`)).json()).note;
    expect(await said("region=Hawaai")).toContain("Hawaii");
    expect(await said("region=Hawaii")).toBeNull();
  });

  test("counts each value as if it stood in the place of its filter", async () => {
    const answer = await service.get("/api/nonprofits?country=KE&cause=education&include=facets");
    const { total, facets } = NonprofitList.parse(await answer.json());
    expect(total).toBe(1);
    expect(facets?.country).toEqual([
      { value: "KE", name: "Kenya", count: 1 },
      { value: "US", name: "United States", count: 1 },
    ]);
    expect(facets?.cause).toEqual([
      { value: "education", name: "Education", count: 1 },
      { value: "health", name: "Health", count: 1 },
    ]);
  });

  test.each([
    ["income", "a lot", "none, under-10k, 10k-100k"],
    ["sort", "best", "relevance, income, completeness, name"],
    ["accepts", "gold", "usdc"],
    ["claimed", "maybe", "true, false, 1, 0"],
  ])("refuses %s=%s and names what there is", async (parameter, value, known) => {
    const answer = await service.get(`/api/nonprofits?${parameter}=${encodeURIComponent(value)}`);
    expect(answer.status).toBe(400);
    const problem = await answer.json();
    expect(problem).toMatchObject({ code: "invalid_parameter", parameter });
    expect(problem.detail).toContain(known);
  });

  test("keeps what it is narrowed by in the address of the next page", async () => {
    const answer = await service.get("/api/nonprofits?claimed=0&limit=1");
    const { next } = NonprofitList.parse(await answer.json());
    expect(next).toBe("https://almoner.example/api/nonprofits?claimed=false&limit=1&offset=1");
  });

  test("is drawn for people by the site, where there is one", async () => {
    expect((await service.get("/browse?city=Hilo")).status).toBe(404);
    const drawn = await aService({
      records: [aNonprofit({ slug: "aid", name: "Hilo Aid", city: "Hilo" }), aNonprofit()],
      context: {
        draw: {
          list: async (found) => Response.json(found),
          search: async (asked, answer) => Response.json({ asked, answer }),
          organisation: async () => Response.json({}),
          history: async (found) => Response.json(found),
          feed: (found) => encodedJson(found),
          compare: async (found) => Response.json(found),
          form: async (page, _form, status = 200) => Response.json(page, { status }),
          profile: async ({ name }, { language }) => Response.json({ name, language }),
          donate: async ({ name }, { language }) => Response.json({ name, language }),
          missing: async ({ language }) => Response.json({ language }, { status: 404 }),
        },
      },
    });
    const found = await (await drawn.get("/browse?city=hilo&page=1")).json();
    expect(found).toMatchObject({ total: 1, page: 1, sort: "relevance" });
    expect(found.items[0].name).toBe("Hilo Aid");
    expect((await drawn.get("/browse?sort=best")).status).toBe(400);
    const search = await (await drawn.get("/search?q=aid&accepts=&page=1")).json();
    expect(search).toMatchObject({ asked: { q: "aid", page: 1 }, answer: { total: 1, limit: 20 } });
    expect((await drawn.get("/search?accepts=cash")).status).toBe(400);
    expect((await service.get("/search?q=aid")).status).toBe(404);
    const moved = await drawn.get("/nonprofits/aid/history");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/history/aid"]);
    expect(await (await drawn.get("/history/aid")).json()).toMatchObject({
      name: "Hilo Aid",
      history: { slug: "aid", count: 1 },
      contested: [],
      gifts: null,
    });
    expect((await drawn.get("/history/nobody")).status).toBe(404);
    for (const page of ["nonprofits", "donate"]) {
      const spanish = await drawn.get(`/es/${page}/aid`);
      expect(await spanish.json()).toEqual({ name: "Hilo Aid", language: "es" });
      expect((await drawn.get(`/es/${page}/nobody`)).status).toBe(404);
      expect((await drawn.get(`/xx/${page}/aid`)).status).toBe(404);
    }
    expect((await service.get("/history/aid")).status).toBe(404);
    drawn.close();
  });

  test("a history tells of both sides where agents disagree", async () => {
    const drawn = await aService({
      records: [aNonprofit({ slug: "aid", city: "Hilo" })],
      context: {
        draw: {
          list: async () => Response.json({}),
          search: async () => Response.json({}),
          organisation: async () => Response.json({}),
          history: async ({ contested }) => Response.json(contested),
          feed: (found) => encodedJson(found),
          compare: async () => Response.json({}),
          form: async () => Response.json({}),
          profile: async () => Response.json({}),
          donate: async () => Response.json({}),
          missing: async () => Response.json({}),
        },
      },
    });
    const send = (agent_id: string, field: string, value: string) =>
      drawn.post("/api/enrich/aid", { agent_id, field, value });
    await send("ant", "website", "https://hilo-aid.org");
    await send("bee", "website", "https://aid-hilo.org");
    await send("ant", "founded_year", "1999");
    await send("ant", "contact_email", "jane@hilo-aid.org");
    await send("bee", "contact_email", "joe@hilo-aid.org");
    for (const agent of ["ant", "bee"]) await send(agent, "city", "Kona");
    expect(await (await drawn.get("/history/aid")).json()).toEqual([
      {
        field: "website",
        values: [
          { value: "https://hilo-aid.org", agents: ["ant"] },
          { value: "https://aid-hilo.org", agents: ["bee"] },
        ],
      },
      {
        field: "contact_email",
        values: [
          { value: "j…@hilo-aid.org", agents: ["ant"] },
          { value: "j…@hilo-aid.org", agents: ["bee"] },
        ],
      },
      {
        field: "city",
        values: [
          { value: "Hilo", agents: [] },
          { value: "Kona", agents: ["ant", "bee"] },
        ],
      },
    ]);
    drawn.close();
  });
});

test("give_url names where a gift is taken, wherever a nonprofit is shown; donate_url stays its own page", async () => {
  const usdc_wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
  const donation_url = "https://well.example/give";
  await service.add(
    aNonprofit({ slug: "well", name: "Well", usdc_wallet, donation_url }),
    aNonprofit({ slug: "dry", name: "Dry", donation_url }),
    aNonprofit({ slug: "ended", name: "Ended", usdc_wallet, status: "withdrawn" }),
  );
  const give_url = "https://almoner.example/api/donate/well";
  const ways = async (path: string) => {
    const body = (await (await service.get(path)).json()) as Record<string, unknown>;
    return body["nonprofits"] ?? body;
  };
  expect(await ways("/api/nonprofits/well")).toMatchObject({ give_url, donate_url: donation_url });
  expect(await ways("/api/nonprofits/dry")).toMatchObject({ give_url: null });
  expect(await ways("/api/nonprofits/ended")).toMatchObject({ give_url: null });
  for (const path of [
    "/api/nonprofits?accepts=usdc",
    "/api/search?accepts=usdc",
    "/api/search?q=well&accepts=usdc",
  ]) {
    expect(await ways(path)).toMatchObject([{ slug: "well", give_url, donate_url: donation_url }]);
  }
  expect(await ways("/api/search?q=dry&has_website=1&accepts=")).toEqual([]);
});

describe("GET /api/nonprofits/{slug}", () => {
  test("gives the profile as it is stored", async () => {
    const [oak] = await service.add(aNonprofit({ slug: "oak", contact_email: "a@oak.example" }));
    if (oak === undefined) throw new Error("nothing was stored");
    const answer = await service.get("/api/nonprofits/oak");
    expect(answer.headers.get("content-type")).toBe("application/json");
    const text = await answer.text();
    expect(text).toBe(answerBytes(toDetail(oak, "https://almoner.example")));
    expect(text).not.toContain("a@oak.example");
    expect(NonprofitDetail.parse(JSON.parse(text)).has_contact_email).toBe(true);
  });

  test.each(["nobody", "..%2F..%2Fetc%2Fpasswd", "%00", "oak%2Fjson", "a".repeat(201), "%20"])(
    "answers 404 to %p",
    async (slug) => {
      const answer = await service.get(`/api/nonprofits/${slug}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "nonprofit_not_found", status: 404 });
    },
  );

  test("that was withdrawn says so", async () => {
    await service.add(aNonprofit({ slug: "gone", status: "withdrawn" }));
    const answer = await service.get("/api/nonprofits/gone");
    expect(await answer.json()).toMatchObject({ status: "withdrawn" });
  });
});

describe("GET /api/causes", () => {
  test("counts each of the 29 causes under both names", async () => {
    await service.add(
      aNonprofit({ causes: ["health", "education"] }),
      aNonprofit({ causes: ["health"] }),
    );
    const { causes } = CauseList.parse(await (await service.get("/api/causes")).json());
    expect(causes).toHaveLength(29);
    const health = causes.find(({ id }) => id === "health");
    expect(health).toMatchObject({ name: "Health", nonprofit_count: 2, count: 2 });
    await service.add(aNonprofit({ causes: ["health"] }));
    const again = CauseList.parse(await (await service.get("/api/causes")).json());
    expect(again.causes.find(({ id }) => id === "health")?.count).toBe(3);
  });
});

describe("GET /api/stats", () => {
  test("is both shapes in one object, with live counters", async () => {
    await service.add(
      aNonprofit({
        verified: 1,
        status: "claimed",
        beneficiaries_per_year: 100,
        country_code: "KE",
      }),
      aNonprofit({ beneficiaries_per_year: 20, country_code: "FR" }),
    );
    const before = Stats.parse(await (await service.get("/api/stats")).json());
    expect(before).toMatchObject({
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
    const after = Stats.parse(await (await service.get("/api/stats")).json());
    expect(after).toMatchObject({
      total_queries: 1,
      queries_this_week: 1,
      queries: { llms_txt: 1 },
    });
  });
});

describe("every read", () => {
  const paths = ["/api/nonprofits", "/api/nonprofits/oak", "/api/causes", "/api/stats"];
  beforeEach(async () => {
    await service.add(aNonprofit({ slug: "oak", description: "A long text. ".repeat(200) }));
  });

  test.each(paths)("%s has a strong ETag and answers 304 to it", async (path) => {
    const first = await service.get(path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await service.get(path, { "if-none-match": `"other", ${etag}` });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    expect(again.headers.get("etag")).toBe(etag);
    expect((await service.get(path, { "if-none-match": '"other"' })).status).toBe(200);
    expect((await service.get(path, { "if-none-match": `W/${etag}` })).status).toBe(304);
    expect((await service.get(path, { "if-none-match": "*" })).status).toBe(304);
  });

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
    const refused = { "accept-encoding": "gzip;q=0, br; q=0.0, zstd" };
    expect((await service.get("/api/causes", refused)).headers.has("content-encoding")).toBe(false);
    const short = await service.get("/healthz", { "accept-encoding": "gzip, br" });
    expect(short.headers.has("content-encoding")).toBe(false);
  });

  test.each(paths)("%s answers HEAD as GET, without a body", async (path) => {
    const get = await service.get(path);
    const head = await service.app.handle(
      new Request(`http://localhost${path}`, { method: "HEAD" }),
    );
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    const { byteLength } = await get.arrayBuffer();
    expect(head.headers.get("content-length")).toBe(String(byteLength));
  });

  test.each(paths)("%s tells in OPTIONS what it allows", async (path) => {
    const request = new Request(`http://localhost${path}`, { method: "OPTIONS" });
    const answer = await service.app.handle(request);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  });

  test.each(paths)("%s is open to other sites and kept by caches", async (path) => {
    const { headers } = await service.get(path);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toStartWith("public, max-age=");
    expect(headers.get("link")).toContain('rel="service-desc"');
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("vary") ?? "").not.toContain("*");
    expect(headers.has("set-cookie")).toBe(false);
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
  const kitchen = () =>
    aNonprofit({
      slug: "hope-kitchen",
      country_code: "KE",
      registrations: [
        {
          country_code: "US",
          type: "EIN",
          registration_number: "99-0305781",
          org_id: "US-EIN-990305781",
        },
      ],
    });
  const locationOf = async (path: string) => {
    const { status, headers } = await service.get(path);
    return [status, headers.get("location")];
  };

  test("at every address with a slug, query and all", async () => {
    const [record] = await service.add(kitchen());
    for (const [path, location] of [
      ["/api/nonprofits/Hope-Kitchen", "/api/nonprofits/hope-kitchen"],
      [`/api/nonprofits/${record?.id}`, "/api/nonprofits/hope-kitchen"],
      ["/api/nonprofits/US-EIN-990305781", "/api/nonprofits/hope-kitchen"],
      ["/api/nonprofits/99-0305781", "/api/nonprofits/hope-kitchen"],
      ["/api/history/HOPE-KITCHEN", "/api/history/hope-kitchen"],
      ["/api/donate/Hope-Kitchen/quote?amount=2", "/api/donate/hope-kitchen/quote?amount=2"],
      ["/nonprofits/Hope-Kitchen", "/nonprofits/hope-kitchen"],
      ["/nonprofits/Hope-Kitchen.md", "/nonprofits/hope-kitchen.md"],
      ["/nonprofits/Hope-Kitchen.atom", "/nonprofits/hope-kitchen.atom"],
      ["/donate/Hope-Kitchen", "/donate/hope-kitchen"],
      ["/history/Hope-Kitchen", "/history/hope-kitchen"],
    ]) {
      expect([path, ...(await locationOf(path ?? ""))]).toEqual([path, 308, location]);
    }
    const post = await service.post("/api/enrich/Hope-Kitchen", {
      ...{ field: "city", value: "Oslo", agent_id: "a" },
    });
    expect([post.status, post.headers.get("location")]).toEqual([308, "/api/enrich/hope-kitchen"]);
  });

  test("and nowhere else", async () => {
    await service.add(kitchen());
    for (const path of ["/api/nonprofits/nobody", "/api/nonprofits/999", "/nonprofits/NOBODY.md"])
      expect([path, ...(await locationOf(path))]).toEqual([path, 404, null]);
    expect(await locationOf("/api/donations/hope-kitchen/none")).toEqual([404, null]);
  });

  test("GET /api lists every address, but those of operators, with a line each", async () => {
    const { endpoints } = ApiIndex.parse(await (await service.get("/api")).json());
    expect(Object.keys(endpoints)).toEqual(
      expect.arrayContaining(["GET /api/search", "POST /mcp", "GET /openapi.yaml"]),
    );
    expect(Object.keys(endpoints).filter((one) => one.includes("/api/admin/"))).toEqual([]);
    expect(Object.values(endpoints)).not.toContain("");
  });

  test("a country may be named by its three digits in every filter", async () => {
    await service.add(kitchen(), aNonprofit({ country_code: "UG" }));
    for (const list of ["search", "nonprofits", "needs-enrichment", "recommend"]) {
      const body = await (await service.get(`/api/${list}?country=404`)).json();
      const found: unknown[] = body.nonprofits ?? body.recommendations;
      expect([list, found.length]).toEqual([list, list === "recommend" ? 0 : 1]);
    }
    const { nonprofits } = await (await service.get("/api/search?q=404")).json();
    expect(nonprofits).toEqual([]);
  });
});
