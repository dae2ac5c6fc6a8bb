import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expireWaiting } from "#api/operator/requests.ts";
import { causeIds } from "#content/contract/browse.ts";
import { intents } from "#content/contract/recommendation.ts";
import countries from "#content/editorial/countries.json";
import {
  type FunnelRow,
  recommendationFunnel,
} from "#content/recommendation/follow-through-store.ts";
import { openStore } from "#content/store/open.ts";
import { aDraft, curate } from "#test/support/curate.ts";
import { addSlug, addSlugs, from, sendValue, submissionOf } from "#test/support/enriching.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService, type TestService } from "#test/support/service.ts";
import { theFolder } from "#test/support/at-file-top.ts";

// What anyone may send without a key costs little space, and there is an end to it.

const dir = theFolder();
const store = await openStore({
  url: `file:${join(dir, "store.db")}`,
  synchronous: "OFF",
  serves: true,
});
const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" }, context: { store } });

const codes = countries.map(({ code }) => code);
let caller = 0;
const agents: string[] = [];
/** Each agent from a network of its own, where every request has another address. */
const send = (slug: string, body: { agent_id: string; [name: string]: unknown }, headers = {}) => {
  if (!agents.includes(body.agent_id)) agents.push(body.agent_id);
  const network = agents.indexOf(body.agent_id);
  const address = from(`10.${network >> 8}.${network & 255}.${caller++ & 255}`);
  return service.post(`/api/enrich/${slug}`, body, { ...address, ...headers });
};
/** A service whose clock is moved by hand. */
async function aged(env: Record<string, string> = {}, at = "2026-01-01T00:00:00Z") {
  const clock = { at };
  const opened = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_RECOMMENDATION_PHASE: "2", ...env },
    context: { clock: () => new Date(clock.at) },
  });
  return { ...opened, clock, slug: await addSlug(opened) };
}
/** A service that takes little in a day. */
const aSmallService = () => aged({ ALMONER_STORED_MB_PER_DAY: "1" });
const numberOf = async (of: TestService, sql: string) => (await of.rows(sql))[0]?.["n"];
const letter = (at: number) => "abcdefghijklmnopqrstuvwxyz".charAt(at);
/** Another checkpoint may be under way. */
const checkpointed = async () => {
  for (;;) {
    const { rows } = await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    if (rows[0]?.["busy"] === 0) return;
    await Bun.sleep(10);
  }
};
const sizeOf = (name: string) => statSync(join(dir, name)).size;
test("a submission takes at most 2 kB of the file, also with a key and a history of rejections", async () => {
  const slug = await addSlug(service);
  const site = (at: number) => `https://oak.example/${"a".repeat(1_800)}/${at}`;
  // The same agent changes its mind: each answer lists five rejected values of 1.8 kB.
  const round = async (count: number, agent_id: string) => {
    for (let at = 0; at < count; at++) {
      const key = { "idempotency-key": `key-${at}` };
      const fields = [{ field: "city", value: `Oslo ${"x".repeat(at % 50)}` }];
      if (at < 10) fields.push({ field: "website", value: site(at) });
      const response = await send(slug, { agent_id, fields }, key);
      expect(response.status).toBe(200);
    }
  };
  await round(10, "undecided");
  await checkpointed();
  const before = sizeOf("store.db");
  const count = 100;
  for (let at = 0; at < count; at++) {
    const value = `City ${"abcdefghij".charAt(at % 10)}${"y".repeat(at % 60)}`;
    const body = { agent_id: `agent-${at % 15}`, field: "city", value };
    expect((await send(slug, body, { "idempotency-key": `key-${at}` })).status).toBe(200);
    const again = { agent_id: "undecided", field: "website", value: site(100) };
    expect((await send(slug, again, { "idempotency-key": `again-${at}` })).status).toBe(200);
  }
  await checkpointed();
  expect((sizeOf("store.db") - before) / (2 * count)).toBeLessThan(2_000);
});

test("a largest batch costs what the quota counts, not a quarter of it", async () => {
  const count = 20;
  const slugs = await addSlugs(service, count);
  let counted = 0;
  const { limits } = service.context;
  const stored = limits.stored.bind(limits);
  limits.stored = (room, request, bytes) => {
    counted += bytes;
    return stored(room, request, bytes);
  };
  await checkpointed();
  const before = sizeOf("store.db");
  const path = "p".repeat(1_900);
  const values = { city: "Oslo", region: "Viken", founded_year: "1998", tagline: "Food for all" };
  for (const [at, slug] of slugs.entries()) {
    const fields = Object.entries(values).map(([field, value]) => ({
      field,
      value,
      source_url: `https://oak.example/${path}`,
    }));
    const agent_id = `${"𐐨".repeat(125)}${at}`;
    const body = { agent_id, agent_name: "名".repeat(125), fields };
    expect((await send(slug, body, { "idempotency-key": `${at}${"k".repeat(250)}` })).status).toBe(
      200,
    );
  }
  limits.stored = stored;
  await checkpointed();
  const took = sizeOf("store.db") - before;
  // Measured: 6.3 kB for each of the four rows, of which 3.4 kB are ids, names and the source.
  expect(took / counted).toBeGreaterThan(0.5);
  expect(took / counted).toBeLessThan(1.5);
});

test("the log of the store shrinks again after many writes", async () => {
  const write = (bytes: number) =>
    store.write(async (tx) => {
      const sql = "INSERT OR REPLACE INTO directory_facts VALUES ('large', hex(zeroblob(?)), 0)";
      await tx.raw.execute({ sql, args: [bytes / 2] });
    });
  for (let at = 0; at < 100; at++) await write(1_000_000);
  expect(sizeOf("store.db-wal")).toBeLessThan(80_000_000);
  for (let at = 0; at < 20 && sizeOf("store.db-wal") > 20_000_000; at++) {
    await store.raw.execute("PRAGMA wal_checkpoint(PASSIVE)");
    await write(2);
  }
  expect(sizeOf("store.db-wal")).toBeLessThan(20_000_000);
});

test.each(["city", "description", "programme"])(
  "at most 20 values wait for the %s of a profile; what others sent, and one's own, still counts",
  async (field) => {
    const slug = await addSlug(service);
    const valueOf = (at: number) => `Place ${letter(at)}`;
    for (let at = 0; at < 20; at++) {
      const sent = await send(slug, { field, value: valueOf(at), agent_id: `agent-${at}` });
      expect(sent.status).toBe(200);
    }
    const fields = [
      { field: "region", value: "Viken" },
      { field, value: "One more" },
    ];
    const refused = await send(slug, { fields, agent_id: `late-${field}` });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: "field_queue_full" });
    const mine = `SELECT count(*) AS n FROM submissions WHERE agent_id = 'late-${field}'`;
    expect(await numberOf(service, mine)).toBe(0);
    if (field === "programme") return;
    const changed = await send(slug, { field, value: "Place z", agent_id: "agent-3" });
    expect(changed.status).toBe(200);
    if (field !== "city") return;
    const agreed = await send(slug, { field, value: valueOf(7), agent_id: "late" });
    expect((await submissionOf(agreed)).status).toBe("applied");
  },
);

test("four networks that fill a field keep no one out: after 7 days the oldest value gives way", async () => {
  using opened = await aged();
  const enrich = (agent: string, value: string, address: string, field = "city") =>
    sendValue(opened, opened.slug, [agent, field, value], from(address));
  for (let at = 0; at < 20; at++) {
    for (const field of ["city", "description"]) {
      const sent = await enrich(`f-${at}`, `Town ${letter(at)}`, `10.7.${at >> 2}.${at}`, field);
      expect(sent.status).toBe(200);
    }
  }
  const codeOf = async (answer: Response) => (await answer.json()).code;
  opened.clock.at = "2026-01-07T23:59:59Z";
  expect(await codeOf(await enrich("ada", "Oslo", "10.8.1.1"))).toBe("field_queue_full");
  opened.clock.at = "2026-01-08T00:00:00Z";
  // A text waits for a person, whom strangers do not outrun.
  const text = await enrich("ada", "Oslo", "10.8.1.1", "description");
  expect(await codeOf(text)).toBe("field_queue_full");
  expect((await enrich("ada", "Oslo", "10.8.1.1")).status).toBe(200);
  const rejected = "SELECT agent_id, reason FROM submissions WHERE status = 'rejected'";
  expect(await opened.rows(rejected)).toMatchObject([{ agent_id: "f-0", reason: "expired" }]);
  const waiting =
    "SELECT count(*) AS n FROM submissions WHERE status = 'pending' AND field = 'city'";
  expect(await numberOf(opened, waiting)).toBe(20);
  // Who filled the field again pushes out its own, while another network has its share.
  for (let at = 21; at < 25; at++) await enrich(`f-${at}`, `Town ${letter(at)}`, "10.7.4.1");
  expect(await numberOf(opened, waiting)).toBe(20);
  expect((await submissionOf(await enrich("bob", "Oslo", "10.9.1.1"))).status).toBe("applied");
});

test("one network fills neither a field nor the drafts of a profile, and the refusal names the fields", async () => {
  using opened = await aged();
  const { slug } = opened;
  const fieldsOf = (at: number) => [
    { field: "city", value: `Place ${letter(at)}` },
    { field: "region", value: `Region ${letter(at)}` },
  ];
  const enrich = (at: number, address: string, fields = fieldsOf(at)) =>
    opened.post(`/api/enrich/${slug}`, { fields, agent_id: `a-${at}` }, from(address));
  const recommend = (at: number, address: string) => {
    const draft = { agent_id: `d-${at}`, recommended_for: [`donors to wells ${at}`] };
    return opened.post("/api/recommend/drafts", aDraft(slug, "drafter", draft), from(address));
  };
  for (let at = 0; at < 5; at++) {
    expect((await enrich(at, `10.1.1.${at}`)).status).toBe(200);
    expect((await recommend(at, `10.1.1.${at}`)).status).toBe(200);
  }
  const third = { field: "tagline", value: "Food for all" };
  const refused = await enrich(6, "10.1.1.9", [...fieldsOf(6), third]);
  expect(await refused.json()).toMatchObject({
    code: "field_queue_full",
    detail: expect.stringContaining("no more values may wait for city, region of this profile"),
  });
  expect((await enrich(6, "10.1.1.9", [third])).status).toBe(200);
  expect(await (await recommend(6, "10.1.1.9")).json()).toMatchObject({
    status: 409,
    code: "draft_queue_full",
  });
  // Who has one already replaces it; another network has room.
  expect((await recommend(3, "10.1.1.3")).status).toBe(200);
  expect((await enrich(7, "10.1.2.1")).status).toBe(200);
  expect((await recommend(7, "10.1.2.1")).status).toBe(200);
});

test("a network, and all together, may store so much a day; then 429 says why and when", async () => {
  using small = await aSmallService();
  const slugs = await addSlugs(small, 14);
  const of = (network: number) => from(`10.9.${network}.1`);
  const fill = async (network: number) => {
    const value = "word ".repeat(900);
    const fields = ["mission", "description", "programme", "impact_metric"].map((field, at) => ({
      field,
      value: value.slice(0, at < 2 ? 900 : 1_900),
    }));
    const body = { agent_id: `filler-${network}`, fields };
    const sent: Response[] = [];
    for (const slug of slugs) sent.push(await small.post(`/api/enrich/${slug}`, body, of(network)));
    return sent;
  };
  const first = await fill(1);
  const refused = first.find(({ status }) => status === 429);
  expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused?.json()).toMatchObject({
    code: "storage_quota",
    detail: expect.stringContaining("your network may store 0.1 MB"),
  });
  // Drafts draw on the same room, organisations on one of their own.
  const draft = await small.post("/api/recommend/drafts", aDraft(small.slug, "drafter"), of(1));
  expect(await draft.json()).toMatchObject({ status: 429, code: "storage_quota" });
  for (let network = 2; network < 14; network++) await fill(network);
  const [late] = await fill(20);
  expect(late?.status).toBe(429);
  expect(await late?.text()).toContain("all senders together");
  const claim = { claim_slug: small.slug, contact_email: "office@oak.example" };
  expect((await small.post("/api/onboard", claim, of(1))).status).toBe(200);
});

test("what stores nothing uses up no room, and a /48 is one network", async () => {
  using small = await aSmallService();
  const { slug } = small;
  let host = 0;
  const network = () => from(`2001:db8:7:${(host++).toString(16)}::1`);
  const long = { agent_id: "noise", field: "description", value: "word ".repeat(600) };
  const draft = aDraft("nobody", "drafter", { why_recommended: "word ".repeat(900) });
  for (let at = 0; at < 40; at++) {
    expect((await small.post("/api/enrich/nobody", long, network())).status).toBe(404);
    const wrong = { ...long, field: "city", value: "1".repeat(4_000) };
    expect((await small.post(`/api/enrich/${slug}`, wrong, network())).status).toBe(400);
    expect((await small.post("/api/recommend/drafts", draft, network())).status).toBeGreaterThan(
      399,
    );
    // The same again from the same agent.
    expect((await small.post(`/api/enrich/${slug}`, long, network())).status).toBe(200);
  }
  // An id of 128 characters of four bytes stands in the row and in two indexes: 3 kB for a city.
  let stored = 0;
  const agent = (at: number) => `${"𐐨".repeat(120)}${at}`;
  for (let at = 0; at < 60; at++) {
    const body = { agent_id: agent(at), field: "website", value: `https://oak.example/${at}` };
    const other = await addSlug(small);
    if ((await small.post(`/api/enrich/${other}`, body, network())).status === 200) stored += 1;
  }
  expect(stored).toBeGreaterThan(25);
  expect(stored).toBeLessThan(40);
});

test("a client at its limit leaves 20 calls a minute in the log and counts of the others, and every call counts", async () => {
  using logged = await aged({}, "2026-06-01T12:00:00Z");
  await curate(logged, aNonprofit({ slug: "pumps", causes: ["health"], country_code: "KE" }));
  await curate(logged, aNonprofit({ slug: "wells", causes: ["education"], country_code: "KE" }));
  const call = (query: string, host: number, network = "10.1.1") =>
    logged.get(`/api/recommend?${query}`, {
      ...from(`${network}.${host % 250}`),
      "user-agent": "Busy/1.0",
    });
  const rows = async () => {
    await logged.context.recommendationLog.flush();
    return logged.rows(
      "SELECT query, weight, top_slug, client FROM recommendation_log ORDER BY weight, id",
    );
  };
  const long = "語".repeat(150);
  // Any host of the /24 is the same network.
  for (let at = 0; at < 20; at++) await call(`q=${long}${at}&cause=${long}`, at);
  for (let at = 0; at < 60; at++) await call("cause=health&country=Kenya", at);
  for (let at = 0; at < 40; at++) await call("cause=Education&intent=donate", at);
  const stored = await rows();
  expect(stored).toHaveLength(22);
  expect(stored.slice(20)).toEqual([
    {
      query: '{"cause":"education","country":null,"q":null,"intent":"donate"}',
      weight: 40,
      top_slug: "wells",
      client: "",
    },
    {
      query: '{"cause":"health","country":"KE","q":null,"intent":"discover"}',
      weight: 60,
      top_slug: "pumps",
      client: "",
    },
  ]);
  for (const { query } of stored.slice(0, 20)) {
    const { q, cause } = JSON.parse(String(query));
    expect([q.length, cause.length]).toEqual([100, 100]);
  }
  // Another network in the same minute, and the same one in the next.
  await call("cause=health", 1, "10.1.2");
  logged.clock.at = "2026-06-01T12:01:00Z";
  await call("cause=health", 1);
  expect((await rows()).filter(({ client }) => client !== "")).toHaveLength(22);
  const many = 200;
  // Whatever is asked, the counts of a minute have an end, and the report counts every call.
  for (let at = 0; at < many; at++) {
    const country = codes[at % codes.length];
    await call(`cause=${causeIds[at % 7]}&country=${country}&intent=${intents[at % 4]}`, at);
  }
  expect((await rows()).length).toBeLessThan(22 + 2 + 20 + 110);
  const funnel = await recommendationFunnel(logged.store, 0);
  const sum = (of: (row: FunnelRow) => number) => funnel.reduce((all, row) => all + of(row), 0);
  expect(sum(({ calls }) => calls)).toBe(20 + 60 + 40 + 1 + 1 + many);
  const asked = Array.from({ length: many }, (_, at) => at).filter(
    (at) => causeIds[at % 7] === "education" && intents[at % 4] === "donate",
  );
  const wanted = funnel.find((row) => row.cause === "education" && row.intent === "donate");
  expect(wanted?.calls).toBe(40 + asked.length);
  expect(wanted?.answered).toBe(
    40 + asked.filter((at) => codes[at % codes.length] === "KE").length,
  );
  expect(await logged.context.activity.counters()).toMatchObject({ queries_this_week: 122 + many });
});

test("at most 200 calls of a minute are stored each, however many networks ask", async () => {
  using logged = await aService({ env: { ALMONER_TRUSTED_HOPS: "1" } });
  for (let at = 0; at < 230; at++) {
    await logged.get("/api/recommend?q=wells", from(`10.${at % 250}.1.1`));
  }
  await logged.context.recommendationLog.flush();
  const sql = "SELECT count(*) AS kept, sum(weight) AS calls FROM recommendation_log";
  expect(await logged.rows(sql)).toMatchObject([{ kept: 201, calls: 230 }]);
});

test("60 reads after one recommendation store at most 20 of them", async () => {
  using read = await aService();
  const slugs = await addSlugs(read, 30);
  await curate(read, aNonprofit({ slug: "pumps", causes: ["health"] }));
  const followed = async () => {
    await read.context.recommendationLog.flush();
    return numberOf(read, "SELECT count(*) AS n FROM recommendation_follow_throughs");
  };
  const reader = { "user-agent": "Reader/1.0" };
  await read.get("/api/recommend?cause=health", reader);
  for (let at = 0; at < 60; at++) {
    await read.get(`/api/nonprofits/${slugs[at % slugs.length]}`, reader);
    if (at === 7 || at % 20 === 19) await followed();
  }
  expect(await followed()).toBe(20);
  // The next call has room of its own.
  await read.get("/api/recommend?cause=health", reader);
  await read.get("/api/nonprofits/pumps", reader);
  expect(await followed()).toBe(21);
});

test("what expires no longer counts for what remains", async () => {
  using opened = await aged({ ALMONER_CONSENSUS: "networks" });
  const submit = async (agent: string) => {
    const value = [agent, "city", "Oslo"] as const;
    return submissionOf(await sendValue(opened, opened.slug, value, from("10.1.1.1")));
  };
  await submit("ada");
  opened.clock.at = "2026-05-01T00:00:00Z";
  expect(await submit("bob")).toMatchObject({ status: "pending", confidence: 2 });
  opened.clock.at = "2026-07-15T00:00:00Z";
  expect(await expireWaiting(opened.context)).toBe(1);
  const rows = "SELECT agent_id, confidence FROM submissions WHERE status = 'pending'";
  expect(await opened.rows(rows)).toMatchObject([{ agent_id: "bob", confidence: 1 }]);
});

test("what no one decides in 180 days is rejected as expired, and makes room", async () => {
  using opened = await aged();
  const { slug, clock, context } = opened;
  const fields = [
    { field: "city", value: "Oslo" },
    { field: "mission", value: "Food for all." },
  ];
  const submit = (agent_id: string) => opened.post(`/api/enrich/${slug}`, { agent_id, fields });
  await submit("ada");
  await opened.post("/api/recommend/drafts", aDraft(slug, "drafter"));
  const claim = { claim_slug: slug, contact_email: "office@oak.example" };
  const claimed = (await (await opened.post("/api/onboard", claim)).json()) as {
    status_url: string;
  };
  clock.at = "2026-06-29T00:00:00Z";
  expect(await expireWaiting(context)).toBe(0);
  clock.at = "2026-06-30T01:00:00Z";
  expect(await expireWaiting(context)).toBe(4);
  expect(await expireWaiting(context)).toBe(0);
  const { submissions } = await (await submit("bob")).json();
  expect(submissions).toMatchObject([
    { status: "pending", confidence: 1, prior_rejections: [{ reason: "expired" }] },
    { status: "pending", prior_rejections: [{ reason: "expired" }] },
  ]);
  const token = claimed.status_url.split("#")[1];
  const headers = { authorization: `Bearer ${token}` };
  const status = await opened.json("/api/onboard/status", headers);
  expect(status).toMatchObject({ status: "rejected", reason: "expired" });
});
