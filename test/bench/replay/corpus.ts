import { ofAddresses, ofOperations } from "./operations.ts";

/** One request; `<<name>>` in it is what an earlier answer gave. */
export type Call = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Bytes as they are written to the socket, in place of all else. */
  raw?: string;
  /** What to keep of the answer (its cookie, its body): the first group of each pattern. */
  remember?: Record<string, string>;
  /** Waits first, until what came before is published. */
  rest?: true;
};

/** What stands in the directory that is asked. */
export type Sample = {
  nonprofits: { slug: string; name: string; city: string | null; country: string }[];
  thin: string[];
  causes: string[];
};

export const deskToken = "4f1c0a9be27d53864f1c0a9be27d53868e02b7d16a95f3c48e02b7d16a95f3c4";

const json = { "content-type": "application/json" };
const operator = { ...json, authorization: `Bearer ${deskToken}` };
const markdown = { accept: "text/markdown" };
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const get = (path: string, headers?: Record<string, string>): Call =>
  headers === undefined ? { path } : { path, headers };
const post = (path: string, body: unknown, headers: Record<string, string> = json): Call => ({
  method: "POST",
  path,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

/** Some 6,000 requests: reads good and bad, each write, operators' calls, the desk, tools, and all kinds of pages. */
export function corpus(sample: Sample): Call[] {
  return [
    ...pages(sample),
    ...files,
    ...questions(sample),
    ...addresses(sample),
    ...ofAddresses(sample),
    ...writes(sample),
    ...tools(sample),
    ...operators(sample).map((call, at) => (at === 0 ? { ...call, rest: true as const } : call)),
    ...desk(sample),
    ...ofOperations(sample, deskToken).map((call, at) =>
      at === 0 ? { ...call, rest: true as const } : call,
    ),
    ...after(sample),
  ];
}

const ofProfile = (slug: string): string[] => [
  `/nonprofits/${slug}`,
  `/nonprofits/${slug}.html`,
  `/nonprofits/${slug}.md`,
  `/nonprofits/${slug}/history`,
  `/api/nonprofits/${slug}`,
  `/api/nonprofits/${slug}.json`,
  `/api/history/${slug}`,
  `/history/${slug}`,
  `/donate/${slug}`,
  `/api/donations/${slug}`,
  `/api/donate/${slug}/quote?amount=2.5`,
  `/es/nonprofits/${slug}`,
  `/fr/donate/${slug}`,
];

function pages({ nonprofits, causes }: Sample): Call[] {
  const countries = ["us", "gb", "ke", "in", "br", "US", "xx"];
  const lists = [
    ...causes.flatMap((id) => [
      `/causes/${id}`,
      `/causes/${id}.md`,
      `/causes/${id}-2`,
      `/es/causes/${id}`,
    ]),
    ...countries.flatMap((code) => [
      `/countries/${code}`,
      `/countries/${code}.md`,
      `/fr/countries/${code}`,
    ]),
  ];
  const single = [
    "/",
    "/causes",
    "/countries",
    "/nonprofits",
    "/agents",
    "/methodology",
    "/statistics",
    "/recommendations",
    "/search",
    "/browse",
    "/onboard",
    "/corrections",
    "/onboard/status",
    "/corrections/status",
    "/receipt",
    "/widget",
    "/match",
    "/about",
    "/nothing-here",
    "/history",
    "/donate",
    "/es",
    "/fr",
    "/es/causes",
    "/de",
  ];
  return [...nonprofits.slice(0, 40).flatMap(({ slug }) => ofProfile(slug)), ...lists, ...single]
    .map((path) => get(path, browser))
    .concat(
      [
        ...single,
        ...nonprofits.slice(0, 20).map(({ slug }) => `/nonprofits/${slug}`),
        ...lists.slice(0, 20),
      ].map((path) => get(path, markdown)),
    );
}

const files: Call[] = [
  "/llms.txt",
  "/agents.md",
  "/openapi.json",
  "/agents.arazzo.yaml",
  "/.well-known/ai-plugin.json",
  "/.well-known/api-catalog",
  "/.well-known/security.txt",
  "/robots.txt",
  "/sitemap.xml",
  "/sitemaps/pages.xml",
  "/changes/state.json",
  "/changes/1.json",
  "/snapshot/manifest.json",
  "/healthz",
  "/readyz",
  "/metrics",
  "/api/causes",
  "/api/stats",
  "/api/nonprofits",
  "/api/nonprofits.json",
  "/api/nonprofits/pages/2",
  "/verify-receipt.md",
  "/favicon.ico",
  "/404.html",
  "/index.html",
  "/agents.html",
  "/leaderboard.md",
].map((path) => get(path));

function questions({ nonprofits, causes }: Sample): Call[] {
  const words = nonprofits.flatMap(({ name, city }) => [
    name,
    name.split(" ")[0] ?? "",
    `${name.split(" ").at(-1)} ${city ?? ""}`,
  ]);
  const filters = [
    "",
    "cause=health",
    "country=Kenya",
    "country=us",
    "ghd_aligned=1",
    "accepts=usdc",
    "has_website=1",
    "limit=0",
    "limit=-1",
    "limit=99",
    "limit=x",
    "offset=3",
    "offset=-1",
    "cause=nothing",
    "country=zz",
    "region=Ohio",
    "literal=1",
    "cause=health&cause=water",
    "unknown=1",
    "q=",
    "q=%22clean%20water%22",
    "q=%FF",
    "q=a%00b",
    "page=2",
    "sort=name",
    "income=small",
    "claimed=1",
    "city=Oslo",
    "fields=name",
  ];
  return [
    ...words.map((word) => `/api/search?q=${encodeURIComponent(word)}`),
    ...words.slice(0, 60).map((word) => `/search?q=${encodeURIComponent(word)}`),
    ...[
      "/api/search",
      "/api/nonprofits",
      "/browse",
      "/search",
      "/es/browse",
      "/api/needs-enrichment",
    ].flatMap((path) => filters.map((filter) => `${path}?${filter}`)),
    ...causes.flatMap((id) => [
      `/api/recommend?cause=${id}`,
      `/api/needs-enrichment?cause=${id}&limit=3`,
    ]),
    ...["donate", "compare", "verify", "discover", "buy"].map(
      (intent) => `/api/recommend?q=water&intent=${intent}`,
    ),
    "/api/recommend",
    "/api/recommend?limit=9&q=education",
    "/api/recommend?country=Kenya",
    "/api/needs-enrichment?field=city",
    "/api/needs-enrichment?field=website",
    "/api/enrichments/stats",
    "/api/agents/leaderboard",
    "/api/agents/exemplars?field=city&limit=2",
    "/api/organisations/US-EIN-123456789",
    "/organisations/US-EIN-123456789",
    "/api/organisations/nonsense",
    "/reconcile",
    "/reconcile/v1",
    "/reconcile/v1/suggest/entity?prefix=wa",
    `/reconcile/v1/preview?id=${nonprofits[0]?.slug}`,
    "/reconcile/v1/extend/propose?type=nonprofit",
    "/api/onboard/challenge?wallet=x",
    "/api/onboard/status",
  ].map((path) => get(path));
}

/** The ways in which an address can be written. */
function addresses({ nonprofits }: Sample): Call[] {
  const slug = nonprofits[0]?.slug ?? "";
  const known = [
    "/",
    "/causes",
    `/nonprofits/${slug}`,
    `/api/nonprofits/${slug}`,
    "/api/search?q=water",
    "/api/stats",
    "/desk",
    "/mcp",
    "/reconcile",
    "/browse?sort=name",
    `/donate/${slug}`,
    `/history/${slug}`,
    "/es/causes",
    "/llms.txt",
    `/api/enrich/${slug}`,
    "/api/onboard",
    "/healthz",
    "/countries/us",
    `/api/donations/${slug}`,
    "/nothing",
  ];
  const methods = ["HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"];
  const written = (path: string): string[] => {
    const [bare = "", query] = path.split("?");
    const rest = query === undefined ? "" : `?${query}`;
    return [
      `${bare}/${rest}`,
      `/${path}`,
      `${bare}//${rest}`,
      `${bare}%20${rest}`,
      bare.replace(/[a-z]/, (l) => l.toUpperCase()) + rest,
      bare.replace(/[a-z]/, (l) => `%${l.charCodeAt(0).toString(16)}`) + rest,
      `${bare}.json${rest}`,
      `${bare}%FF`,
      `${bare}?`,
      `${bare};x${rest}`,
      `${bare}/../..${rest}`,
    ];
  };
  const heads = [
    "GET / HTTP/1.0",
    "GET /healthz HTTP/1.0",
    "GET /readyz HTTP/1.1\r\nHost: a.example",
    "GET //x HTTP/1.1\r\nHost: a",
  ];
  return [
    ...known.flatMap((path) => methods.map((method): Call => ({ method, path }))),
    ...known.flatMap(written).map((path) => get(path)),
    ...known.map((path) => get(path, browser)),
    ...heads.map((head): Call => ({ path: head, raw: `${head}\r\nConnection: close\r\n\r\n` })),
  ];
}

const enriching = (thin: Sample["thin"]): Call[] =>
  thin.slice(0, 20).flatMap((slug, at): Call[] => [
    post(`/api/enrich/${slug}`, {
      field: "city",
      value: `Newtown ${"abcdefghijklmnopqrst"[at]}`,
      agent_id: "replay-a",
    }),
    post(`/api/enrich/${slug}`, {
      field: "city",
      value: `Newtown ${"abcdefghijklmnopqrst"[at]}`,
      agent_id: "replay-b",
    }),
    post(`/api/enrich/${slug}`, {
      field: "mission",
      value: `We plant trees with ${at} schools.`,
      agent_id: "replay-a",
    }),
    post(`/api/enrich/${slug}`, {
      fields: [
        { field: "founded_year", value: "1984" },
        { field: "website", value: `https://replay-${at}.org` },
      ],
      agent_id: "replay-c",
    }),
  ]);

const bad: unknown[] = [
  {},
  [],
  "",
  "{",
  { field: "city" },
  { field: "planet", value: "x", agent_id: "a" },
  { field: "city", value: "", agent_id: "a" },
  { field: "city", value: "x".repeat(200), agent_id: "a" },
  { field: "website", value: "ftp://x", agent_id: "a" },
  { fields: [], agent_id: "a" },
  { field: "city", value: "Oslo", agent_id: "" },
  { field: "city", value: "Oslo", agent_id: "a", extra: 1 },
];

const nowhere = { slug: "nobody", name: "Nobody", city: null, country: "KE" };

function writes({ nonprofits, thin }: Sample): Call[] {
  const [first = nowhere, second = nowhere] = nonprofits;
  const enrich = enriching(thin);
  const claim = { claim_slug: first.slug, contact_email: "me@hope.org", contact_name: "Ada" };
  return [
    ...enrich,
    ...bad.map((body) => post(`/api/enrich/${first.slug}`, body)),
    ...[
      "/api/onboard",
      "/api/agents",
      "/api/recommend/drafts",
      `/api/corrections/${first.slug}`,
      "/api/organisations/standing",
      "/reconcile",
      "/mcp",
    ].flatMap((path) => bad.map((body) => post(path, body))),
    post("/api/enrich/nobody", { field: "city", value: "Oslo", agent_id: "a" }),
    post(`/api/enrich/${first.slug}`, "field=city", {
      "content-type": "application/x-www-form-urlencoded",
    }),
    post(
      `/api/enrich/${first.slug}`,
      { field: "city", value: "Oslo", agent_id: "x" },
      { ...json, "sec-fetch-site": "cross-site" },
    ),
    { ...post("/api/onboard", claim), remember: { status: "#([\\w-]{43})" } },
    post(
      "/api/onboard",
      { name: "Replay Trust", country: "Kenya", contact_email: "a@replay.org" },
      { ...json, "idempotency-key": "one" },
    ),
    post(
      "/api/onboard",
      { name: "Replay Trust", country: "Kenya", contact_email: "a@replay.org" },
      { ...json, "idempotency-key": "one" },
    ),
    { path: "/api/onboard/status", headers: { authorization: "Bearer <<status>>" } },
    post("/api/onboard/host-proof", {}, { ...json, authorization: "Bearer <<status>>" }),
    post("/api/onboard/withdraw", {}, { ...json, authorization: "Bearer <<status>>" }),
    post("/api/onboard", "name=&country=", {
      ...browser,
      "content-type": "application/x-www-form-urlencoded",
    }),
    {
      ...post("/api/agents", { agent_id: "replay bound" }),
      remember: { agent: "(agent_[\\w-]+)" },
    },
    post(
      "/api/agents/rotate",
      { agent_id: "replay bound" },
      { ...json, authorization: "Bearer wrong" },
    ),
    {
      ...post(
        "/api/agents/rotate",
        { agent_id: "replay bound" },
        { ...json, authorization: "Bearer <<agent>>" },
      ),
      remember: { agent: "(agent_[\\w-]+)" },
    },
    post(
      "/api/agents/revoke",
      { agent_id: "replay bound" },
      { ...json, authorization: "Bearer <<agent>>" },
    ),
    post("/api/recommend/drafts", {
      slug: second.slug,
      agent_id: "replay-a",
      recommended_for: ["donors interested in schools"],
      why_recommended: "It teaches.",
      source_url: "https://replay.org",
    }),
    post(`/api/corrections/${second.slug}`, {
      field: "city",
      value: "Bergen",
      reason: "They moved.",
      source_url: "https://replay.org",
    }),
    post(`/api/corrections/${second.slug}`, { field: "nothing", value: "x" }),
    ...nonprofits
      .slice(0, 10)
      .flatMap(({ slug }) => [
        get(`/api/donate/${slug}`),
        get(`/api/donate/${slug}?amount=5`),
        get(`/api/donate/${slug}?amount=x`),
        get(`/api/donate/${slug}?amount=0`),
        post(`/api/donate/${slug}`, { tx_signature: "nonsense" }),
        get(`/api/donate/${slug}`, { "x-payment": "nonsense" }),
        get(`/api/donations/${slug}/1`),
      ]),
    post("/api/organisations/standing", { ids: ["US-EIN-123456789", "GB-CHC-1"] }),
    post(
      "/reconcile",
      `queries=${encodeURIComponent(JSON.stringify({ q0: { query: first.name } }))}`,
      { "content-type": "application/x-www-form-urlencoded" },
    ),
    post("/reconcile/v1/match", {
      queries: [{ conditions: [{ matchType: "name", propertyValue: first.name }] }],
    }),
    post("/reconcile/csv", `name,country\n${first.name},${first.country}\n`, {
      "content-type": "text/csv",
    }),
    post("/reconcile/v1/extend", { ids: [first.slug], properties: [{ id: "website" }] }),
  ];
}

function tools({ nonprofits }: Sample): Call[] {
  const slug = nonprofits[0]?.slug;
  const rpc = (method: string, params: unknown): Call =>
    post(
      "/mcp",
      { jsonrpc: "2.0", id: 1, method, params },
      { ...json, accept: "application/json, text/event-stream" },
    );
  const call = (name: string, input: unknown) => rpc("tools/call", { name, arguments: input });
  return [
    rpc("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "replay", version: "1" },
    }),
    rpc("tools/list", {}),
    rpc("resources/list", {}),
    rpc("prompts/list", {}),
    rpc("nothing", {}),
    call("search_nonprofits", { q: "water" }),
    call("get_nonprofit", { slug }),
    call("get_nonprofit", { slug: "nobody" }),
    call("list_causes", {}),
    call("recommend_nonprofits", { cause: "health" }),
    call("nothing", {}),
    call("find_thin_profiles", { limit: 2 }),
    call("submit_enrichment", { slug, field: "city", value: "Oslo", agent_id: "replay-t" }),
    call("initiate_donation", { slug, amount: 2 }),
    call("search_nonprofits", { limit: -1 }),
  ];
}

function operators({ nonprofits, thin }: Sample): Call[] {
  const slug = nonprofits[3]?.slug;
  const admin = (path: string) => get(path, operator);
  return [
    "/api/admin/queues",
    "/api/admin/reviews",
    ...[
      "onboarding",
      "prose",
      "draft",
      "contested",
      "revert",
      "hold",
      "correction",
      "link",
      "x",
    ].map((kind) => `/api/admin/reviews?kind=${kind}&limit=5`),
    "/api/admin/health",
    "/api/admin/numbers?days=3",
    "/api/admin/picks?limit=5",
    "/api/admin/audit?limit=5",
    "/api/admin/agents/submissions?agent_id=replay-a",
  ]
    .map(admin)
    .concat([
      get("/api/admin/queues"),
      get("/api/admin/queues", { authorization: "Bearer wrong" }),
      { ...admin("/api/admin/reviews?kind=prose&limit=1"), remember: { prose: '"id":"([^"]+)"' } },
      post("/api/admin/reviews/<<prose>>/approve", {}, operator),
      post("/api/admin/reviews/<<prose>>/approve", {}, operator),
      {
        ...admin("/api/admin/reviews?kind=correction&limit=1"),
        remember: { correction: '"id":"([^"]+)"' },
      },
      post("/api/admin/reviews/<<correction>>/reject", { reason: "No source." }, operator),
      post(
        `/api/admin/nonprofits/${slug}/edit`,
        { fields: { city: "Bergen" }, reason: "They moved." },
        operator,
      ),
      post(`/api/admin/nonprofits/${slug}/withdraw`, { reason: "Closed." }, operator),
      get(`/api/nonprofits/${slug}`),
      post(`/api/enrich/${slug}`, { field: "city", value: "Oslo", agent_id: "replay-a" }),
      post(`/api/admin/nonprofits/${slug}/restore`, { reason: "Open." }, operator),
      post("/api/admin/agents/revert", { agent_id: "replay-b", reason: "A test." }, operator),
      post("/api/admin/agents/name", { agent_id: "replay-a", name: "Replay" }, operator),
      post(
        "/api/admin/picks",
        {
          slug: thin[0],
          recommended_for: ["donors interested in trees"],
          why_recommended: "It plants.",
        },
        operator,
      ),
      post(`/api/admin/picks/${thin[0]}/remove`, {}, operator),
    ]);
}

function desk({ nonprofits }: Sample): Call[] {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const seen = { cookie: "<<cookie>>", ...browser };
  const send = (path: string, fields: string): Call =>
    post(path, `token=<<token>>&${fields}`, { ...form, cookie: "<<cookie>>" });
  return [
    get("/desk"),
    {
      ...get("/desk/sign-in"),
      remember: { cookie: "^([^;\\n]+)", token: 'name="token" value="([^"]+)"' },
    },
    post("/desk/sign-in", "token=wrong", form),
    post("/desk/sign-in", "token=<<token>>&operator_token=wrong", {
      ...form,
      cookie: "<<cookie>>",
    }),
    {
      ...post("/desk/sign-in", `token=<<token>>&operator_token=${deskToken}`, {
        ...form,
        cookie: "<<cookie>>",
      }),
      remember: { cookie: "^([^;\\n]+)" },
    },
    ...[
      "/desk",
      "/desk/queues",
      ...["onboarding", "prose", "draft", "contested", "correction", "hold", "link", "x"].map(
        (name) => `/desk/queues/${name}`,
      ),
      "/desk/picks",
      "/desk/profiles",
      `/desk/profiles?slug=${nonprofits[0]?.slug}`,
      `/desk/profiles/${nonprofits[0]?.slug}`,
      "/desk/undo",
      "/desk/log",
      "/desk/health",
      "/desk/charts",
      "/desk/keys",
      "/desk/nothing",
      "/desk/desk.css",
    ].map((path) => get(path, seen)),
    { ...get("/desk/undo", seen), remember: { token: 'name="token" value="([^"]+)"' } },
    ...["prose", "contested", "onboarding", "correction"].flatMap((kind): Call[] => [
      {
        ...get(`/api/admin/reviews?kind=${kind}&limit=1`, operator),
        remember: { review: '"id":"([^"]+)"' },
      },
      get("/desk/reviews/<<review>>", seen),
      get("/desk/reviews/<<review>>/next", seen),
      send("/desk/reviews/<<review>>", "decision=reject&reason="),
      send(`/desk/queues/${kind}`, "decision=approved"),
      send("/desk/reviews/<<review>>", "decision=reject&reason=No+source."),
      get("/desk/reviews/<<review>>", seen),
    ]),
    send("/desk/undo/agent", "agent_id=replay-c&reason=A+test."),
    send("/desk/undo/verification", `slug=${nonprofits[0]?.slug}&reason=A+test.`),
    send("/desk/picks", `slug=${nonprofits[5]?.slug}&reason=A+test.`),
    send("/desk/picks/nothing/remove", "reason=A+test."),
    send(`/desk/profiles/${nonprofits[6]?.slug}`, "change=withdraw&reason=A+test."),
    post("/desk/undo/agent", "agent_id=x&reason=y", { ...form, cookie: "<<cookie>>" }),
    send("/desk/sign-out", ""),
    post("/desk/sign-out", "", { ...form, cookie: "<<cookie>>" }),
    get("/desk/queues", seen),
  ];
}

/** What the writes changed, once it is published. */
const after = ({ thin, nonprofits }: Sample): Call[] =>
  [...thin.slice(0, 20), nonprofits[3]?.slug ?? ""].flatMap((slug, at): Call[] =>
    [
      `/nonprofits/${slug}`,
      `/api/nonprofits/${slug}`,
      `/nonprofits/${slug}.md`,
      `/api/history/${slug}`,
    ].map((path, of) => (at + of === 0 ? { path, rest: true } : { path })),
  );
