import { describe, expect, test } from "bun:test";
import { ReviewDecision, ReviewList } from "#content/contract/review.ts";
import { theOperatedService } from "#test/support/desk.ts";

const service = await theOperatedService({
  context: { waitForPublication: () => Promise.resolve({ release: "r1" }) },
});
const { aSlug, bearer, live, submit } = service;

const decide = (id: string, decision: "approve" | "reject", body: object = {}) =>
  service.tell(`reviews/${id}/${decision}`, body);
const idsIn = async (kind: string) =>
  ReviewList.parse(await service.ask(`reviews?kind=${kind}`)).reviews.map(({ id }) => id);

test("who is no operator gets 401 on every admin route, kept by no cache", async () => {
  const routes = service.app.routes.filter(({ path }) => path.startsWith("/api/admin/"));
  expect(routes.length).toBeGreaterThan(20);
  for (const { method, path } of routes) {
    const at = path.replaceAll(/:\w+/g, "x");
    const sent = method === "GET" ? service.get(at) : service.post(at, {});
    const { status, headers } = await sent;
    const kept = headers.get("cache-control");
    expect([method, path, status, kept]).toEqual([method, path, 401, "no-store"]);
  }
  for (const authorization of ["Bearer no", bearer.authorization.replace("Bearer", "Basic")])
    expect((await service.get("/api/admin/reviews", { authorization })).status).toBe(401);
});

test("prose goes live when it is accepted, edited or not, and other texts are told", async () => {
  const slug = await aSlug();
  const { submission_id } = await submit(slug, "bot-a", "mission", "Food for all.");
  await submit(slug, "bot-b", "mission", "Meals for everyone.");
  expect(await idsIn("prose")).toContain(`prose-${submission_id}`);
  const response = await decide(`prose-${submission_id}`, "approve", {
    value: "Food for all people.",
  });
  expect(ReviewDecision.parse(await response.json())).toMatchObject({
    decision: "approved",
    live: true,
  });
  const record = await live(slug);
  expect(record.mission).toBe("Food for all people.");
  expect(record.provenance["mission"]).toMatchObject({ set_by: "operator", agents: ["bot-a"] });
  const late = await submit(slug, "bot-c", "mission", "Third text.");
  expect(late.prior_rejections).toMatchObject([{ winning_value: "Food for all people." }]);
  expect((await decide(`prose-${submission_id}`, "approve")).status).toBe(409);
  const exemplars = await (await service.get("/api/agents/exemplars?field=mission")).text();
  expect(exemplars).toContain("Food for all people.");
  // What the reviewer took out of the text was never public, and does not become so by its history.
  const history = await (await service.get(`/api/history/${slug}`)).json();
  expect(history).toMatchObject({
    changes: [
      { origin: "review", agreed: [{ value: "Food for all people.", agent_name: "bot-a" }] },
      { kind: "added" },
    ],
  });
});

describe("a live value that agents contradict", () => {
  test("is listed when two do, and can be emptied or confirmed", async () => {
    const slug = await aSlug();
    const { id } = await live(slug);
    for (const agent of ["bot-a", "bot-b"]) await submit(slug, agent, "city", "Oslo");
    await submit(slug, "bot-c", "city", "Bergen");
    const name = `revert-${id}-city`;
    expect(await idsIn("revert")).not.toContain(name);
    await submit(slug, "bot-d", "city", "Bergen");
    expect(await idsIn("revert")).toContain(name);
    expect((await decide(name, "approve", { reason: "moved" })).status).toBe(200);
    expect((await live(slug)).city).toBeNull();
    // Audit-only submissions stay so; the field counts again.
    const again = await submit(slug, "bot-e", "city", "Bergen");
    expect(again.status).toBe("pending");
    expect(again.prior_rejections[0]).toMatchObject({ reason: "reverted: moved" });
    expect((await submit(slug, "bot-c", "city", "Bergen")).status).toBe("applied");
  });

  test("can be emptied before anyone contradicts it, but not confirmed, and only once", async () => {
    const slug = await aSlug();
    const name = `revert-${(await live(slug)).id}-city`;
    for (const agent of ["bot-a", "bot-b"]) await submit(slug, agent, "city", "Oslo");
    expect((await decide(name, "reject", { reason: "right" })).status).toBe(404);
    expect((await decide(name, "approve")).status).toBe(200);
    expect((await live(slug)).city).toBeNull();
    expect((await decide(name, "approve")).status).toBe(404);
  });

  test("is left as it is when this store does not know who agreed on it", async () => {
    const slug = await aSlug();
    const { id } = await live(slug);
    for (const agent of ["bot-a", "bot-b"]) await submit(slug, agent, "city", "Oslo");
    for (const agent of ["bot-c", "bot-d"]) await submit(slug, agent, "city", "Bergen");
    await service.rows(
      "UPDATE submissions SET status = 'rejected' WHERE status = 'applied' AND nonprofit_id = ?",
      [id],
    );
    const answer = await decide(`revert-${id}-city`, "approve");
    expect([answer.status, (await live(slug)).city]).toEqual([404, "Oslo"]);
    expect((await service.ask(`audit?subject=revert-${id}-city`)).count).toBe(0);
  });
});

test("revert undoes what one agent's agreement made live, once, and keeps the log", async () => {
  const one = await aSlug();
  const other = await aSlug();
  for (const agent of ["Mallory", "bot-b"]) await submit(one, agent, "city", "Oslo");
  for (const agent of ["bot-b", "bot-c"]) await submit(other, agent, "city", "Bergen");
  const applied = async () =>
    (await service.json("/api/agents/leaderboard")).totals.total_applied as number;
  const before = await applied();
  const revert = async () =>
    (await service.tell("agents/revert", { agent_id: " MALLORY", reason: "made up" })).json();
  const nothing = { submissions: 0, emptied: 0, recommendations: 0, complete: true };
  expect(await revert()).toEqual({ ...nothing, agent_id: "mallory", submissions: 1, emptied: 1 });
  expect(await live(one)).toMatchObject({ city: null, provenance: {} });
  expect((await live(other)).city).toBe("Bergen");
  expect(await applied()).toBe(before - 2);
  expect(await service.json(`/api/history/${one}`)).toMatchObject({
    changes: [
      { origin: "revert", fields: ["city", "provenance"] },
      {
        origin: "consensus",
        agreed: [{ agent_name: "Mallory", value: "Oslo" }, { agent_name: "bot-b" }],
      },
      { kind: "added" },
    ],
  });
  expect(await revert()).toMatchObject(nothing);
  expect(await service.ask("audit?action=revert.agent")).toMatchObject({
    count: 1,
    entries: [{ operator: "ada", subject: "mallory" }],
  });
  expect((await submit(one, "bot-d", "city", "Oslo")).status).toBe("pending");
  expect((await submit(one, "bot-e", "city", "Oslo")).status).toBe("applied");
});
