import { movedRoutes } from "#api/directory/routes.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { exampleOf } from "#content/contract/base/example.ts";
import { operations } from "#content/openapi/document.ts";
import { DonationStatusParameters, PaymentRequirements } from "#content/contract/donation.ts";
import { describedParameter, idOf } from "#content/openapi/schemas.ts";
import { claimExample, registrationExample } from "#content/contract/onboarding.ts";
import { DraftAnswer, draftExample } from "#content/contract/recommendation.ts";
import { draftNote } from "#content/recommendation/draft.ts";
import { reviewKinds } from "#content/contract/review.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { curate } from "#test/support/curate.ts";
import { aContract } from "#test/support/contract.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
import { aService, type TestService } from "#test/support/service.ts";

const token = "ops:0123456789abcdef0123456789abcdef";
const contract = aContract("https://almoner.example");
let chain: TestChain;
let service: TestService;
beforeAll(async () => {
  chain = await aChain();
  service = await aService({
    // Each request comes from a client of its own, so that no limit hides an answer.
    env: {
      ALMONER_ADMIN_TOKENS: token,
      ALMONER_TRUSTED_HOPS: "1",
      ALMONER_RECOMMENDATION_PHASE: "3",
      ALMONER_SOLANA_RPC_URLS: chain.url,
    },
    records: [
      aRichNonprofit({ slug: "rich", name: "Rich Water Trust" }),
      aNonprofit({ slug: "thin" }),
      aNonprofit({ slug: "gone", status: "withdrawn" }),
    ],
  });
  await curate(service, aRichNonprofit({ slug: "picked", causes: ["health"], registrations: [] }));
});
afterAll(async () => {
  service.close();
  await chain.stop();
});

type Sent = {
  method?: "GET" | "POST";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
};

let clients = 0;

async function problems({
  method = "GET",
  path,
  body,
  headers = {},
}: Sent): Promise<[number, string[]]> {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "x-forwarded-for": `10.${(clients >> 8) & 255}.${clients++ & 255}.1`,
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const response = await service.app.handle(request);
  return [response.status, await contract.problemsOf(method, path, response)];
}

const operator = { authorization: `Bearer ${token.split(":")[1]}` };
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const claimExampleOf = (claim_slug: string) => ({ ...claimExample, claim_slug });
const aPick = { slug: "thin", recommended_for: ["wells"], why_recommended: "Mends wells." };
const submission = { field: "city", value: "Bergen", agent_id: "scout-1", agent_name: "Scout" };

test("the length of a memo is described, though the operation itself refuses another", () => {
  expect(describedParameter(DonationStatusParameters.shape.memo)).toMatchObject({
    required: true,
    schema: { minLength: 32, maxLength: 32 },
  });
});

test("the examples of a gift and a draft are what the service would answer", () => {
  const { solana_pay } = PaymentRequirements.parse(exampleOf(PaymentRequirements));
  const named = ["amount", "spl-token", "reference", "memo", "label"];
  expect([...new URL(solana_pay).searchParams.keys()]).toEqual(named);
  const { phase, promotion_note } = DraftAnswer.parse(exampleOf(DraftAnswer));
  const waiting = draftNote({ kind: "awaiting", confidence: 1 }, "agents");
  expect([phase, promotion_note]).toEqual([3, waiting]);
});

test("every route is described, and every described operation of the service is a route", () => {
  const files = new Set(["getChangeState", "getChanges"]);
  const described = operations
    .filter(({ operationId, tag }) => tag !== "Files" && !files.has(operationId))
    .map(
      ({ method, path }) =>
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}(?:\.\w+$)?/g, ":$1")}`,
    );
  const moved = new Set(movedRoutes().routes.map(({ path }) => `GET ${path}`));
  const routes = service.app.routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !moved.has(route))
    .filter((route) => route !== "GET /metrics") // In the format of Prometheus, for who runs it.
    .filter((route) => !/ \/(?:desk|organisations|onboard|corrections)(\/|$)/.test(route)) // Pages for people.
    .filter((route) => !/ \/[a-z]{2}\//.test(route)) // The same pages in other languages.
    .filter((route) => !route.endsWith("/status/page"));
  expect(routes.toSorted()).toEqual(described.toSorted());
});

test("operation ids are unique, and the contract's are all there", () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(
    expect.arrayContaining([
      "searchNonprofits",
      "listNonprofits",
      "getNonprofit",
      "listCauses",
      "getStats",
      "recommendNonprofits",
      "findThinProfiles",
      "submitEnrichment",
      "getEnrichmentStats",
      "initiateDonation",
      "settleDonation",
      "getDonationHistory",
      "getAgentLeaderboard",
      "getAgentExemplars",
    ]),
  );
  expect(contract.document["openapi"]).toBe("3.1.0" as never);
  expect(contract.document["info"]?.["version"]).toBe("0.3.0" as never);
});

test("every parameter and every header has an example that fits, and what must be sent is said to be required", () => {
  expect(contract.examplesAmiss()).toEqual([]);
  const required = contract
    .parameters()
    .filter((one) => one.in === "query" && one.required === true);
  expect(required.map(({ name }) => name)).toEqual(["orgs", "name", "memo", "wallet", "agent_id"]);
});

describe("every example fits its schema", () => {
  const named = operations.filter(({ ok }) => ok?.shape !== "text");
  test.each(named.map((one) => [one.operationId, one] as const))(
    "%s",
    (_, { ok, also = [], body }) => {
      for (const shape of [ok?.shape, body?.shape, ...also.map((one) => one.shape)]) {
        if (shape === undefined || shape === "text") continue;
        const schema = `/components/schemas/${idOf(shape)}`;
        expect(contract.schemaErrors(schema, exampleOf(shape))).toBeNull();
      }
    },
  );
});

describe("answers are as described", () => {
  const sent: [number, Sent][] = [
    ...[
      "/healthz",
      "/api/causes",
      "/api/stats",
      "/api/search",
      "/api/search?q=water",
      "/api/search?q=nothing-like-it",
      "/api/search?cause=education&country=Kenya&limit=1&offset=0",
      "/api/search?ghd_aligned=1&limit=999",
      "/api/search?q=%22rich%20water%22",
      "/api/search?offset=999999",
      "/api/search?q=water&format=csv&fields=slug,match",
      "/api/search?format=ndjson",
      "/api/nonprofits",
      "/api/nonprofits?limit=1&offset=1",
      "/api/nonprofits?format=csv",
      "/api/nonprofits/rich",
      "/api/nonprofits/thin",
      "/api/nonprofits/gone",
      "/api/history/rich",
      "/api/recommend?cause=education",
      "/api/recommend?cause=health&intent=verify",
      "/api/recommend?q=water&intent=donate&limit=9",
      "/api/recommend?country=Kenya",
      "/api/needs-enrichment",
      "/api/needs-enrichment?pending=true",
      "/api/needs-enrichment?field=mission&limit=1",
      "/api/needs-enrichment?cause=nobody-knows-it",
      "/api/enrichments/stats",
      "/api/agents/leaderboard",
      "/api/agents/exemplars",
      "/api/agents/exemplars?field=city&limit=1",
      "/api/donations/rich",
      "/api/donations/gone",
    ].map((path): [number, Sent] => [200, { path }]),
    ...[
      "/api/donate/rich",
      "/api/donate/rich?amount=0.000001",
      `/api/donate/rich?amount=10000&payer=${wallet}`,
    ].flatMap((path): [number, Sent][] => [
      [402, { path }],
      [402, { method: "POST", path }],
      [402, { method: "POST", path, body: {} }],
    ]),
    ...["/api/nonprofits/RICH", "/api/history/1?limit=2", "/api/donate/RICH"].map(
      (path): [number, Sent] => [308, { path }],
    ),
    [308, { method: "POST", path: "/api/enrich/RICH", body: submission }],
    [404, { path: "/api/donate/nobody" }],
    [404, { path: "/api/donations/nobody" }],
    [404, { path: "/api/donations/rich/none" }],
    [410, { method: "POST", path: "/api/donate/gone" }],
    [422, { path: "/api/donate/thin" }],
    ...["1e3", "0", "%201", "+1", "10000.000001", "1.0000001"].map((amount): [number, Sent] => [
      400,
      { path: `/api/donate/rich?amount=${amount}` },
    ]),
    [400, { path: "/api/donate/rich?payer=me" }],
    ...[
      "/api/search?limit=0",
      "/api/search?offset=-1",
      "/api/nonprofits?limit=x",
      "/api/nonprofits?offset=1.5",
      "/api/recommend",
      "/api/recommend?q=&limit=3",
      "/api/recommend?cause=education&intent=buy",
      "/api/needs-enrichment?field=name",
      "/api/needs-enrichment?limit=-3",
      "/api/agents/exemplars?field=x",
    ].map((path): [number, Sent] => [400, { path }]),
    ...["/api/nonprofits/nobody", "/api/nonprofits/%20", "/api/history/nobody"].map(
      (path): [number, Sent] => [404, { path }],
    ),
    [400, { method: "POST", path: "/api/enrich/thin", body: {} }],
    [400, { method: "POST", path: "/api/enrich/thin", body: "{" }],
    [400, { method: "POST", path: "/api/enrich/thin", body: { ...submission, field: "name" } }],
    [
      400,
      {
        method: "POST",
        path: "/api/enrich/thin",
        body: submission,
        headers: { "idempotency-key": "a b" },
      },
    ],
    [404, { method: "POST", path: "/api/enrich/nobody", body: submission }],
    [410, { method: "POST", path: "/api/enrich/gone", body: submission }],
    [
      413,
      {
        method: "POST",
        path: "/api/enrich/thin",
        body: { ...submission, value: "x".repeat(70_000) },
      },
    ],
    [
      415,
      {
        method: "POST",
        path: "/api/enrich/thin",
        body: "field=city",
        headers: { "content-type": "text/plain" },
      },
    ],
    [
      200,
      {
        method: "POST",
        path: "/api/enrich/thin",
        body: { ...submission, agent_id: "key-1" },
        headers: { "idempotency-key": "k1" },
      },
    ],
    [
      409,
      {
        method: "POST",
        path: "/api/enrich/thin",
        body: { ...submission, agent_id: "key-1", value: "Oslo" },
        headers: { "idempotency-key": "k1" },
      },
    ],
    [
      200,
      { method: "POST", path: "/api/recommend/drafts", body: { ...draftExample, slug: "rich" } },
    ],
    [
      200,
      {
        method: "POST",
        path: "/api/recommend/drafts",
        body: { ...draftExample, slug: "rich", agent_id: "second" },
      },
    ],
    [
      400,
      {
        method: "POST",
        path: "/api/recommend/drafts",
        body: { ...draftExample, slug: "rich", why_recommended: "The best." },
      },
    ],
    [400, { method: "POST", path: "/api/recommend/drafts", body: [] }],
    [
      404,
      { method: "POST", path: "/api/recommend/drafts", body: { ...draftExample, slug: "nobody" } },
    ],
    [
      410,
      { method: "POST", path: "/api/recommend/drafts", body: { ...draftExample, slug: "gone" } },
    ],
    [200, { path: "/api/recommend?q=rich%20water&limit=5" }],
    [200, { method: "POST", path: "/api/gaps", body: { looked_for: "Its wells.", slug: "rich" } }],
    [200, { path: "/api/gaps" }],
    [200, { path: "/api" }],
    [200, { path: "/api/organisations?name=rich&country=404" }],
    [400, { path: "/api/organisations" }],
    [200, { path: "/api/needs-enrichment?limit=2" }],
    [400, { method: "POST", path: "/api/gaps", body: { looked_for: "", country: "Nowhere" } }],
    [404, { method: "POST", path: "/api/gaps", body: { looked_for: "It.", slug: "nobody" } }],
    [200, { method: "POST", path: "/api/onboard", body: claimExampleOf("thin") }],
    [200, { method: "POST", path: "/api/onboard", body: claimExampleOf("thin") }], // Again: without a link.
    [
      200,
      {
        method: "POST",
        path: "/api/onboard",
        body: { ...registrationExample, usdc_wallet: wallet },
      },
    ],
    [
      200,
      {
        method: "POST",
        path: "/api/onboard",
        body: claimExampleOf("rich"),
        headers: { "idempotency-key": "o1" },
      },
    ],
    [
      409,
      {
        method: "POST",
        path: "/api/onboard",
        body: { ...claimExampleOf("rich"), city: "Lamu" },
        headers: { "idempotency-key": "o1" },
      },
    ],
    [400, { method: "POST", path: "/api/onboard", body: {} }],
    [
      400,
      {
        method: "POST",
        path: "/api/onboard",
        body: { ...claimExampleOf("thin"), usdc_wallet: "x" },
      },
    ],
    [404, { method: "POST", path: "/api/onboard", body: claimExampleOf("nobody") }],
    [410, { method: "POST", path: "/api/onboard", body: claimExampleOf("gone") }],
    [
      413,
      {
        method: "POST",
        path: "/api/onboard",
        body: { ...registrationExample, mission: "x".repeat(70_000) },
      },
    ],
    [
      415,
      {
        method: "POST",
        path: "/api/onboard",
        body: "claim",
        headers: { "content-type": "text/plain" },
      },
    ],
    [200, { path: "/api/onboard/challenge?wallet=7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV" }],
    [400, { path: "/api/onboard/challenge?wallet=x" }],
    [404, { path: "/api/onboard/status" }],
    [401, { path: "/api/admin/picks" }],
    [200, { path: "/api/admin/picks?limit=1", headers: operator }],
    [400, { method: "POST", path: "/api/admin/picks", body: { slug: "thin" }, headers: operator }],
    [200, { method: "POST", path: "/api/admin/picks", body: aPick, headers: operator }],
    [409, { method: "POST", path: "/api/admin/picks", body: aPick, headers: operator }],
    [
      200,
      {
        method: "POST",
        path: "/api/admin/picks/thin",
        body: { causes: ["health"] },
        headers: operator,
      },
    ],
    [400, { method: "POST", path: "/api/admin/picks/thin/remove", body: {}, headers: operator }],
    [
      200,
      {
        method: "POST",
        path: "/api/admin/picks/thin/remove",
        body: { reason: "No." },
        headers: operator,
      },
    ],
    [
      404,
      {
        method: "POST",
        path: "/api/admin/picks/thin/remove",
        body: { reason: "No." },
        headers: operator,
      },
    ],
    [401, { path: "/api/admin/reviews" }],
    ...reviewKinds.map((kind): [number, Sent] => [
      200,
      { path: `/api/admin/reviews?kind=${kind}`, headers: operator },
    ]),
    [400, { path: "/api/admin/reviews?kind=x", headers: operator }],
    ...["reviews/prose-1", "queues", "audit"].map((path): [number, Sent] => [
      401,
      { path: `/api/admin/${path}` },
    ]),
    [404, { path: "/api/admin/reviews/prose-999", headers: operator }],
    ...[
      "queues",
      "gaps?limit=1",
      "audit",
      "audit?operator=ops&action=revert.agent&subject=x&before=9&limit=1",
    ].map((path): [number, Sent] => [200, { path: `/api/admin/${path}`, headers: operator }]),
    [400, { path: "/api/admin/audit?before=0", headers: operator }],
    [
      400,
      {
        method: "POST",
        path: "/api/admin/agents/revert",
        body: { agent_id: "x" },
        headers: operator,
      },
    ],
    [
      200,
      {
        method: "POST",
        path: "/api/admin/agents/revert",
        body: { agent_id: "nobody", reason: "Test." },
        headers: operator,
      },
    ],
    ...["health", "numbers", "numbers?days=9999"].map((path): [number, Sent] => [
      200,
      { path: `/api/admin/${path}`, headers: operator },
    ]),
    ...["health", "numbers"].map((path): [number, Sent] => [401, { path: `/api/admin/${path}` }]),
    [400, { path: "/api/admin/numbers?days=0", headers: operator }],
    [
      401,
      {
        method: "POST",
        path: "/api/admin/agents/revert",
        body: { agent_id: "nobody", reason: "Test." },
      },
    ],
    [
      404,
      { method: "POST", path: "/api/admin/reviews/prose-999/approve", body: {}, headers: operator },
    ],
    [
      404,
      {
        method: "POST",
        path: "/api/admin/reviews/prose-999/reject",
        body: { reason: "No." },
        headers: operator,
      },
    ],
    [
      400,
      { method: "POST", path: "/api/admin/reviews/prose-1/reject", body: {}, headers: operator },
    ],
  ];

  test.each(sent.map(([status, one]) => [status, one.method ?? "GET", one.path, one] as const))(
    "%i: %s %s",
    async (status, _, __, one) => {
      expect(await problems(one)).toEqual([status, []]);
    },
  );

  test("to anyone who holds the secret of a request", async () => {
    const answer = await service.post("/api/onboard", {
      ...registrationExample,
      name: "Secret House",
    });
    const { status_url } = (await answer.json()) as { status_url: string };
    const headers = { authorization: `Bearer ${status_url.split("#")[1]}` };
    expect(await problems({ path: "/api/onboard/status", headers })).toEqual([200, []]);
  });

  test("through the whole life of a value", async () => {
    const submit = (slug: string, body: object) =>
      problems({ method: "POST", path: `/api/enrich/${slug}`, body });
    const agreed = { field: "website", value: "https://thin.example" };
    const steps = [
      submission,
      { ...submission, value: "Oslo", agent_id: "lamp-2", agent_name: "Lamp" },
      { ...submission, agent_id: "third-3" },
      { ...agreed, agent_id: "scout-1" },
      { ...agreed, agent_id: "lamp-2", source_url: "https://register.example/2" },
      { field: "mission", value: "We dig wells where there are none.", agent_id: "scout-1" },
      {
        fields: [
          { field: "region", value: "Nyanza" },
          { field: "founded_year", value: "1998" },
        ],
        agent_id: "scout-1",
      },
    ];
    for (const step of steps) expect(await submit("thin", step)).toEqual([200, []]);
    for (const path of [
      "/api/nonprofits/thin",
      "/api/history/thin",
      "/api/needs-enrichment",
      "/api/needs-enrichment?pending=1",
      "/api/enrichments/stats",
      "/api/agents/leaderboard",
      "/api/agents/exemplars",
      "/api/stats",
    ])
      expect([path, await problems({ path })]).toEqual([path, [200, []]]);
    const waiting = await service.get("/api/admin/reviews?kind=prose", operator);
    const id = (await waiting.json()).reviews[0].id as string;
    const path = `/api/admin/reviews/${id}/approve`;
    expect(await problems({ path: "/api/admin/reviews", headers: operator })).toEqual([200, []]);
    expect(await problems({ path: `/api/admin/reviews/${id}`, headers: operator })).toEqual([
      200,
      [],
    ]);
    expect(await problems({ method: "POST", path, body: {}, headers: operator })).toEqual([
      200,
      [],
    ]);
    expect(await problems({ method: "POST", path, body: {}, headers: operator })).toEqual([
      409,
      [],
    ]);
    expect(await problems({ path: "/api/admin/audit", headers: operator })).toEqual([200, []]);
  });

  test("through a claim, and what its sender hears of it", async () => {
    const signing = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"; // On the curve, as a vault is not.
    const path = "/api/onboard";
    expect(await problems({ path: `${path}/challenge?wallet=${signing}` })).toEqual([200, []]);
    expect(await problems({ path: `${path}/challenge` })).toEqual([400, []]);
    const body = { claim_slug: "thin", contact_email: "office@thin.example", usdc_wallet: signing };
    expect(await problems({ method: "POST", path, body })).toEqual([200, []]);
    expect(await problems({ method: "POST", path, body: {} })).toEqual([400, []]);
    const other = { ...body, claim_slug: "rich", contact_email: "office@rich.example" };
    const { status_url } = (await (await service.post(path, other)).json()) as {
      status_url: string;
    };
    const headers = { authorization: `Bearer ${status_url.split("#")[1]}` };
    expect(await problems({ path: `${path}/status`, headers })).toEqual([200, []]);
    expect(await problems({ path: `${path}/status` })).toEqual([404, []]);
  });

  test("304 to anyone who has it", async () => {
    const path = "/api/nonprofits/rich";
    const etag = (await service.get(path)).headers.get("etag") ?? "";
    expect(await problems({ path, headers: { "if-none-match": etag } })).toEqual([304, []]);
  });

  test("429 to anyone who asks too often", async () => {
    const limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "1" } });
    await limited.get("/api/causes");
    const response = await limited.get("/api/causes");
    expect(response.status).toBe(429);
    expect(await contract.problemsOf("GET", "/api/causes", response)).toEqual([]);
    limited.close();
  });
});

describe("whatever is sent", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ maxLength: 60 }),
    fc.constantFrom(
      "",
      "-1",
      "0",
      "1e9",
      "NaN",
      "' OR 1=1 --",
      '"',
      "*",
      "a*b NEAR(",
      "\u0000",
      "\u202E",
      "../..",
      "x".repeat(3_000),
    ),
  );
  const encoded = text.map((value) => encodeURIComponent(value.toWellFormed()));
  const names = [
    "q",
    "cause",
    "country",
    "limit",
    "offset",
    "intent",
    "field",
    "pending",
    "kind",
    "amount",
    "payer",
    "memo",
    "ghd_aligned",
  ];
  const query = fc.array(fc.tuple(fc.constantFrom(...names), encoded), { maxLength: 5 });
  const reads = operations.filter(
    ({ method, path }) => method === "get" && path.startsWith("/api/"),
  );
  const segment = encoded.filter((value) => value !== "" && !/^(\.|%2e)+$/i.test(value));

  test(
    "to a read, the answer is as described and never 5xx",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...reads),
          segment,
          query,
          async ({ path }, place, pairs) => {
            const filled = path.replaceAll(/\{\w+\}/g, place);
            const search = pairs.map(([name, value]) => `${name}=${value}`).join("&");
            const [status, wrong] = await problems({
              path: `${filled}?${search}`,
              headers: operator,
            });
            expect([status < 500, wrong]).toEqual([true, []]);
          },
        ),
        { numRuns: 400 },
      ),
    20_000,
  );

  const member = fc.oneof(
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    fc.object({ maxDepth: 2 }),
  );
  const memberNames = [
    "field",
    "value",
    "agent_id",
    "agent_name",
    "source_url",
    "fields",
    "slug",
    "recommended_for",
    "why_recommended",
    "causes",
    "tx_signature",
    "claim_slug",
    "name",
    "contact_email",
    "country",
    "website",
    "usdc_wallet",
    "wallet_signature",
    "reason",
  ];
  const body = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.dictionary(fc.constantFrom(...memberNames), member, { maxKeys: 8 }),
    fc.record({
      field: fc.constantFrom("city", "website", "mission"),
      value: text,
      agent_id: text,
    }),
  );
  // MCP has refusals of its own.
  const writes = operations.filter(
    ({ method, path }) => method === "post" && !path.startsWith("/mcp"),
  );
  const place = fc.oneof(fc.constantFrom("rich", "thin", "nobody", "prose-1", "7"), segment);

  test(
    "to a write, too",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...writes),
          place,
          body,
          fc.boolean(),
          async ({ path }, filled, value, known) => {
            const [status, wrong] = await problems({
              method: "POST",
              path: path.replaceAll(/\{\w+\}/g, filled),
              body: JSON.stringify(value),
              headers: known ? operator : {},
            });
            expect([status < 500, wrong]).toEqual([true, []]);
          },
        ),
        { numRuns: 400 },
      ),
    20_000,
  );
});
