import { secretDigest } from "#content/runtime/digest.ts";
import { describe, expect, test } from "bun:test";
import { from } from "#test/support/enriching.ts";
import { aClient, aService, theService } from "#test/support/service.ts";
import { aDraft } from "#test/support/curate.ts";
import { aNonprofit } from "#test/support/records.ts";

// A stranger posts under the public id of an agent: confirms values in its name, replaces what it sent, uses up its limit.

const slugs = Array.from({ length: 12 }, (_, at) => `thin-${at}`);
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_RECOMMENDATION_PHASE: "3" },
  records: slugs.map((slug) => aNonprofit({ slug })),
});

type Sent = { address?: string; secret?: string; headers?: Record<string, string> };
const post = (path: string, body: unknown, { address, secret, headers = {} }: Sent = {}) =>
  service.post(path, body, {
    ...(address === undefined ? aClient() : from(address)),
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    ...headers,
  });
const enrich = (agent_id: string, body: object, sent: Sent & { slug?: string } = {}) =>
  post(`/api/enrich/${sent.slug ?? "thin-0"}`, { agent_id, ...body }, sent);
const codeOf = async (answer: Response) => `${answer.status} ${(await answer.json()).code}`;
const bind = async (agent_id: string): Promise<string> =>
  (await (await post("/api/agents", { agent_id })).json()).agent_secret;
const stored = async (agent_id: string) =>
  (
    await service.rows(
      "SELECT field, value, status FROM submissions WHERE agent_id = ? ORDER BY id",
      [agent_id],
    )
  ).map(({ field, value, status }) => [field, value, status]);

const city = { field: "city", value: "Oslo" };

describe("a bound id", () => {
  test("takes nothing without its secret, and all with it", async () => {
    const secret = await bind("Owned Bot");
    expect(secret).toMatch(/^agent_[\w-]{43}$/);
    expect(await codeOf(await enrich("owned bot", city))).toBe("401 agent_secret_missing");
    const wrong = await enrich("OWNED  BOT", city, { secret: `${secret.slice(0, -1)}~` });
    expect(wrong.headers.get("www-authenticate")).toContain("Bearer");
    expect(await codeOf(wrong)).toBe("401 agent_secret_wrong");
    expect(await stored("owned bot")).toEqual([]);
    const right = await (await enrich("owned bot", city, { secret })).json();
    expect([right.bound, right.submissions[0].status]).toEqual([true, "pending"]);
    const replaced = await enrich("owned bot", { field: "city", value: "Bergen" }, { secret });
    expect(replaced.status).toBe(200);
  });

  test.each([
    ["ΒΑΣ-bot", "βασ-bot"],
    ["odd-bot", "odd\u2010bot"],
    ["odd-bot-2", "odd\u2212bot\u20132"],
  ])("%s is the same in another spelling: %s", async (owned, spelled) => {
    await bind(owned);
    expect(await codeOf(await enrich(spelled, city))).toBe("401 agent_secret_missing");
  });

  test("protects drafts and tools, too", async () => {
    const secret = await bind("drafter");
    const draft = aDraft("thin-1", "drafter");
    const drafts = "/api/recommend/drafts";
    expect(await codeOf(await post(drafts, draft))).toBe("401 agent_secret_missing");
    expect((await post(drafts, draft, { secret })).status).toBe(200);
    const sent = { slug: "thin-1", agent_id: "drafter", ...city };
    const params = { name: "submit_enrichment", arguments: sent };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    expect(await (await post("/mcp", call)).text()).toContain("agent_secret_missing");
    const { result } = await (await post("/mcp", call, { secret })).json();
    expect(result.structuredContent.bound).toBe(true);
  });

  test("repeats its answers to no one else", async () => {
    const secret = await bind("keyed");
    const headers = { "idempotency-key": "k-1" };
    expect((await enrich("keyed", city, { secret, headers })).status).toBe(200);
    expect(await codeOf(await enrich("keyed", city, { headers }))).toBe("401 agent_secret_missing");
  });

  test("gets no answer of before without its present secret", async () => {
    const agent_id = "asked-again";
    const headers = { "idempotency-key": "k-2" };
    const address = "198.18.0.7";
    const answers = [await enrich(agent_id, city, { address, headers })];
    // As an operator binds it.
    const raw = (sql: string, args: string[]) => service.store.raw.execute({ sql, args });
    const first = [agent_id, secretDigest("agent_first")];
    await raw("INSERT INTO agent_keys (agent_id, secret_digest) VALUES (?, ?)", first);
    answers.push(await enrich(agent_id, city, { address, headers }));
    answers.push(await enrich(agent_id, city, { address, headers, secret: "agent_first" }));
    const second = [secretDigest("agent_second"), agent_id];
    await raw("UPDATE agent_keys SET secret_digest = ? WHERE agent_id = ?", second);
    answers.push(await enrich(agent_id, city, { address, headers, secret: "agent_first" }));
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401]);
  });

  test("leaves nothing behind that decides once it is given up", async () => {
    const agent_id = "giving up";
    const secret = await bind(agent_id);
    const year = { field: "founded_year", value: "1971" };
    await enrich(agent_id, year, { secret, slug: "thin-7" });
    expect((await post("/api/agents/revoke", { agent_id }, { secret })).status).toBe(200);
    expect(await stored(agent_id)).toEqual([["founded_year", "1971", "rejected"]]);
    const [next] = (await (await enrich("another", year, { slug: "thin-7" })).json()).submissions;
    expect([next.status, next.prior_rejections[0].reason]).toEqual([
      "pending",
      "the agent gave up its id",
    ]);
  });

  test("has a new secret when it is rotated, and none that ever works once it is given up", async () => {
    const agent_id = "rotating";
    const first = await bind(agent_id);
    expect(await codeOf(await post("/api/agents/rotate", { agent_id }))).toBe(
      "401 agent_secret_missing",
    );
    const rotated = await post("/api/agents/rotate", { agent_id }, { secret: first });
    const { agent_secret: secret } = await rotated.json();
    expect((await enrich(agent_id, city, { secret: first })).status).toBe(401);
    expect((await enrich(agent_id, city, { secret })).status).toBe(200);
    expect((await post("/api/agents/revoke", { agent_id }, { secret })).status).toBe(200);
    for (const sent of [{}, { secret }, { secret: first }]) {
      expect(await codeOf(await enrich(agent_id, city, sent))).toBe("403 agent_retired");
      expect(await codeOf(await post("/api/agents", { agent_id }, sent))).toBe("403 agent_retired");
    }
  });

  test("is not bound a second time, and says on the leaderboard that it is", async () => {
    const agent_id = "mine alone";
    const secret = await bind(agent_id);
    expect(await codeOf(await post("/api/agents", { agent_id }))).toBe("409 agent_bound");
    await enrich(agent_id, { field: "region", value: "Viken" }, { secret });
    await enrich("anyone", { field: "region", value: "Viken" });
    const { top_agents } = await service.json("/api/agents/leaderboard");
    const boundOf = (name: string) =>
      top_agents.find((one: { agent_name: string }) => one.agent_name === name)?.bound;
    expect([boundOf(agent_id), boundOf("anyone")]).toEqual([true, false]);
  });

  test("stands in the store as a digest alone", async () => {
    const secret = await bind("digested");
    const rows = await service.rows("SELECT * FROM agent_keys");
    expect(JSON.stringify(rows)).toContain("digested");
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

test("an id that someone has used is not bound by whoever asks first", async () => {
  await enrich("well known", city);
  const answer = await post("/api/agents", { agent_id: "Well  Known" });
  expect(await codeOf(answer)).toBe("409 agent_in_use");
});

test("a secret for an id that is not bound is not ignored, but any other token is", async () => {
  const answer = await enrich("nobody's", city, { secret: "agent_believed-to-protect" });
  expect(await codeOf(answer)).toBe("401 agent_not_bound");
  expect(await stored("nobody's")).toEqual([]);
  const ofGateway = { secret: "eyJhbGciOiJIUzI1NiJ9.e30.x" };
  expect((await enrich("nobody's", city, ofGateway)).status).toBe(200);
  const bound = await bind("behind a gateway");
  expect(await codeOf(await enrich("behind a gateway", city, ofGateway))).toBe(
    "401 agent_secret_wrong",
  );
  expect((await enrich("behind a gateway", city, { secret: bound })).status).toBe(200);
});

test("every write counts toward its limit with a slash at its end, too", async () => {
  const policyOf = async (path: string) => {
    const policy = (await post(path, {})).headers.get("ratelimit-policy") ?? "none";
    return policy.split(";")[0];
  };
  const writes = service.app.routes.filter(({ method }) => method === "POST");
  expect(writes.length).toBeGreaterThan(10);
  for (const { path } of writes) {
    const asked = path.replaceAll(/:\w+/g, "thin-11");
    expect([path, await policyOf(`${asked}/`)]).toEqual([path, await policyOf(asked)]);
  }
  expect(await policyOf("/api/agents/")).toBe('"bind"');
});

test("an Idempotency-Key that a stranger used for an id is not used up", async () => {
  const headers = { "idempotency-key": "k-3" };
  const send = (value: string, address: string) =>
    enrich("shared", { field: "region", value }, { address, headers, slug: "thin-8" });
  expect((await send("Viken", "192.0.2.1")).status).toBe(200);
  expect(await codeOf(await send("Oslo", "192.0.2.1"))).toBe("409 idempotency_key_reused");
  expect(await codeOf(await send("Oslo", "198.51.100.1"))).toBe("409 pending_from_another_network");
});

test("what waits from before networks were kept is no one's who repeats it", async () => {
  const send = (value: string, address: string) =>
    enrich("of 0.3.0", { field: "region", value }, { address, slug: "thin-9" });
  await send("Viken", "192.0.2.1");
  await service.store.raw.execute(
    "UPDATE submissions SET network = NULL WHERE agent_id = 'of 0.3.0'",
  );
  expect((await send("Viken", "198.51.100.1")).status).toBe(200);
  expect((await send("Oslo", "192.0.2.1")).status).toBe(200);
});

test("ids are not taken in bulk", async () => {
  const address = "198.19.0.7";
  const answers = [];
  for (let at = 0; at < 7; at++) {
    answers.push((await post("/api/agents", { agent_id: `squatted-${at}` }, { address })).status);
  }
  expect(answers).toEqual([200, 200, 200, 200, 200, 429, 429]);
});

test.each(["agents", "networks"])(
  "an id that is not bound keeps its pending value from other networks, with all else of the batch, in mode %s",
  async (mode) => {
    using own = await aService({
      env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_CONSENSUS: mode },
      records: [aNonprofit({ slug: "thin-0" })],
    });
    const send = (body: object, address: string) =>
      own.post("/api/enrich/thin-0", { agent_id: "public-bot", ...body }, from(address));
    const values = async () => {
      const columns = "field, value, status, network IS NULL AS cleared";
      const rows = await own.rows(`SELECT ${columns} FROM submissions ORDER BY id`);
      return rows.map(({ field, value, status, cleared }) => [field, value, status, cleared]);
    };
    await send(city, "192.0.2.7");
    const fields = [
      { field: "region", value: "Viken" },
      { field: "city", value: "Lagos" },
    ];
    const answer = await send({ fields }, "198.51.100.9");
    expect(await codeOf(answer)).toBe("409 pending_from_another_network");
    expect(await values()).toEqual([["city", "Oslo", "pending", 0]]);
    expect((await send({ field: "city", value: "Bergen" }, "192.0.2.200")).status).toBe(200);
    expect(await values()).toEqual([
      ["city", "Oslo", "rejected", 1],
      ["city", "Bergen", "pending", 0],
    ]);
  },
);

test("ids that differ in spaces alone are one agent, whose votes are one", async () => {
  const year = { field: "founded_year", value: "1998" };
  await enrich("space  bot", year, { slug: "thin-5" });
  const again = await enrich("space \u3000 BOT", year, { slug: "thin-5" });
  const [one] = (await again.json()).submissions;
  expect([one.status, one.confidence]).toEqual(["pending", 1]);
});

test("an id that is not bound has a limit for each network", async () => {
  const send = (body: object, address: string, at: number) =>
    enrich("public-bot", body, { address, slug: slugs[at] ?? "" });
  const prose = ["mission", "description", "tagline", "programme"];
  const fields = [
    ...prose.map((field) => ({ field, value: "Grows trees with schools." })),
    { field: "founded_year", value: "1998" },
  ];
  let refused = 0;
  for (let round = 0; refused === 0 && round < 30; round++) {
    const answer = await send({ fields }, "203.0.113.9", 1 + (round % 11));
    if (answer.status === 429) refused = round;
  }
  expect(refused).toBe(24); // 24 times 5 submissions in a minute.
  expect((await send(city, "192.0.2.7", 3)).status).toBe(200);
});
