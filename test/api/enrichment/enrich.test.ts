import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
let slug: string;

/** Requests come from this many addresses that the limit per address stays out of these tests. */
let caller = 0;
const send = (body: unknown, headers: Record<string, string> = {}, to = slug) =>
  service.post(`/api/enrich/${to}`, body, {
    "x-forwarded-for": `10.0.${(caller >> 8) & 255}.${caller++ & 255}`,
    ...headers,
  });

async function submit(agent_id: string, field: string, value: string, more: object = {}) {
  const response = await send({ field, value, agent_id, ...more });
  expect(response.status).toBe(200);
  const answer = EnrichmentAnswer.parse(await response.json());
  const [submission] = answer.submissions;
  if (submission === undefined) throw new Error("no submission came back");
  return { answer, submission };
}

const live = async (of = slug) => {
  const record = await recordBySlug(service.store, of);
  if (record === null) throw new Error(`no nonprofit ${of}`);
  return record;
};

beforeAll(async () => {
  service = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1" },
    context: { waitForPublication: () => Promise.resolve({ release: "r1" }) },
  });
});
afterAll(() => service.close());
beforeEach(async () => {
  const [record] = await service.add(aNonprofit());
  slug = record?.slug ?? "";
});

describe("a structured field", () => {
  test("waits for a second agent, then goes live as both sent it", async () => {
    const first = await submit("bot-a", "website", "Oak.example/About?utm_source=x", {
      source_url: "https://register.example/1",
      agent_name: "Bot A",
    });
    expect(first.submission).toMatchObject({
      field: "website",
      field_type: "structured",
      status: "pending",
      applied: false,
      confidence: 1,
      consensus: false,
      prior_rejections: [],
    });
    expect(first.submission.promotion_note).toContain("Awaiting consensus");
    expect(first.answer.auto_promote.website).toBe(false);
    expect((await live()).website).toBeNull();

    const second = await submit("bot-b", "website", "https://www.oak.example/About", {
      agent_name: "Bot B",
    });
    expect(second.submission).toMatchObject({
      status: "applied",
      applied: true,
      confidence: 2,
      consensus: true,
    });
    expect(second.answer.release).toBe("r1");
    // As clients of one submission read it.
    expect(second.answer.auto_promote).toMatchObject({ website: true });
    expect(second.answer.auto_promote.city).toBeUndefined();
    expect(second.answer).toMatchObject({
      field_type: "structured",
      promotion_note: second.submission.promotion_note,
    });
    expect((await live()).website).toBe("https://oak.example/About");

    const profile = NonprofitDetail.parse(
      await (await service.get(`/api/nonprofits/${slug}`)).json(),
    );
    expect(profile.provenance["website"]).toMatchObject({
      source: "consensus",
      source_url: "https://register.example/",
      agents: ["Bot A", "Bot B"],
    });
    expect(profile.enriched_by).toMatchObject([
      { agent_name: "Bot A", field: "website" },
      { agent_name: "Bot B", field: "website" },
    ]);
    expect(profile.enriched_by[0]?.reviewed_at).toBe(profile.provenance["website"]?.applied_at);
  });

  test("one agent twice, in any spelling of its id, is one agent", async () => {
    const first = await submit("Bot-A", "city", "Oslo");
    const again = await submit(" ｂｏｔ-ａ ", "city", "Oslo,");
    expect(again.submission.submission_id).toBe(first.submission.submission_id);
    expect(again.submission.confidence).toBe(1);
    expect((await live()).city).toBeNull();
  });

  test("two values stay pending until a third agent breaks the tie; the loser learns the winner", async () => {
    await submit("bot-a", "city", "Oslo");
    const rival = await submit("bot-b", "city", "Bergen");
    expect(rival.submission.status).toBe("pending");
    expect(rival.submission.promotion_note).toContain("breaks the tie");
    const third = await submit("bot-c", "city", "Bergen");
    expect(third.submission.status).toBe("applied");
    expect(third.submission.prior_rejections).toMatchObject([
      {
        agent: "bot-a",
        rejected_value: "Oslo",
        winning_value: "Bergen",
        reason: "another value won consensus",
      },
    ]);
    expect((await live()).city).toBe("Bergen");
  });

  test("an agent's later value replaces its earlier one", async () => {
    await submit("bot-a", "city", "Oslo");
    const second = await submit("bot-a", "city", "Bergen");
    expect(second.submission.prior_rejections).toMatchObject([
      { reason: "replaced by the same agent" },
    ]);
    expect((await submit("bot-b", "city", "Oslo")).submission.status).toBe("pending");
    expect((await submit("bot-c", "city", "Bergen")).submission.status).toBe("applied");
  });

  test("a field that holds a value is never overwritten; the same value corroborates it", async () => {
    await submit("bot-a", "founded_year", "1998");
    await submit("bot-b", "founded_year", "Founded in 1998");
    const other = await submit("bot-c", "founded_year", "1999");
    expect(other.submission).toMatchObject({ status: "pending", applied: false });
    expect(other.submission.promotion_note).toContain("audit");
    await submit("bot-d", "founded_year", "1999");
    expect((await live()).founded_year).toBe(1998);
    const same = await submit("bot-e", "founded_year", "1998", { agent_name: "Bot E" });
    expect(same.submission).toMatchObject({ status: "pending", applied: false, confidence: 3 });
    const source = (await live()).provenance["founded_year"];
    expect(source).toMatchObject({ agents: ["bot-a", "bot-b"], corroborations: 1 });
  });

  test("a value from elsewhere closes the field for pending submissions", async () => {
    await submit("bot-a", "city", "Oslo");
    const before = await live();
    const { saveNonprofits } = await import("#content/nonprofit/save.ts");
    await service.store.write((tx) =>
      saveNonprofits(tx, [{ before, after: { ...before, city: "Hamar" } }], {
        origin: "test",
        now: new Date(),
      }),
    );
    const second = await submit("bot-b", "city", "Oslo");
    expect(second.submission.status).toBe("pending");
    expect((await live()).city).toBe("Hamar");
    const { rows } = await service.store.raw.execute({
      sql: "SELECT * FROM pending_fields WHERE nonprofit_id = ?",
      args: [before.id],
    });
    expect(rows).toEqual([]);
  });

  test("each application is one change row", async () => {
    const { id } = await live();
    await send({
      agent_id: "bot-a",
      fields: [
        { field: "city", value: "Oslo" },
        { field: "region", value: "Viken" },
      ],
    });
    await send({
      agent_id: "bot-b",
      fields: [
        { field: "city", value: "Oslo" },
        { field: "region", value: "Viken" },
      ],
    });
    const changes = (await changesAfter(service.store, 0, 10_000)).filter(
      (one) => one.nonprofit_id === id && one.origin === "consensus",
    );
    expect(changes.map(({ fields }) => fields)).toEqual([
      ["city", "provenance"],
      ["region", "provenance"],
    ]);
  });
});

test("applied is said only once the published profile holds the value", async () => {
  const asked: number[] = [];
  const slow = await aService({
    context: { waitForPublication: (sequence) => (asked.push(sequence), Promise.resolve(null)) },
  });
  const [record] = await slow.add(aNonprofit());
  const post = async (agent_id: string) => {
    const body = { field: "city", value: "Oslo", agent_id };
    const response = await slow.post(`/api/enrich/${record?.slug}`, body);
    return EnrichmentAnswer.parse(await response.json());
  };
  await post("bot-a");
  expect(asked).toEqual([]);
  const second = await post("bot-b");
  expect(second.submissions[0]).toMatchObject({
    status: "applied",
    applied: false,
    consensus: true,
  });
  expect(second.submissions[0]?.promotion_note).toContain("being published");
  expect(second.release).toBeNull();
  const [change] = (await changesAfter(slow.store, 0, 100)).filter(
    ({ origin }) => origin === "consensus",
  );
  expect(asked).toEqual([change?.sequence ?? 0]);
  // Who asks again is told of the same change.
  await post("bot-b");
  expect(asked).toEqual([change?.sequence ?? 0, change?.sequence ?? 0]);
  slow.close();
});

test("contact_email is masked wherever it could be read", async () => {
  await submit("bot-a", "contact_email", "Jane@oak.example");
  await submit("bot-b", "contact_email", "other@oak.example");
  const wanted = await (await service.get("/api/needs-enrichment?limit=50&pending=1")).text();
  expect(wanted).toContain("J…@oak.example");
  await submit("bot-c", "contact_email", "jane@OAK.example");
  const late = await send({ field: "contact_email", value: "x@oak.example", agent_id: "bot-d" });
  const seen = [await late.text(), wanted];
  for (const path of [
    `/api/nonprofits/${slug}`,
    `/api/history/${slug}`,
    "/api/agents/exemplars",
    "/api/enrichments/stats",
  ]) {
    seen.push(await (await service.get(path)).text());
  }
  expect(seen.join("")).not.toMatch(/jane@|other@/i);
  expect((await live()).contact_email).toBe("jane@oak.example");
});

describe("prose", () => {
  test("is queued however many agree", async () => {
    for (const agent of ["bot-a", "bot-b", "bot-c"]) {
      const { submission } = await submit(agent, "mission", "Food for all.");
      expect(submission).toMatchObject({ field_type: "prose", status: "pending", applied: false });
    }
    expect((await live()).mission).toBeNull();
    const again = await submit("bot-a", "mission", "Food  for all.");
    expect(again.submission).toMatchObject({ confidence: 3, consensus: true, status: "pending" });
  });
  test("programmes and metrics queue too, as JSON or text", async () => {
    expect((await submit("bot-a", "programme", '{"name":"Soup"}')).submission.field_type).toBe(
      "prose",
    );
    expect((await submit("bot-a", "impact_metric", "12,000 meals")).submission.status).toBe(
      "pending",
    );
  });
});

describe("a batch", () => {
  test("was found at the source_url beside it, but for items that name their own", async () => {
    await send({
      agent_id: "bot-sources",
      source_url: "https://a.example/page",
      fields: [
        { field: "city", value: "Oslo" },
        { field: "region", value: "Østlandet", source_url: "https://b.example/page" },
      ],
    });
    const { rows } = await service.store.raw.execute(
      "SELECT field, source_url FROM submissions WHERE agent_id = 'bot-sources' ORDER BY field",
    );
    expect(rows.map((row) => [row["field"], row["source_url"]])).toEqual([
      ["city", "https://a.example/page"],
      ["region", "https://b.example/page"],
    ]);
  });

  test("is stored as a whole, `field` beside `fields` is one more item", async () => {
    const response = await send({
      agent_id: "bot-a",
      field: "city",
      value: "Oslo",
      fields: [
        { field: "region", value: "Viken", source_url: null },
        { field: "mission", value: "Food." },
      ],
    });
    const answer = EnrichmentAnswer.parse(await response.json());
    expect(answer.submissions.map(({ field }) => field)).toEqual(["city", "region", "mission"]);
  });
  test.each([
    [
      "one bad item",
      {
        fields: [
          { field: "city", value: "Oslo" },
          { field: "website", value: "http://10.0.0.1" },
        ],
      },
      "fields[1].value",
    ],
    [
      "a field twice",
      {
        fields: [
          { field: "city", value: "Oslo" },
          { field: "city", value: "Oslo" },
        ],
      },
      "fields[1].field",
    ],
    [
      "a field beside itself",
      { field: "city", value: "Oslo", fields: [{ field: "city", value: "Oslo" }] },
      "fields[0].field",
    ],
    [
      "too many with the single one",
      {
        field: "mission",
        value: "x",
        fields: Array.from({ length: 20 }, () => ({ field: "city", value: "Oslo" })),
      },
      "fields",
    ],
    [
      "too many",
      { fields: Array.from({ length: 21 }, () => ({ field: "city", value: "Oslo" })) },
      "fields",
    ],
  ])("%s refuses it, names the item, and stores nothing", async (_, body, path) => {
    const response = await send({ agent_id: "bot-a", ...body });
    expect(response.status).toBe(400);
    const refused = (await response.json()) as { errors: { path: string }[]; example: object };
    expect(refused.errors[0]?.path).toBe(path);
    expect(refused.example).toBeDefined();
    const { rows } = await service.store.raw.execute({
      sql: "SELECT * FROM submissions WHERE nonprofit_id = ?",
      args: [(await live()).id],
    });
    expect(rows).toEqual([]);
  });
});

describe("a bad request says what to send instead", () => {
  const ok = { field: "city", value: "Oslo", agent_id: "bot-a" };
  test.each<[string, unknown, number]>([
    ["no object", [], 400],
    ["null", null, 400],
    ["nothing", {}, 400],
    ["no data", { agent_id: "bot-a" }, 400],
    ["empty batch", { agent_id: "bot-a", fields: [] }, 400],
    ["no agent", { field: "city", value: "Oslo" }, 400],
    ["agent of another type", { ...ok, agent_id: 7 }, 400],
    ["blank agent", { ...ok, agent_id: "  " }, 400],
    ["long agent", { ...ok, agent_id: "a".repeat(129) }, 400],
    ["agent that is long once folded", { ...ok, agent_id: "\uFDFA".repeat(20) }, 400],
    ["agent that nobody sees", { ...ok, agent_id: "\u200D\uFE0F" }, 400],
    ["hidden text in agent", { ...ok, agent_id: "bot\u202E" }, 400],
    ["long name", { ...ok, agent_name: "a".repeat(129) }, 400],
    ["unknown field", { ...ok, field: "wallet" }, 400],
    ["usdc_wallet", { ...ok, field: "usdc_wallet" }, 400],
    ["value without field", { value: "Oslo", agent_id: "bot-a" }, 400],
    ["field without value", { field: "city", agent_id: "bot-a" }, 400],
    ["a number", { ...ok, field: "founded_year", value: 1998 }, 400],
    ["a nested value", { ...ok, value: { a: [1] } }, 400],
    ["too long", { ...ok, value: "x".repeat(101) }, 400],
    ["bad source", { ...ok, source_url: "javascript:alert(1)" }, 400],
    ["a year to come", { ...ok, field: "founded_year", value: "2027" }, 400],
    ["fields is no array", { agent_id: "bot-a", fields: { field: "city" } }, 400],
  ])("%s", async (_, body, status) => {
    const response = await send(body);
    expect(response.status).toBe(status);
    const refused = (await response.json()) as Record<string, unknown>;
    expect(refused).toMatchObject({ status, code: "invalid_enrichment" });
    expect(refused["error"]).toBe(refused["detail"]);
    expect(JSON.stringify(refused["example"])).toContain("agent_id");
  });

  test("an unknown slug, a literal {slug} and a withdrawn nonprofit", async () => {
    expect((await send(ok, {}, "nobody")).status).toBe(404);
    const literal = await send(ok, {}, "{slug}");
    expect(literal.status).toBe(404);
    expect(((await literal.json()) as { detail: string }).detail).toContain("Put the slug");
    const [gone] = await service.add(aNonprofit({ status: "withdrawn" }));
    const withdrawn = await send(ok, {}, gone?.slug ?? "");
    expect(withdrawn.status).toBe(410);
    expect(await withdrawn.text()).toContain("research-bot-7");
  });

  test("a refused body shows an example at the address that was meant", async () => {
    for (const path of [`/api/enrich/${slug}`, `/api/corrections/${slug}`]) {
      for (const body of [{}, { field: "nothing", value: "x", agent_id: "a" }]) {
        const refused = await (await service.post(path, body)).json();
        expect(refused).toMatchObject({ example: { url: `https://almoner.example${path}` } });
      }
    }
  });

  test("no slug at all, and another method", async () => {
    for (const [response, status] of [
      [await service.post("/api/enrich", ok), 404],
      [await service.post("/api/enrich/", ok), 404],
      [await service.get(`/api/enrich/${slug}`), 405],
    ] as const) {
      expect(response.status).toBe(status);
      expect(await response.text()).toContain("research-bot-7");
    }
    expect(await (await service.get("/api/enrichments")).text()).not.toContain("research-bot-7");
  });

  test("deep, large and foreign bodies are refused with an example", async () => {
    const raw = (body: string, type = "application/json") =>
      service.app.handle(
        new Request(`http://localhost/api/enrich/${slug}`, {
          method: "POST",
          headers: { "content-type": type, "x-forwarded-for": "10.99.0.1" },
          body,
        }),
      );
    const deep = `{"agent_id":"a","field":"city","value":${"[".repeat(1_000)}${"]".repeat(1_000)}}`;
    for (const [response, status] of [
      [await raw(deep), 400],
      [await raw(`{"value":"${"x".repeat(10 * 1024 * 1024)}"}`), 413],
      [await raw("field=city&value=Oslo", "application/x-www-form-urlencoded"), 415],
      [await raw("{not json"), 400],
      [await raw(""), 400],
    ] as const) {
      expect(response.status).toBe(status);
      expect(await response.text()).toContain("research-bot-7");
    }
  });
});

describe("Idempotency-Key", () => {
  const key = { "idempotency-key": "6e1c8c3e" };
  test("the same request again is answered the same, another one is refused", async () => {
    const body = { field: "city", value: "Oslo", agent_id: "bot-k" };
    const first = await (await send(body, key)).json();
    await submit("bot-l", "city", "Oslo");
    expect(await (await send(body, key)).json()).toEqual(first);
    const other = await send({ ...body, value: "Bergen" }, key);
    expect(other.status).toBe(409);
  });
  test("two agents may use the same key", async () => {
    await send({ field: "city", value: "Oslo", agent_id: "bot-m" }, key);
    const other = await send({ field: "city", value: "Oslo", agent_id: "bot-n" }, key);
    expect(EnrichmentAnswer.parse(await other.json()).submissions[0]?.status).toBe("applied");
  });
  test("a key is free again after 24 hours", async () => {
    let now = new Date("2026-06-01T12:00:00Z");
    const timed = await aService({ context: { clock: () => now } });
    const [record] = await timed.add(aNonprofit());
    const post = (value: string) =>
      timed.post(`/api/enrich/${record?.slug}`, { field: "city", value, agent_id: "bot-k" }, key);
    await post("Oslo");
    now = new Date("2026-06-02T11:59:59Z");
    expect((await post("Bergen")).status).toBe(409);
    now = new Date("2026-06-02T12:00:00Z");
    expect((await post("Bergen")).status).toBe(200);
    timed.close();
  });
  test("a key of odd characters is refused", async () => {
    const body = { field: "city", value: "Oslo", agent_id: "bot-k" };
    const refused = await (await send(body, { "idempotency-key": "a b" })).json();
    expect(refused).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
    expect(refused).not.toHaveProperty("example");
  });
});

test("a clock that jumps an hour, on or back, applies a value once and frees no limit", async () => {
  let now = new Date("2026-06-01T12:00:00Z");
  const jumping = await aService({ context: { clock: () => now } });
  const [record] = await jumping.add(aNonprofit());
  const statuses: number[] = [];
  for (let at = 0; at < 40; at++) {
    now = new Date(now.getTime() + (at % 2 === 0 ? 3_600_000 : -3_600_000));
    const body = { field: "city", value: "Oslo", agent_id: `bot-${at % 3}` };
    statuses.push((await jumping.post(`/api/enrich/${record?.slug}`, body)).status);
  }
  const applied = (await changesAfter(jumping.store, 0, 100)).filter(
    ({ origin }) => origin === "consensus",
  );
  expect(applied).toHaveLength(1);
  expect(statuses.slice(0, 30).every((status) => status < 429)).toBe(true);
  expect(statuses.slice(30)).toEqual(Array.from({ length: 10 }, () => 429));
  jumping.close();
});

test("hidden addresses and forged headers: nothing is fetched, nothing but text is kept", async () => {
  let fetched = 0;
  const server = Bun.serve({ port: 0, fetch: () => (fetched++, new Response("x")) });
  const url = `http://localhost.localdomain.example:${server.port}/`;
  await submit("bot-a", "website", url, { source_url: `http://127.0.0.1:${server.port}/` });
  await submit("bot-b", "website", url, { source_url: `http://127.0.0.1:${server.port}/` });
  await server.stop(true);
  expect(fetched).toBe(0);
});
