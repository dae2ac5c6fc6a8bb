import { afterEach, describe, expect, test } from "bun:test";
import { DraftAnswer, RecommendAnswer } from "#content/contract/recommendation.ts";
import { ReviewList } from "#content/contract/review.ts";
import { curatedPicks } from "#content/recommendation/pick-store.ts";
import { curate } from "../support/curate.ts";
import { aNonprofit } from "../support/records.ts";
import { aService, type TestService } from "../support/service.ts";

const tokens = {
  ada: "a-token-of-operator-ada-0123456789",
  bob: "a-token-of-operator-bob-0123456789",
};
let service: TestService;
let clients = 0;
afterEach(() => service.close());

/** A client of its own for each request, so that no limit hides an answer. */
const address = () => ({ "x-forwarded-for": `10.9.${(clients >> 8) & 255}.${clients++ & 255}` });
const as = (name: keyof typeof tokens) => ({
  authorization: `Bearer ${tokens[name]}`,
  ...address(),
});

async function open(phase: "1" | "2" | "3", env: Record<string, string> = {}): Promise<void> {
  service = await aService({
    env: {
      ALMONER_RECOMMENDATION_PHASE: phase,
      ALMONER_TRUSTED_HOPS: "1",
      ALMONER_ADMIN_TOKENS: `ada:${tokens.ada},bob:${tokens.bob}`,
      ...env,
    },
    records: ["wells", "pumps", "school", "camp"].map((slug) =>
      aNonprofit({ slug, name: `The ${slug}`, mission: `Runs ${slug}`, causes: ["education"] }),
    ),
  });
}

const aDraft = (given: object = {}) => ({
  slug: "wells",
  recommended_for: ["donors interested in village wells", "donors interested in repairs"],
  why_recommended: "Mends wells and says what they cost.",
  source_url: "https://register.example/wells",
  agent_id: "bot-a",
  ...given,
});
const send = (given: object = {}, headers: Record<string, string> = {}) =>
  service.post("/api/recommend/drafts", aDraft(given), { ...address(), ...headers });
async function draft(given: object = {}, headers: Record<string, string> = {}) {
  const response = await send(given, headers);
  expect(response.status).toBe(200);
  return DraftAnswer.parse(await response.json());
}
const refused = async (response: Response | Promise<Response>) => {
  const { status } = await response;
  return [status, ((await (await response).json()) as { code: string }).code];
};
const recommended = async (query = "cause=education") =>
  RecommendAnswer.parse(await service.json(`/api/recommend?${query}&limit=5`));
const slugs = async (query?: string) =>
  (await recommended(query)).recommendations.map(({ slug }) => slug);
const queue = async () =>
  ReviewList.parse(await service.json("/api/admin/reviews?kind=draft", as("ada"))).reviews;
const decide = (
  id: string,
  verb: "approve" | "reject",
  body: object = {},
  by: keyof typeof tokens = "ada",
) => service.post(`/api/admin/reviews/${id}/${verb}`, body, as(by));
const audit = async () =>
  (await service.rows(
    "SELECT operator, action, subject FROM audit_log ORDER BY id",
  )) as unknown as { operator: string; action: string; subject: string }[];
/** What this process wrote is seen at once when it told itself; other ways of writing are seen within 5 s. */
const lookAgain = () => service.context.curated.lookAgain();

describe("phase 1", () => {
  test("takes no drafts, and says whose picks these are", async () => {
    await open("1");
    const closed = await send();
    expect([closed.status, await closed.json()]).toEqual([
      403,
      expect.not.objectContaining({ example: expect.anything() }),
    ]);
    expect(await refused(send({ slug: 7 }))).toEqual([403, "drafts_not_open"]);
    expect((await recommended()).editorial_disclosure).toContain("phase 1");
    await curate(service, aNonprofit({ slug: "picked", causes: ["education"] }));
    lookAgain();
    const { editorial_disclosure, recommendations } = await recommended();
    expect(editorial_disclosure).toContain(
      "phase 1: recommendations are picked by the directory's",
    );
    expect(recommendations).toMatchObject([{ slug: "picked", editorial_curated: true }]);
  });

  test("operators add, edit and remove picks", async () => {
    await open("1");
    const body = { slug: "wells", recommended_for: ["wells"], why_recommended: "Mends wells." };
    const post = (path: string, sent: object | null, by: keyof typeof tokens = "ada") =>
      service.post(`/api/admin/picks${path}`, sent, as(by));
    // Two operators at once: one pick, and the other one is told.
    const both = await Promise.all([post("", body), post("", body, "bob")]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(await slugs()).toEqual(["wells"]);
    expect(await slugs("cause=health")).toEqual([]);
    expect((await post("/wells", { causes: ["health"] })).status).toBe(200);
    // No body is no edit without changes, by which the words of agents would become the operator's own.
    expect(await refused(post("/wells", null))).toEqual([400, "invalid_review"]);
    expect(await slugs("cause=health")).toEqual(["wells"]);
    expect(await slugs()).toEqual([]);
    expect(await refused(post("/pumps", { why_recommended: "x" }))).toEqual([
      404,
      "pick_not_found",
    ]);
    expect((await post("/wells/remove", { reason: "They asked for it." })).status).toBe(200);
    expect(await slugs("cause=health")).toEqual([]);
    expect((await audit()).map(({ action, subject }) => `${action} ${subject}`)).toEqual([
      "pick.added wells",
      "pick.edited wells",
      "pick.removed wells",
    ]);
  });
});

describe("phase 2", () => {
  test("agents draft; the operator approves, edits and rejects", async () => {
    await open("2");
    expect(await draft()).toMatchObject({ status: "pending", confidence: 1, phase: 2 });
    const second = await draft({ agent_id: "bot-b" });
    expect(second).toMatchObject({
      status: "pending",
      applied: false,
      confidence: 2,
      consensus: true,
    });
    expect(second.promotion_note).toContain("phase 2");
    await draft({ slug: "pumps", agent_id: "bot-b" });
    await draft({ slug: "school", why_recommended: "Teaches, and reports outcomes." });
    expect(await slugs()).toEqual([]);
    const [wells, , pumps, school] = await queue();
    expect(wells).toMatchObject({ kind: "draft", slug: "wells", detail: { confidence: 2 } });
    expect(school?.flags).toEqual(["sensitive_claim"]);

    expect((await decide(wells?.id ?? "", "approve")).status).toBe(200);
    // The other agent named the same intents: nothing is left to decide there.
    expect((await queue()).map(({ slug }) => slug)).toEqual(["pumps", "school"]);
    const boast = await decide(pumps?.id ?? "", "approve", { value: "Simply the best pumps." });
    expect(await refused(boast)).toEqual([400, "review_value_not_usable"]);
    const value = JSON.stringify({ recommended_for: ["pumps"], why_recommended: "Edited by Ada." });
    expect((await decide(pumps?.id ?? "", "approve", { value })).status).toBe(200);
    expect((await decide(school?.id ?? "", "reject", { reason: "No numbers." })).status).toBe(200);

    lookAgain();
    const { recommendations, editorial_disclosure } = await recommended();
    expect(recommendations.map(({ slug, editorial_curated }) => [slug, editorial_curated])).toEqual(
      [
        ["wells", true],
        ["pumps", true],
      ],
    );
    expect(recommendations[1]).toMatchObject({
      recommended_for: ["pumps"],
      why_recommended: "Edited by Ada.",
    });
    expect(editorial_disclosure).toContain("phase 2");
    expect((await audit()).map(({ action }) => action)).toEqual([
      "review.approved",
      "review.approved",
      "review.rejected",
    ]);
  });

  test("of two operators at once one decides", async () => {
    await open("2");
    const { draft_id } = await draft();
    const statuses = await Promise.all([
      decide(`draft-${draft_id}`, "approve", {}, "ada"),
      decide(`draft-${draft_id}`, "reject", { reason: "No." }, "bob"),
      decide(`draft-${draft_id}`, "approve", { value: "In other words." }, "bob"),
    ]);
    expect(statuses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await audit()).toHaveLength(1);
  });

  test("an agent has one waiting draft, sends it again at will, and replaces it", async () => {
    await open("2");
    const first = await draft();
    expect((await draft()).draft_id).toBe(first.draft_id);
    const other = await draft({ why_recommended: "Mends pumps, too." });
    expect(other.draft_id).not.toBe(first.draft_id);
    expect(await queue()).toHaveLength(1);
    const keyed = await draft({ slug: "camp" }, { "idempotency-key": "k1" });
    expect(await draft({ slug: "camp" }, { "idempotency-key": "k1" })).toEqual(keyed);
    expect(
      await refused(send({ slug: "camp", why_recommended: "x" }, { "idempotency-key": "k1" })),
    ).toEqual([409, "idempotency_key_reused"]);
    expect(await refused(send({}, { "idempotency-key": "a b" }))).toEqual([
      400,
      "invalid_idempotency_key",
    ]);
  });

  test("what cannot be used is refused with a code, and stores nothing", async () => {
    await open("2");
    const unsourced = await send({ source_url: undefined });
    expect([unsourced.status, await unsourced.json()]).toEqual([
      400,
      expect.objectContaining({ code: "invalid_draft", example: expect.anything() }),
    ]);
    expect(await refused(send({ why_recommended: "Top-rated." }))).toEqual([
      400,
      "wording_claims_too_much",
    ]);
    expect(await queue()).toEqual([]);
    const from = { "x-forwarded-for": "10.8.0.1" };
    const statuses: number[] = [];
    for (let sent = 0; sent < 32; sent++) {
      statuses.push((await service.post("/api/recommend/drafts", {}, from)).status);
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});

describe("phase 3", () => {
  const agreeing = ["Repairs", "Recommended for donors interested in: village-wells!"];

  test("two agents with the same intents promote, in the words of neither", async () => {
    await open("3");
    await curate(service, aNonprofit({ slug: "picked", causes: ["education"] }));
    lookAgain();
    expect(await draft()).toMatchObject({ status: "pending", phase: 3 });
    expect((await draft({ agent_id: "BOT-A " })).confidence).toBe(1);
    expect(await slugs()).toEqual(["picked"]);
    const agreed = await draft({
      agent_id: "bot-b",
      recommended_for: agreeing,
      why_recommended: "Other words.",
      source_url: "https://bot-b.example/evidence",
    });
    expect(agreed).toMatchObject({
      status: "applied",
      applied: true,
      confidence: 2,
      consensus: true,
    });
    const { recommendations, editorial_disclosure } = await recommended();
    expect(recommendations[0]?.explain[0]).toEqual({
      signal: "editorial_curation_for_starter_set",
      points: 20,
    });
    // Half of two candidates come from agreement: curation is worth 20 by the published table.
    expect(recommendations).toMatchObject([
      { slug: "picked", editorial_curated: true },
      {
        slug: "wells",
        editorial_curated: false,
        recommended_for: ["village wells", "repairs"],
        why_recommended: "Distinct agents named it for these donor intents, each with a source.",
      },
    ]);
    expect(recommendations[1]?.ranking_signals_applied).not.toContain(
      "editorial_curation_for_starter_set",
    );
    expect(recommendations[1]?.trust_signals[0]).toContain("no person has reviewed it");
    expect(editorial_disclosure).toContain("20 of at most 50 points");
    expect(editorial_disclosure).toContain("50 % now");
    expect(await queue()).toEqual([]);
    expect(await audit()).toEqual([
      { operator: "consensus", action: "recommendation.promoted", subject: "wells" },
    ]);
    // A third agent says the same; a fourth says something else, which never replaces it.
    expect(await draft({ agent_id: "bot-c" })).toMatchObject({ status: "applied", confidence: 3 });
    const other = await draft({ agent_id: "bot-d", recommended_for: ["schools"] });
    expect(other.promotion_note).toContain("recommended already");
    // A lower phase shows what persons decided only.
    const picks = await curatedPicks(service.store, { phase: 2 });
    expect(picks.map(({ origin }) => origin)).toEqual(["operator"]);
  });

  test("tests and made-up evidence promote nothing", async () => {
    await open("3");
    const tests = [
      { agent_id: "test-agent-1" },
      { agent_id: "bot-b", source_url: "https://example.org/report" },
      { agent_id: "bot-c", agent_name: "Debug bot" },
    ];
    for (const given of tests) {
      expect((await draft(given)).promotion_note).toContain("looks like a test");
    }
    expect((await draft({ agent_id: "bot-d" })).status).toBe("pending");
    expect((await queue()).map(({ flags }) => flags)).toEqual([
      ["test_data"],
      ["test_data"],
      ["test_data"],
      [],
    ]);
    expect((await draft({ agent_id: "bot-e" })).status).toBe("applied");
    expect((await queue()).length).toBe(3);
  });

  test("no one keeps others from agreeing, or an operator from approving, by waiting in great number", async () => {
    await open("3");
    await draft({ agent_id: "bot-0", slug: "pumps" });
    const crowd = (slug: string) =>
      service.store.write((tx) =>
        tx.raw.execute({
          sql: `INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, phase, status, created_at)
            SELECT n.id, '["x"]', '["x"]', 'x', 'https://a.example/', 'crowd-' || value, 'x', 3, 'pending', 0
            FROM nonprofits AS n, json_each(?) WHERE n.slug = ?`,
          args: [JSON.stringify(Array.from({ length: 600 }, (_, at) => at)), slug],
        }),
      );
    await crowd("wells");
    await draft({ agent_id: "bot-a" });
    expect(await draft({ agent_id: "bot-b" })).toMatchObject({ status: "applied", confidence: 2 });
    await crowd("school");
    const late = await draft({ agent_id: "bot-a", slug: "school" });
    expect((await decide(`draft-${late.draft_id}`, "approve")).status).toBe(200);
    expect((await decide(`draft-${late.draft_id}`, "reject", { reason: "Late." })).status).toBe(
      409,
    );
  });

  test("undoing an agent takes its vote out of what was agreed, and the profile counts again", async () => {
    await open("3");
    for (const agent_id of ["bot-a", "bot-b"]) await draft({ agent_id });
    for (const agent_id of ["bot-b", "bot-c", "bot-a"]) await draft({ agent_id, slug: "pumps" });
    for (const agent_id of ["bot-a", "bot-d"]) await draft({ agent_id, slug: "camp" });
    const approved = await draft({ agent_id: "bot-a", slug: "school" });
    await decide(`draft-${approved.draft_id}`, "approve");
    lookAgain();
    expect(await slugs()).toEqual(["school", "wells", "pumps", "camp"]);
    const undo = async () =>
      (
        await service.post(
          "/api/admin/agents/revert",
          { agent_id: "BOT-A", reason: "Made up." },
          as("ada"),
        )
      ).json();
    expect(await undo()).toMatchObject({ agent_id: "bot-a", recommendations: 2, complete: true });
    expect(await undo()).toMatchObject({ recommendations: 0 });
    // Two others stand behind the pumps, and an operator behind the school.
    expect(await slugs()).toEqual(["school", "pumps"]);
    expect((await audit()).filter(({ action }) => action === "recommendation.reverted")).toEqual([
      { operator: "ada", action: "recommendation.reverted", subject: "wells" },
      { operator: "ada", action: "recommendation.reverted", subject: "camp" },
    ]);
    expect((await draft({ agent_id: "bot-b" })).status).toBe("pending");
    expect((await draft({ agent_id: "bot-e" })).status).toBe("applied");
  });

  test("an operator's no stands", async () => {
    await open("3");
    const refusedDraft = await draft();
    await decide(`draft-${refusedDraft.draft_id}`, "reject", { reason: "Closed." });
    const told = [{ agent: "bot-a", recommended_for: aDraft().recommended_for, reason: "Closed." }];
    for (const agent_id of ["bot-b", "bot-c"]) {
      expect((await draft({ agent_id })).prior_rejections).toMatchObject(told);
    }
    expect(refusedDraft.prior_rejections).toEqual([]);
    expect(await slugs()).toEqual([]);
    for (const agent_id of ["bot-a", "bot-b"]) await draft({ slug: "pumps", agent_id });
    expect(await slugs()).toEqual(["pumps"]);
    await service.post("/api/admin/picks/pumps/remove", { reason: "Closed." }, as("ada"));
    const again = [];
    for (const agent_id of ["bot-a", "bot-b", "bot-c"])
      again.push(await draft({ slug: "pumps", agent_id }));
    expect(again.map(({ status }) => status)).toEqual(["pending", "pending", "pending"]);
    expect(await slugs()).toEqual([]);
  });

  test("in the strict mode two networks are needed, and no address of one is stored", async () => {
    await open("3", { ALMONER_CONSENSUS: "networks" });
    const from = (ip: string) => ({ "x-forwarded-for": ip });
    await draft({ agent_id: "bot-a" }, from("192.0.2.1"));
    expect((await draft({ agent_id: "bot-b" }, from("192.0.2.200"))).status).toBe("pending");
    expect((await draft({ agent_id: "bot-c" }, from("198.51.100.1"))).status).toBe("applied");
    const rows = await service.rows("SELECT * FROM recommendation_drafts");
    expect(JSON.stringify(rows)).not.toContain("192.0.2");
  });

  test("of two agents that agree at once exactly one promotes each profile", async () => {
    await open("3");
    const added = await service.add(...Array.from({ length: 20 }, () => aNonprofit()));
    const drafts = added.flatMap(({ slug }) => ["a", "b"].map((agent_id) => ({ slug, agent_id })));
    const sent = await Promise.all(drafts.map((given) => draft(given)));
    expect(sent.filter(({ applied }) => applied)).toHaveLength(20);
    expect(
      await service.rows(`SELECT (SELECT count(*) FROM curated_picks WHERE origin = 'consensus') AS picks,
        (SELECT count(*) FROM recommendation_drafts WHERE status = 'applied') AS drafts,
        (SELECT count(DISTINCT subject) FROM audit_log) AS subjects, (SELECT count(*) FROM audit_log) AS rows`),
    ).toEqual([{ picks: 20, drafts: 40, subjects: 20, rows: 20 }]);
  });
});
