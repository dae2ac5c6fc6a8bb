import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { History } from "#content/contract/enrichment-answers.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { aVisitor, type Visitor } from "#test/support/desk.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

const token = "a-token-of-ada-0123456789";
const bearer = { authorization: `Bearer ${token}` };
let service: TestService;
let ada: Visitor;
beforeAll(async () => {
  service = await aService({
    env: { ALMONER_ADMIN_TOKENS: `ada:${token}`, ALMONER_TRUSTED_HOPS: "1" },
  });
  ada = aVisitor(service);
  await ada.signIn(token);
});
afterAll(() => service.close());

const add = async (parts: Parameters<typeof aNonprofit>[0] = {}) => {
  const [record] = await service.add(aNonprofit(parts));
  return record?.slug ?? "";
};
const stored = (slug: string) => recordBySlug(service.store, slug);

describe("a profile at the desk", () => {
  test("is found by its name and slug, edited, withdrawn and restored", async () => {
    const programs = [
      { name: "School", description: null, beneficiaries_per_year: 120, location: "Oslo" },
    ];
    const slug = await add({ city: "Bergen", region: "Vestland", programs });
    const { name } = (await recordBySlug(service.store, slug)) ?? { name: "" };
    const named = await ada.get(`/desk/profiles?slug=${encodeURIComponent(name)}`);
    expect(named.$(`main a[href="/desk/profiles/${slug}"]`).text()).toBe(name);
    const found = await ada.get(`/desk/profiles?slug=${slug}`);
    expect(found.path).toBe(`/desk/profiles/${slug}`);
    const edited = await ada.send(found, "Save", {
      "value.city": "Oslo",
      "value.region": "",
      "value.programs": "School | | 120 | Oslo\nSoup kitchen | Daily meals",
      reason: "The register is out of date.",
    });
    expect(edited.$(".notice.good").text()).toContain("was edited by ada");
    const { changes } = (await (await service.get(`/api/history/${slug}`)).json()) as History;
    expect(changes.map(({ by, reason }) => [by, reason])).toEqual([
      ["operator", "The register is out of date."],
      ["directory", undefined],
    ]);
    expect(await stored(slug)).toMatchObject({
      city: "Oslo",
      region: null,
      programs: [
        programs[0],
        { name: "Soup kitchen", description: "Daily meals", beneficiaries_per_year: null },
      ],
    });
    const bad = await ada.send(edited, "Save", { "value.website": "http://10.0.0.1", reason: "x" });
    expect(bad.status).toBe(400);
    expect(bad.$("[name='value.website']").val()).toBe("http://10.0.0.1");
    const gone = await ada.send(edited, "Withdraw it", { reason: "Closed." });
    expect((await stored(slug))?.status).toBe("withdrawn");
    await ada.send(gone, "Restore it", { reason: "Open again." });
    expect((await stored(slug))?.status).toBe("listed");
  });

  test("is merged into another", async () => {
    const [slug, into] = [await add({ city: "Bergen" }), await add()];
    const page = await ada.get(`/desk/profiles/${slug}`);
    const refused = await ada.send(page, "Merge it", { into: "nobody", reason: "A double." });
    expect(refused.status).toBe(404);
    const merged = await ada.send(page, "Merge it", { into, reason: "A double." });
    expect(merged.$("main").text()).toContain(`merged into ${into}`);
    expect(await stored(into)).toMatchObject({ city: "Bergen" });
  });

  test("of another register is linked by a merge, which restoring undoes", async () => {
    const registered = (org_id: string, type: string) => ({
      registrations: [{ country_code: "GB", type, registration_number: org_id.slice(7), org_id }],
    });
    const into = await add(registered("GB-CHC-1000001", "Charity number"));
    const slug = await add(registered("GB-SC-SC000001", "Scottish charity number"));
    const page = await ada.get(`/desk/profiles/${slug}`);
    await ada.send(page, "Merge it", { into, reason: "One charity." });
    const kept = await service.get(`/api/nonprofits/${into}`);
    expect(await kept.json()).toMatchObject({
      registrations: [{ type: "Charity number" }, { linked_by: "operator" }],
      identifiers: ["GB-CHC-1000001", "GB-SC-SC000001"],
    });
    const gone = await service.get(`/api/nonprofits/${slug}`);
    expect(await gone.json()).toMatchObject({ merged_into: into, identifiers: [] });
    const shown = await ada.get(`/desk/profiles/${into}`);
    expect(shown.$("main").text()).toContain("an operator of this directory says so");
    const back = await ada.get(`/desk/profiles/${slug}`);
    await ada.send(back, "Restore it", { reason: "Two charities." });
    expect((await stored(slug))?.registrations).toHaveLength(1);
    expect((await stored(into))?.registrations).toHaveLength(1);
  });

  test("that does not exist is said so", async () => {
    expect((await ada.get("/desk/profiles?slug=nobody")).status).toBe(404);
    expect((await ada.get("/desk/profiles/nobody")).status).toBe(404);
  });
});

describe("many reviews at once", () => {
  const queued = async (agent: string, count: number) => {
    for (let at = 0; at < count; at++) {
      const slug = await add();
      const body = { field: "mission", value: `Mission ${at} of ${agent}.`, agent_id: agent };
      const from = { "x-forwarded-for": `10.11.${at}.1` };
      await service.post(`/api/enrich/${slug}`, body, from);
    }
    const page = await ada.get("/desk/queues/prose");
    return page
      .$("input[type=checkbox]")
      .toArray()
      .map((box) => page.$(box).attr("name") ?? "");
  };
  const waiting = async () =>
    (await ada.get("/desk/queues/prose")).$("input[type=checkbox]").length;

  test("are rejected with one reason at the desk, each with a line in the log", async () => {
    const boxes = await queued("bot-a", 5);
    const page = await ada.get("/desk/queues/prose");
    const ticked = Object.fromEntries(boxes.slice(0, 4).map((name) => [name, "1"]));
    const without = await ada.send(page, "Approve the ticked", { ...ticked, decision: "rejected" });
    expect(without.status).toBe(400);
    const none = await ada.send(page, "Approve the ticked", { decision: "rejected", reason: "x" });
    expect(none.$(".notice.bad").text()).toContain("Tick what is to be decided");
    const reason = "Copied from elsewhere.";
    const done = await ada.send(page, "Approve the ticked", {
      ...ticked,
      decision: "rejected",
      reason,
    });
    expect(done.$(".notice").text()).toContain("4 rejected");
    expect(await waiting()).toBe(1);
    const log = await service.get("/api/admin/audit?action=review.rejected", bearer);
    expect(await log.json()).toMatchObject({ count: 4 });
  });

  test("are decided one by one: what cannot be decided says why", async () => {
    const boxes = await queued("bot-b", 2);
    const ids = [...boxes.map((name) => name.replace("review.", "")), "prose-999999", "hold-0"];
    const decide = (body: object) => service.post("/api/admin/reviews", body, bearer);
    const answer = await decide({ ids, decision: "approved" });
    const { done, results } = (await answer.json()) as {
      done: number;
      results: { id: string; done: boolean; message: string }[];
    };
    expect([done, results.length]).toEqual([ids.length - 2, ids.length]);
    expect(results.at(-2)).toMatchObject({
      done: false,
      message: expect.stringContaining("waits"),
    });
    expect(await waiting()).toBe(0);
    expect((await decide({ ids, decision: "rejected" })).status).toBe(400);
    expect((await decide({ ids: [], decision: "approved" })).status).toBe(400);
  });
});
