import { beforeEach, describe, expect, test } from "bun:test";
import { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aClient, aService, theService } from "#test/support/service.ts";

let slug: string;

const send = (body: unknown, headers: Record<string, string> = {}, to = slug) =>
  service.post(`/api/enrich/${to}`, body, { ...aClient(), ...headers });
const sendRaw = (body: string, type = "application/json") =>
  service.request(`/api/enrich/${slug}`, {
    method: "POST",
    headers: { "content-type": type, ...aClient() },
    body,
  });

async function sendOk(body: object) {
  const response = await send(body);
  expect(response.status).toBe(200);
  return EnrichmentAnswer.parse(await response.json());
}
async function submit(agent_id: string, field: string, value: string, more: object = {}) {
  const answer = await sendOk({ field, value, agent_id, ...more });
  const [submission] = answer.submissions;
  if (submission === undefined) throw new Error("no submission came back");
  return { answer, submission };
}

const live = () => service.live(slug);
const submissions = async () =>
  service.rows("SELECT * FROM submissions WHERE nonprofit_id = ?", [(await live()).id]);
const agreedChanges = async (of = service) =>
  (await changesAfter(of.store, 0, 10_000)).filter(({ origin }) => origin === "consensus");
/** A service with one nonprofit, of whose city agents tell. */
async function aCityService(context: Parameters<typeof aService>[0] & object) {
  const other = await aService(context);
  const [record] = await other.add(aNonprofit());
  const sendCity = (value: string, agent_id: string, headers = {}) =>
    other.post(`/api/enrich/${record?.slug}`, { field: "city", value, agent_id }, headers);
  return { other, sendCity };
}

const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1" },
  context: { waitForPublication: () => Promise.resolve({ release: "r1" }) },
});
beforeEach(async () => {
  const [record] = await service.add(aNonprofit());
  slug = record?.slug ?? "";
});

const waits = { status: "pending", applied: false };
const oslo = { field: "city", value: "Oslo" };

describe("a structured field", () => {
  test("waits for a second agent, then goes live as both sent it", async () => {
    const website = "Oak.example/About?utm_source=x";
    const source = { source_url: "https://register.example/1", agent_name: "Bot A" };
    const first = await submit("bot-a", "website", website, source);
    expect(first.submission).toMatchObject({
      ...waits,
      field: "website",
      field_type: "structured",
      confidence: 1,
      consensus: false,
      prior_rejections: [],
    });
    expect(first.submission.promotion_note).toContain("Awaiting consensus");
    expect(first.answer.auto_promote.website).toBe(false);
    expect((await live()).website).toBeNull();

    const name = { agent_name: "Bot B" };
    const second = await submit("bot-b", "website", "https://www.oak.example/About", name);
    const applied = { status: "applied", applied: true, confidence: 2, consensus: true };
    expect(second.submission).toMatchObject(applied);
    // As clients of one submission read it.
    const { promotion_note } = second.submission;
    const flat = { field_type: "structured", promotion_note, auto_promote: { website: true } };
    expect(second.answer).toMatchObject({ ...flat, release: "r1" });
    expect(second.answer.auto_promote.city).toBeUndefined();
    expect((await live()).website).toBe("https://oak.example/About");

    const profile = NonprofitDetail.parse(await service.json(`/api/nonprofits/${slug}`));
    const agents = ["Bot A", "Bot B"];
    const origin = { source: "consensus", source_url: "https://register.example/", agents };
    expect(profile.provenance["website"]).toMatchObject(origin);
    const enrichedBy = agents.map((agent_name) => ({ agent_name, field: "website" }));
    expect(profile.enriched_by).toMatchObject(enrichedBy);
    expect(profile.enriched_by[0]?.reviewed_at).toBe(profile.provenance["website"]?.applied_at);
  });

  test("two values stay pending until a third agent breaks the tie; the loser learns the winner", async () => {
    await submit("bot-a", "city", "Oslo");
    const rival = await submit("bot-b", "city", "Bergen");
    expect(rival.submission.status).toBe("pending");
    expect(rival.submission.promotion_note).toContain("breaks the tie");
    const third = await submit("bot-c", "city", "Bergen");
    const values = { rejected_value: "Oslo", winning_value: "Bergen" };
    const lost = { agent: "bot-a", ...values, reason: "another value won consensus" };
    expect(third.submission).toMatchObject({ status: "applied", prior_rejections: [lost] });
    expect((await live()).city).toBe("Bergen");
  });
});

test("applied is said only once the published profile holds the value", async () => {
  const asked: number[] = [];
  const { other, sendCity } = await aCityService({
    context: { waitForPublication: (sequence) => (asked.push(sequence), Promise.resolve(null)) },
  });
  const post = async (agent: string) =>
    EnrichmentAnswer.parse(await (await sendCity("Oslo", agent)).json());
  await post("bot-a");
  expect(asked).toEqual([]);
  const second = await post("bot-b");
  const agreed = { status: "applied", applied: false, consensus: true };
  expect(second).toMatchObject({ submissions: [agreed], release: null });
  expect(second.submissions[0]?.promotion_note).toContain("being published");
  const [change] = await agreedChanges(other);
  // Who asks again is told of the same change.
  await post("bot-b");
  expect(asked).toEqual([change?.sequence ?? 0, change?.sequence ?? 0]);
  other.close();
});

test("contact_email is masked wherever it could be read", async () => {
  await submit("bot-a", "contact_email", "Jane@oak.example");
  await submit("bot-b", "contact_email", "other@oak.example");
  const needs = await (await service.get("/api/needs-enrichment?limit=50&pending=1")).text();
  expect(needs).toContain("J…@oak.example");
  await submit("bot-c", "contact_email", "jane@OAK.example");
  const late = await send({ field: "contact_email", value: "x@oak.example", agent_id: "bot-d" });
  const seen = [await late.text(), needs];
  const reads = ["nonprofits/SLUG", "history/SLUG", "agents/exemplars", "enrichments/stats"];
  for (const path of reads)
    seen.push(await (await service.get(`/api/${path.replace("SLUG", slug)}`)).text());
  expect(seen.join("")).not.toMatch(/jane@|other@/i);
  expect((await live()).contact_email).toBe("jane@oak.example");
});

test("prose is queued however many agree", async () => {
  for (const agent of ["bot-a", "bot-b", "bot-c"]) {
    const { submission } = await submit(agent, "mission", "Food for all.");
    expect(submission).toMatchObject({ ...waits, field_type: "prose" });
  }
  expect((await live()).mission).toBeNull();
  const again = await submit("bot-a", "mission", "Food  for all.");
  expect(again.submission).toMatchObject({ confidence: 3, consensus: true, status: "pending" });
});

describe("a batch", () => {
  test("is stored as a whole, with `field` beside `fields`, and the source_url of each or of all", async () => {
    const source_url = "https://a.example/page";
    const own = "https://b.example/page";
    const region = { field: "region", value: "Østlandet", source_url: own };
    const mission = { field: "mission", value: "Food." };
    const sent = { agent_id: "bot-a", source_url, ...oslo, fields: [region, mission] };
    const answer = await sendOk(sent);
    expect(answer.submissions.map(({ field }) => field)).toEqual(["city", "region", "mission"]);
    const sources = (await submissions()).map((row) => [row["field"], row["source_url"]]);
    const expected = { city: source_url, region: own, mission: source_url };
    expect(Object.fromEntries(sources)).toEqual(expected);
  });

  test("may have null for what is absent, as may a single item", async () => {
    await sendOk({ agent_id: "bot-a", field: null, value: null, fields: [oslo] });
    await sendOk({ agent_id: "bot-b", ...oslo, fields: null });
    expect((await live()).city).toBe("Oslo");
  });

  const times = (count: number) => Array.from({ length: count }, () => oslo);
  const local = { field: "website", value: "http://10.0.0.1" };
  test.each([
    ["one bad item", { fields: [oslo, local] }, "fields[1].value"],
    ["a field twice", { fields: times(2) }, "fields[1].field"],
    ["a field beside itself", { ...oslo, fields: times(1) }, "fields[0].field"],
    ["too many with the one", { field: "mission", value: "x", fields: times(20) }, "fields"],
    ["too many", { fields: times(21) }, "fields"],
  ])("%s refuses it, names the item, and stores nothing", async (_, body, path) => {
    const refused = await (await send({ agent_id: "bot-a", ...body })).json();
    expect(refused).toMatchObject({ status: 400, example: expect.anything() });
    expect(refused.errors[0].path).toBe(path);
    expect(await submissions()).toEqual([]);
  });
});

describe("a bad request says what to send instead", () => {
  const ok = { ...oslo, agent_id: "bot-a" };
  const { agent_id, field, ...valueAlone } = ok;
  test.each<[string, unknown]>([
    ["no object", []],
    ["nothing", {}],
    ["no data", { agent_id }],
    ["null data", { ...ok, field: null, value: null, fields: null }],
    ["null field", { ...ok, field: null }],
    ["null value", { ...ok, value: null }],
    ["empty batch", { agent_id, fields: [] }],
    ["no agent", oslo],
    ["blank agent", { ...ok, agent_id: "  " }],
    ["agent that is long once folded", { ...ok, agent_id: "\uFDFA".repeat(20) }],
    ["agent that nobody sees", { ...ok, agent_id: "\u200D\uFE0F" }],
    ["hidden text in agent", { ...ok, agent_id: "bot\u202E" }],
    ["long name", { ...ok, agent_name: "a".repeat(129) }],
    ["unknown field", { ...ok, field: "wallet" }],
    ["value without field", { ...valueAlone, agent_id }],
    ["field without value", { field, agent_id }],
    ["bad source", { ...ok, source_url: "javascript:alert(1)" }],
    ["a year to come", { ...ok, field: "founded_year", value: "2027" }],
  ])("%s", async (_, body) => {
    const refused = await (await send(body)).json();
    expect(refused).toMatchObject({ status: 400, code: "invalid_enrichment" });
    expect(refused.error).toBe(refused.detail);
    expect(JSON.stringify(refused.example)).toContain("agent_id");
  });

  test("an unknown slug, a literal {slug} and a withdrawn nonprofit", async () => {
    const [gone] = await service.add(aNonprofit({ status: "withdrawn" }));
    for (const [to, status, words] of [
      ["nobody", 404, ""],
      ["{slug}", 404, "Put the slug"],
      [gone?.slug ?? "", 410, `/api/nonprofits/${gone?.slug} names the profile to use`],
    ] as const) {
      const response = await send(ok, {}, to);
      expect([to, response.status]).toEqual([to, status]);
      expect(await response.text()).toContain(words);
    }
  });

  test("a refused body shows an example at the address that was meant", async () => {
    for (const path of [`/api/enrich/${slug}`, `/api/corrections/${slug}`]) {
      for (const body of [{}, { field: "nothing", value: "x", agent_id: "a" }]) {
        const refused = await (await service.post(path, body)).json();
        expect(refused).toMatchObject({ example: { url: `https://almoner.example${path}` } });
      }
    }
  });

  test("no slug, another method, and empty, large and foreign bodies are refused with an example", async () => {
    for (const [response, status] of [
      [await service.post("/api/enrich", ok), 404],
      [await service.get(`/api/enrich/${slug}`), 405],
      [await sendRaw(`{"value":"${"x".repeat(10 * 1024 * 1024)}"}`), 413],
      [await sendRaw("field=city&value=Oslo", "application/x-www-form-urlencoded"), 415],
      [await sendRaw(""), 400],
    ] as const) {
      expect(response.status).toBe(status);
      expect(await response.text()).toContain("research-bot-7");
    }
    expect(await (await service.get("/api/enrichments")).text()).not.toContain("research-bot-7");
  });
});

describe("an Idempotency-Key", () => {
  const key = { "idempotency-key": "6e1c8c3e", ...aClient() };
  const body = { ...oslo, agent_id: "bot-k" };
  test("answers the same request the same, refuses another one, and is each agent's own", async () => {
    const first = await (await send(body, key)).json();
    const other = await send({ ...body, agent_id: "bot-n" }, key);
    expect(await other.json()).toMatchObject({ submissions: [{ status: "applied" }] });
    expect(await (await send(body, key)).json()).toEqual(first);
    expect((await send({ ...body, value: "Bergen" }, key)).status).toBe(409);
  });
  test("is free again after 24 hours", async () => {
    let now = new Date("2026-06-01T12:00:00Z");
    const { other, sendCity } = await aCityService({ context: { clock: () => now } });
    await sendCity("Oslo", "bot-k", key);
    now = new Date("2026-06-02T11:59:59Z");
    expect((await sendCity("Bergen", "bot-k", key)).status).toBe(409);
    now = new Date("2026-06-02T12:00:00Z");
    expect((await sendCity("Bergen", "bot-k", key)).status).toBe(200);
    other.close();
  });
});

test("a clock that jumps an hour, on or back, applies a value once and frees no limit", async () => {
  let now = new Date("2026-06-01T12:00:00Z");
  const { other, sendCity } = await aCityService({ context: { clock: () => now } });
  for (let at = 0; at < 40; at++) {
    now = new Date(now.getTime() + (at % 2 === 0 ? 3_600_000 : -3_600_000));
    const { status } = await sendCity("Oslo", `bot-${at % 3}`);
    expect(status === 429).toBe(at >= 30);
  }
  expect(await agreedChanges(other)).toHaveLength(1);
  other.close();
});
