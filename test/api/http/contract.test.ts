import { movedRoutes } from "#api/directory/routes.ts";
import { describe, expect, test } from "bun:test";
import { exampleOf } from "#content/contract/base/example.ts";
import { operations, describedParameter } from "#content/openapi/document.ts";
import { DonationStatusParameters, PaymentRequirements } from "#content/contract/donation.ts";
import { claimExample, registrationExample } from "#content/contract/onboarding.ts";
import { DraftAnswer, draftExample } from "#content/contract/recommendation.ts";
import { draftNote } from "#content/recommendation/draft.ts";
import { reviewKinds } from "#content/contract/review.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { curate } from "#test/support/curate.ts";
import { aContract } from "#test/support/contract.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theChain } from "#test/support/local-chain.ts";
import { aClient, aService, theService } from "#test/support/service.ts";

const token = "ops:0123456789abcdef0123456789abcdef";
const contract = aContract("https://almoner.example");
const chain = await theChain();
const service = await theService({
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

type Headers = Record<string, string>;
type Sent = { method?: "GET" | "POST"; path: string; body?: unknown; headers?: Headers };
/** What is sent, and the status of the answer. */
type Case = [number, Sent];

const gets = (status: number, paths: readonly string[], headers: Headers = {}): Case[] =>
  paths.map((path) => [status, { path, headers }]);
const posts = (path: string, ...cases: [number, unknown, Headers?][]): Case[] =>
  cases.map(([status, body, headers = {}]) => [status, { method: "POST", path, body, headers }]);
const admin = (path: string) => `/api/admin/${path}`;

async function problems(sent: Sent): Promise<[number, string[]]> {
  const { method = "GET", path, body, headers = {} } = sent;
  const response = await service.request(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...aClient(),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return [response.status, await contract.problemsOf(method, path, response)];
}

const operator = { authorization: `Bearer ${token.split(":")[1]}` };
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const signing = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"; // On the curve, as a vault is not.
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

describe("answers are as described", () => {
  const onboard = "/api/onboard";
  const drafts = "/api/recommend/drafts";
  const draft = { ...draftExample, slug: "rich" };
  const revertion = { agent_id: "nobody", reason: "Test." };
  const long = "x".repeat(70_000);
  const asText = { "content-type": "text/plain" };
  const keyed = (key: string) => ({ "idempotency-key": key });
  const removal: [unknown, Headers] = [{ reason: "No." }, operator];
  const sent: Case[] = [
    ...gets(200, [
      "/healthz",
      "/api",
      "/api/causes",
      "/api/stats",
      "/api/search",
      "/api/search?q=water",
      "/api/search?q=nothing-like-it",
      "/api/search?q=water&format=csv&fields=slug,match",
      "/api/search?format=ndjson",
      "/api/nonprofits",
      "/api/nonprofits?format=csv",
      "/api/nonprofits/rich",
      "/api/nonprofits/gone",
      "/api/history/rich",
      "/api/organisations?name=rich&country=404",
      "/api/recommend?cause=education",
      "/api/recommend?cause=health&intent=verify",
      "/api/needs-enrichment",
      "/api/needs-enrichment?pending=true",
      "/api/enrichments/stats",
      "/api/agents/leaderboard",
      "/api/agents/exemplars",
      "/api/donations/rich",
      "/api/donations/gone",
      "/reconcile",
      `/reconcile?queries=${encodeURIComponent('{"a": {"query": "rich"}}')}`,
      "/reconcile/v1",
      "/reconcile/v1/suggest/entity?prefix=rich",
    ]),
    ...["", "?amount=0.000001", `?amount=10000&payer=${wallet}`]
      .map((query) => `/api/donate/rich${query}`)
      .flatMap((path) => [...gets(402, [path]), ...posts(path, [402, undefined], [402, {}])]),
    ...gets(308, ["/api/nonprofits/RICH", "/api/history/1?limit=2", "/api/donate/RICH"]),
    ...posts("/api/enrich/RICH", [308, submission]),
    ...posts(
      "/api/enrich/thin",
      [400, {}],
      [400, "{"],
      [400, { ...submission, field: "name" }],
      [400, submission, keyed("a b")],
      [413, { ...submission, value: long }],
      [415, "field=city", asText],
      [200, { ...submission, agent_id: "key-1" }, keyed("k1")],
      [409, { ...submission, agent_id: "key-1", value: "Oslo" }, keyed("k1")],
    ),
    ...posts("/api/enrich/nobody", [404, submission]),
    ...posts("/api/enrich/gone", [410, submission]),
    ...posts(
      drafts,
      [200, draft],
      [200, { ...draft, agent_id: "second" }],
      [400, { ...draft, why_recommended: "The best." }],
      [400, []],
      [404, { ...draft, slug: "nobody" }],
      [410, { ...draft, slug: "gone" }],
    ),
    ...posts(
      "/api/gaps",
      [200, { looked_for: "Its wells.", slug: "rich" }],
      [400, { looked_for: "", country: "Nowhere" }],
      [404, { looked_for: "It.", slug: "nobody" }],
    ),
    ...gets(200, ["/api/gaps"]),
    ...posts(
      onboard,
      [200, claimExampleOf("thin")],
      [200, claimExampleOf("thin")], // Again: without a link.
      [200, { ...registrationExample, usdc_wallet: wallet }],
      [200, claimExampleOf("rich"), keyed("o1")],
      [409, { ...claimExampleOf("rich"), city: "Lamu" }, keyed("o1")],
      [400, {}],
      [400, { ...claimExampleOf("thin"), usdc_wallet: "x" }],
      [404, claimExampleOf("nobody")],
      [410, claimExampleOf("gone")],
      [413, { ...registrationExample, mission: long }],
      [415, "claim", asText],
    ),
    ...gets(200, [`${onboard}/challenge?wallet=${signing}`]),
    ...gets(400, [`${onboard}/challenge?wallet=x`, `${onboard}/challenge`]),
    ...gets(404, [`${onboard}/status`]),
    ...["host-proof", "withdraw"].flatMap((step) =>
      posts(`${onboard}/${step}`, [403, undefined, { "sec-fetch-site": "cross-site" }]),
    ),
    ...gets(
      401,
      ["picks", "reviews", "reviews/prose-1", "queues", "audit", "health", "numbers"].map(admin),
    ),
    ...posts(admin("agents/revert"), [401, revertion]),
    ...gets(
      200,
      [
        "picks?limit=1",
        ...reviewKinds.map((kind) => `reviews?kind=${kind}`),
        "queues",
        "gaps?limit=1",
        "audit",
        "health",
        "numbers",
      ].map(admin),
      operator,
    ),
    ...posts(
      admin("picks"),
      [400, { slug: "thin" }, operator],
      [200, aPick, operator],
      [409, aPick, operator],
    ),
    ...posts(admin("picks/thin"), [200, { causes: ["health"] }, operator]),
    ...posts(admin("picks/thin/remove"), [400, {}, operator], [200, ...removal], [404, ...removal]),
    ...posts(
      admin("agents/revert"),
      [400, { agent_id: "x" }, operator],
      [200, revertion, operator],
    ),
    ...posts(admin("agents/name"), [409, { ...revertion, name: "Scout" }, operator]),
    ...posts(admin("contacts/erase"), [404, { review: "onboarding-0" }, operator]),
  ];

  test.each(sent.map(([status, one]) => [status, one.method ?? "GET", one.path, one] as const))(
    "%i: %s %s",
    async (status, _, __, one) => {
      expect(await problems(one)).toEqual([status, []]);
    },
  );

  const fits = async (cases: readonly Case[]) => {
    for (const [status, one] of cases)
      expect([one.path, await problems(one)]).toEqual([one.path, [status, []]]);
  };

  test("through the whole life of a value", async () => {
    const agreed = { field: "website", value: "https://thin.example" };
    const fields = [
      { field: "region", value: "Nyanza" },
      { field: "founded_year", value: "1998" },
    ];
    await fits(
      posts(
        "/api/enrich/thin",
        [200, submission],
        [200, { ...submission, value: "Oslo", agent_id: "lamp-2", agent_name: "Lamp" }],
        [200, { ...submission, agent_id: "third-3" }],
        [200, { ...agreed, agent_id: "scout-1" }],
        [200, { ...agreed, agent_id: "lamp-2", source_url: "https://register.example/2" }],
        [200, { field: "mission", value: "We dig wells.", agent_id: "scout-1" }],
        [200, { fields, agent_id: "scout-1" }],
      ),
    );
    await fits(
      gets(200, [
        "/api/nonprofits/thin",
        "/api/history/thin",
        "/api/needs-enrichment",
        "/api/needs-enrichment?pending=1",
        "/api/enrichments/stats",
        "/api/agents/leaderboard",
        "/api/agents/exemplars",
        "/api/stats",
      ]),
    );
    const waiting = await service.json(admin("reviews?kind=prose"), operator);
    const id = waiting.reviews[0].id as string;
    await fits(gets(200, [admin("reviews"), admin(`reviews/${id}`)], operator));
    await fits(posts(admin(`reviews/${id}/approve`), [200, {}, operator], [409, {}, operator]));
    await fits(gets(200, [admin("audit")], operator));
  });

  test("through a claim, and what its sender hears of it", async () => {
    const wallets = { contact_email: "office@thin.example", usdc_wallet: signing };
    await fits(posts(onboard, [200, { claim_slug: "thin", ...wallets }]));
    for (const body of [
      { ...wallets, claim_slug: "rich", contact_email: "office@rich.example" },
      { ...registrationExample, name: "Secret House" },
    ]) {
      const { status_url } = await (await service.post(onboard, body)).json();
      const headers = { authorization: `Bearer ${status_url.split("#")[1]}` };
      await fits(gets(200, [`${onboard}/status`], headers));
    }
  });

  test("304 to anyone who has it", async () => {
    const path = "/api/nonprofits/rich";
    const etag = (await service.get(path)).headers.get("etag") ?? "";
    await fits(gets(304, [path], { "if-none-match": etag }));
  });

  test("429 to anyone who asks too often", async () => {
    using limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "1" } });
    await limited.get("/api/causes");
    const response = await limited.get("/api/causes");
    expect(response.status).toBe(429);
    expect(await contract.problemsOf("GET", "/api/causes", response)).toEqual([]);
  });
});
