import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { load } from "cheerio";
import { aNonprofit, anEin } from "#test/support/records.ts";
import { aService, theService } from "#test/support/service.ts";

const ein = "US-EIN-990305781";
const registrations = [anEin("99-0305781")];
const american = { country_code: "US", region: "Hawaii" };
const names = [
  ["st-annes-center", "St Anne's Community Center", "Hilo"],
  ["pacific-voyaging-society", "Pacific Voyaging Society Inc", "Honolulu"],
  ["friends-of-the-library", "Friends of the Library of Hawaii", "Honolulu"],
  ["knights-honolulu", "Knights of Columbus Council", "Honolulu"],
  ["knights-hilo", "Knights of Columbus Council", "Hilo"],
  ["reef-and-ocean", "Reef & Ocean Research Foundation", "Kailua"],
] as const;
const evil = `<img src=x onerror="alert(1)">'"&</title>`;

const service = await theService({
  records: [
    aNonprofit({ slug: "hawaii-foodbank", name: "Hawaii Foodbank", ...american, registrations }),
    ...names.map(([slug, name, city]) => aNonprofit({ slug, name, city, ...american })),
    aNonprofit({ slug: "evil", name: `Evil ${evil}`, tagline: evil, city: evil }),
  ],
});

type Found = { id: string; score: number; match: boolean };
const send = (path: string, body?: BodyInit, headers: Record<string, string> = {}) =>
  service.request(path, { method: "POST", body: body ?? null, headers });
const sendForm = (fields: Record<string, string>) =>
  send("/reconcile", new URLSearchParams(fields));
const sendQueries = (queries: unknown) => sendForm({ queries: JSON.stringify(queries) });
const batch = async (queries: unknown) =>
  (await sendQueries(queries)).json() as Promise<Record<string, { result: Found[] }>>;
const best = async (query: string, properties: { pid: string; v: unknown }[] = []) =>
  (await batch({ a: { query, properties } }))["a"]?.result[0];

describe("a damaged name", () => {
  const knights = "Knights of Columbus Council";
  test.each([
    ["ST ANNES COMMUNITY CTR", {}, "st-annes-center"],
    ["Saint Anne's Comunity Center, Inc.", {}, "st-annes-center"],
    ["Voyaging Society, Pacific", {}, "pacific-voyaging-society"],
    ["Pacfic Voyaging Society", {}, "pacific-voyaging-society"],
    ["library of hawaii, friends of", {}, "friends-of-the-library"],
    ["Reef and Ocean Research Fdn", {}, "reef-and-ocean"],
    ["99-0305781", {}, "hawaii-foodbank"],
    ["hawaii-foodbank", {}, "hawaii-foodbank"],
    ["Quite another name", { org_id: "EIN 99 0305781" }, "hawaii-foodbank"],
    [knights, { city: "Hilo" }, "knights-hilo"],
    [knights, { city: "HONOLULU" }, "knights-honolulu"],
    [knights, {}, null],
    ["Pacific Voyaging Society", { country: "Kenya" }, null],
    ["Society of Ocean Lawyers", {}, null],
  ])("%s with %j stands for %p", async (name, values, slug) => {
    const properties = Object.entries(values).map(([pid, v]) => ({ pid, v }));
    const found = await best(name, properties);
    expect(found?.match === true ? found.id : null).toBe(slug);
  });

  test.each([
    [knights, { city: "Hilo" }, ["knights-hilo"]],
    [knights, { org_id: "US-EIN-123456789" }, []],
    ["hawaii-foodbank", { org_id: "US-EIN-123456789" }, []],
    ["99-0305781", { org_id: "US-EIN-123456789" }, []],
    ["hawaii-foodbank", { org_id: ein }, ["hawaii-foodbank"]],
    ["hawaii-foodbank", { id: "hawaii-nothing" }, []],
    [knights, { id: "hawaii-foodbank", org_id: ein }, ["hawaii-foodbank"]],
    ["Quite another name", { org_id: ein, country: "US" }, ["hawaii-foodbank"]],
    ["hawaii-foodbank", { country: "Kenya" }, []],
  ])("%s has to have %j", async (propertyValue, values, slugs) => {
    const required = Object.entries(values).map(([propertyId, value]) => {
      const matchType = propertyId === "id" ? "id" : "property";
      return { matchType, propertyId, propertyValue: value, required: true };
    });
    const queries = [{ conditions: [{ matchType: "name", propertyValue }, ...required] }];
    const answer = await service.post("/reconcile/v1/match", { queries });
    const { results } = (await answer.json()) as { results: { candidates: Found[] }[] };
    expect(results[0]?.candidates.map(({ id }) => id)).toEqual(slugs);
  });
});

describe("what cannot be answered is refused in words:", () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, { query: "x" }]));
  const manyIds = JSON.stringify({ ids: Object.keys(many), properties: [] });
  const deep = `{"a": {"query": "x", "properties": ${"[".repeat(60)}${"]".repeat(60)}}}`;
  test.each([
    ["more than 50 names", { queries: JSON.stringify(many) }, 413, "batch_too_large"],
    ["deep JSON", { queries: deep }, 400, "too_deep"],
    ["no JSON", { queries: "{" }, 400, "invalid_json"],
    ["a list", { queries: "[]" }, 400, "invalid_queries"],
    ["another type", { queries: '{"a": {"query": 7}}' }, 400, "invalid_queries"],
    ["51 ids", { extend: manyIds }, 400, "invalid_queries"],
    ["64 KiB", { queries: "x".repeat(65_537) }, 413, "body_too_large"],
  ] as [string, Record<string, string>, number, string][])(
    "%s",
    async (_, fields, status, code) => {
      expect(await (await sendForm(fields)).json()).toMatchObject({ status, code });
    },
  );

  const isRefused = async (answer: Response, words: string) => {
    const detail = expect.stringMatching(new RegExp(`^${RegExp.escape(words)}`));
    expect(await answer.json()).toMatchObject({ status: 400, detail });
  };
  const nameless = { conditions: [{ matchType: "name" }] };
  const condition = { matchType: "name", propertyValue: "x" };
  const year = { matchType: "property", propertyId: "founded_year", propertyValue: "1990" };
  const oneOf = (query: object) => ({ queries: [{ conditions: [condition], ...query }] });
  const wrongLimit = "limit is a whole number from 1";
  const wrongType = "There is one type here";
  test.each([
    [{ query: "x", limit: 0 }, `a.limit: ${wrongLimit}`],
    [{ query: "x", type: ["nonprofit", "person"] }, `a.type: ${wrongType}`],
  ])("%j", async (query, detail) => {
    await isRefused(await sendQueries({ a: query }), detail);
  });
  test.each([
    ["/reconcile", undefined, "Send a form: queries="],
    ["/reconcile/v1/match", undefined, 'Send {"queries": ['],
    ["/reconcile/v1/extend", undefined, 'Send {"ids": ['],
    ["/reconcile/v1/match", oneOf({ limit: 0 }), `queries[0].limit: ${wrongLimit}`],
    ["/reconcile/v1/match", oneOf({ conditions: [] }), "queries[0].conditions: Send at least one"],
    [
      "/reconcile/v1/match",
      oneOf({ conditions: [condition, { ...year, required: true }] }),
      "queries[0].conditions[1]: required is for the properties country, region, city, org_id",
    ],
    ["/reconcile/v1/match", oneOf(nameless), "queries[0].conditions[0].propertyValue: Send a text"],
  ])("%s of %j", async (path, body, detail) => {
    await isRefused(await (body === undefined ? send(path) : service.post(path, body)), detail);
  });
  test.each([
    ["suggest/entity?cursor=-1", "cursor is a whole number"],
    ["suggest/entity?offset=-1", "offset is a whole number"],
    ["extend/propose?type=person", "type is one of nonprofit"],
  ])("%s", async (path, detail) => {
    await isRefused(await service.get(`/reconcile/v1/${path}`), detail);
  });

  test("but one long cell is cut, and the names beside it are answered", async () => {
    const queries = { a: { query: "x".repeat(501) }, b: { query: "Hawaii Foodbank" } };
    expect((await batch(queries))["b"]?.result[0]).toMatchObject({ id: "hawaii-foodbank" });
    const long = { matchType: "name", propertyValue: ["y".repeat(501)] };
    const answer = await service.post("/reconcile/v1/match", oneOf({ conditions: [long] }));
    expect(answer.status).toBe(200);
  });

  test("JSONP", async () => {
    const refused = { status: 400, code: "no_jsonp" };
    expect(await service.json("/reconcile?callback=alert")).toMatchObject(refused);
  });
});

test("keys of a batch come back as they were, whatever they are", async () => {
  const text = '{"__proto__": {"query": "Hawaii Foodbank"}, "constructor": {"query": "zzz"}}';
  const answer = await (await sendForm({ queries: text })).text();
  expect(answer).toStartWith('{"__proto__":{"result":[{"id":"hawaii-foodbank"');
  expect(Object.keys(JSON.parse(answer))).toEqual(["__proto__", "constructor"]);
});

test.each([
  ["every five names", 50, "x"],
  ["every 150 letters of long ones", 3, "long ".repeat(99)],
])("a batch counts as one read for %s", async (_, length, query) => {
  using limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "12" } });
  const queries = Object.fromEntries(Array.from({ length }, (__, at) => [at, { query }]));
  const path = `/reconcile?queries=${encodeURIComponent(JSON.stringify(queries))}`;
  expect((await limited.get(path)).status).toBe(200);
  const second = await limited.get(path);
  expect([second.status, second.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
});

describe("a preview", () => {
  test("shows what strangers wrote as text, runs nothing and may be framed", async () => {
    const response = await service.get("/reconcile/v1/preview?id=evil");
    const page = load(await response.text());
    expect(page("img, script").length).toBe(0);
    expect(page("h1").text().trim()).toBe(`Evil ${evil}`);
    // Without a region there is no comma for it.
    expect(page("p").first().text()).toBe(`${evil}, Kenya`);
    const policy = response.headers.get("content-security-policy");
    for (const rule of ["default-src 'none'", "frame-ancestors *"]) expect(policy).toContain(rule);
    expect(response.headers.get("x-frame-options")).toBeNull();
  });
  test("of nobody is a 404 that repeats nothing", async () => {
    const response = await service.get("/reconcile/v1/preview?id=<script>");
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain("<script>");
  });
});

describe("a table", () => {
  const table = (body: BodyInit, type?: string) =>
    send("/reconcile/csv", body, type === undefined ? {} : { "content-type": type });
  const csv = `Organisation;Town;note\r\nKnights of Columbus Council;Hilo;=1+1\r\nNobody at all;;-5\r\n${evil};;"a;b"\r\n`;
  const expected = [
    "Organisation;Town;note;almoner_id;org_id;matched_name;score;match",
    "Knights of Columbus Council;Hilo;'=1+1;knights-hilo;;Knights of Columbus Council;100;yes",
  ];
  test("comes back with ids, as a file of a form or by itself", async () => {
    const form = new FormData();
    form.set("table", new Blob([csv], { type: "text/csv" }), "names.csv");
    for (const response of [await table(form), await table(csv, "text/csv")]) {
      expect(response.headers.get("content-type")).toStartWith("text/csv");
      const lines = (await response.text()).split("\r\n");
      expect(lines.slice(0, 2)).toEqual(expected);
      expect(lines[2]).toStartWith("Nobody at all;;-5;;;");
      expect(lines).toHaveLength(5);
    }
  });
  test("keeps what stands beyond its header, and may be Excel's Unicode text", async () => {
    const utf16 = Buffer.from("\uFEFFname\tcity\nHawaii Foodbank\tHilo\tx\t=1\n", "utf16le");
    for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
      const answer = await table(bytes, "text/tab-separated-values");
      const [header, row] = (await answer.text()).split("\r\n");
      expect(header).toBe("name\tcity\t\t\talmoner_id\torg_id\tmatched_name\tscore\tmatch");
      expect(row).toStartWith(`Hawaii Foodbank\tHilo\tx\t'=1\thawaii-foodbank\t${ein}\t`);
    }
  });
  test("may have one kind of column again and again", async () => {
    const csvOf = `name${",city".repeat(40)}\nHawaii Foodbank${",Hilo".repeat(40)}\n`;
    expect((await table(csvOf, "text/csv")).status).toBe(200);
  });
  test.each([
    ["n\0a\0m\0e\0\n\0x\0", "invalid_table"],
    [`name\n${"x\n".repeat(501)}`, "invalid_table"],
    [`name\n${"x\n".repeat(40_000)}`, "body_too_large"],
  ])("%#: is refused in words", async (text, code) => {
    expect(await (await table(text, "text/csv")).json()).toMatchObject({ code });
  });
  test("of another kind is refused", async () => {
    expect((await table("{}", "application/json")).status).toBe(415);
    const form = new FormData();
    form.set("file", new Blob([csv], { type: "text/csv" }), "names.csv");
    expect((await (await table(form)).json()).detail).toContain("the field `table`");
  });
});

describe("suggestions", () => {
  test.each([
    ["entity?prefix=pacific+voy", "pacific-voyaging-society"],
    ["entity?prefix=hawaii-foodbank", "hawaii-foodbank"],
    ["property?prefix=register", "org_id"],
    ["property?prefix=ye&offset=1", "beneficiaries_per_year"],
    ["property?prefix=ye&cursor=1", "beneficiaries_per_year"],
    ["type?prefix=", "nonprofit"],
  ])("%s begin with %s", async (path, id) => {
    const answer = await service.json(`/reconcile/v1/suggest/${path}`);
    expect(answer).toMatchObject({ result: [{ id }] });
  });
  test("of another kind are a 404", async () => {
    expect((await service.get("/reconcile/v1/suggest/__proto__?prefix=a")).status).toBe(404);
  });
});

const specs = join(import.meta.dirname, "../../../../shared/references/reconciliation");
if (!existsSync(specs))
  process.stderr.write("skipped: ../shared has no schemas to hold answers against\n");

describe.skipIf(!existsSync(specs)).each(["0.2", "1.0-draft"])(
  "the schemas of %s accept",
  (version) => {
    const folder = join(specs, version, "schemas");
    // The tests are skipped then, but this is run.
    if (!existsSync(folder)) return;
    const ajv = new Ajv({ strict: false, validateSchema: false });
    addFormats(ajv);
    // What a scheme of authentication looks like is said elsewhere; there is none here.
    ajv.addSchema({
      $id: "http://swagger.io/v2/schema.json",
      definitions: { securityDefinitions: { additionalProperties: {} } },
    });
    for (const file of readdirSync(folder).filter((name) => name !== "openapi.json")) {
      const { $schema: _, ...schema } = JSON.parse(readFileSync(join(folder, file), "utf8"));
      ajv.addSchema({ ...schema, $id: `https://schemas.example/${file}` });
    }
    const holds = async (schema: string, answer: Response) => {
      expect(answer.status).toBe(200);
      const validate = ajv.getSchema(`https://schemas.example/${schema}.json`);
      void validate?.(await answer.json());
      expect(validate?.errors ?? null).toBe(null);
      expect(validate).toBeDefined();
    };
    const isDraft = version !== "0.2";
    const root = isDraft ? "/reconcile/v1" : "/reconcile";
    const extend = {
      ids: ["hawaii-foodbank", "no-one"],
      properties: [{ id: "org_id" }, { id: "verified" }, { id: "causes" }],
    };

    test("the manifest", async () => holds("manifest", await service.get(root)));
    test("results", async () => {
      const queries = isDraft
        ? [
            {
              type: "nonprofit",
              limit: 3,
              conditions: [{ matchType: "name", propertyValue: "Knights" }],
            },
            { conditions: [{ matchType: "id", propertyValue: { id: "evil" } }] },
          ]
        : {
            q0: { query: "Knights", type: ["nonprofit"], type_strict: "any", limit: 3 },
            q1: { properties: [{ pid: "org_id", v: [ein] }] },
          };
      const answer = isDraft
        ? await service.post(`${root}/match`, { queries })
        : await sendForm({ queries: JSON.stringify(queries) });
      await holds("reconciliation-result-batch", answer);
    });
    test("data", async () =>
      holds(
        "data-extension-response",
        isDraft
          ? await service.post(`${root}/extend`, extend)
          : await sendForm({ extend: JSON.stringify(extend) }),
      ));
    test.each([
      ["data-extension-property-proposal", "extend/propose?type=nonprofit&limit=3"],
      ["suggest-entities-response", "suggest/entity?prefix=kni"],
      ["suggest-properties-response", "suggest/property?prefix=c"],
      ["suggest-types-response", "suggest/type?prefix=n"],
    ])("%s", async (schema, path) => holds(schema, await service.get(`/reconcile/v1/${path}`)));
  },
);
