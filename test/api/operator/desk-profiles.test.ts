import { describe, expect, test } from "bun:test";
import type { History } from "#content/contract/enrichment-answers.ts";
import { ReviewsDecided } from "#content/contract/review.ts";
import { alerts, theOperatedService } from "#test/support/desk.ts";

const service = await theOperatedService();
const { aSlug, live } = service;
const ada = await service.signedIn();
const placeOf = (slug: string) => `/desk/profiles/${slug}`;

describe("a profile at the desk", () => {
  test("is found by its name and slug, edited, withdrawn and restored", async () => {
    const programs = [
      { name: "School", description: null, beneficiaries_per_year: 120, location: "Oslo" },
    ];
    const slug = await aSlug({ city: "Bergen", region: "Vestland", programs });
    const { name } = await live(slug);
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
    const { changes } = (await service.json(`/api/history/${slug}`)) as History;
    expect(changes.map(({ by, reason }) => [by, reason])).toEqual([
      ["operator", "The register is out of date."],
      ["directory", undefined],
    ]);
    expect(await live(slug)).toMatchObject({
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
    const typed = { into: "nobody", reason: "One charity." };
    const refused = await ada.send(edited, "Merge it", typed);
    expect([refused.status, refused.$("#into").val()]).toEqual([404, typed.into]);
    const reasons = ["merge", "edit"].map((form) => refused.$(`#${form}-reason`).val());
    expect(reasons).toEqual([typed.reason, ""]);
    const gone = await ada.send(edited, "Withdraw it", { reason: "Closed." });
    expect((await live(slug)).status).toBe("withdrawn");
    await ada.send(gone, "Restore it", { reason: "Open again." });
    expect((await live(slug)).status).toBe("listed");
  });

  test("keeps what others changed meanwhile, and asks again before it overwrites that", async () => {
    const slug = await aSlug({ tagline: "Old line.", city: "Bergen", team_size: 3 });
    const grace = await service.signedIn("grace");
    const [first, second] = [await ada.get(placeOf(slug)), await grace.get(placeOf(slug))];
    await grace.send(second, "Save", { "value.tagline": "New line.", reason: "Their new words." });
    await ada.send(first, "Save", { "value.team_size": "4", reason: "They grew." });
    expect(await live(slug)).toMatchObject({ tagline: "New line.", team_size: 4 });
    const typed = { "value.tagline": "Third line.", "value.city": "Oslo", reason: "Seen there." };
    const refused = await ada.send(first, "Save", typed);
    expect([refused.status, alerts(refused)]).toEqual([
      409,
      expect.stringContaining("tagline is now “New line.”"),
    ]);
    const values = ["tagline", "city", "team_size"].map((name) =>
      refused.$(`[name='value.${name}']`).val()?.toString().trim(),
    );
    expect(values).toEqual(["Third line.", "Oslo", "4"]);
    expect(await live(slug)).toMatchObject({ tagline: "New line.", city: "Bergen" });
    await ada.send(refused, "Save");
    expect(await live(slug)).toMatchObject({ tagline: "Third line.", city: "Oslo", team_size: 4 });
  });

  test("takes commas in a number as separators of thousands alone", async () => {
    const slug = await aSlug({ annual_budget_usd: 5, team_size: 3 });
    const page = await ada.get(placeOf(slug));
    for (const typed of ["8392805,50", "12,5", "1.234.567", "1,23,456", "1 2", "1,234 567"]) {
      const edit = { "value.annual_budget_usd": typed, reason: "The report says so." };
      const refused = await ada.send(page, "Save", edit);
      expect([typed, refused.status]).toEqual([typed, 400]);
      expect(alerts(refused)).toContain("annual budget usd: Send a number");
      expect(refused.$("[name='value.annual_budget_usd']").val()).toBe(typed);
    }
    const sizes = { "value.annual_budget_usd": "8,392,805.5", "value.team_size": "1 234" };
    await ada.send(page, "Save", { ...sizes, reason: "The report says so." });
    expect(await live(slug)).toMatchObject({ annual_budget_usd: 8_392_805.5, team_size: 1_234 });
  });

  test("of another register is linked by a merge, which restoring undoes", async () => {
    const registered = (org_id: string, type: string) => ({
      registrations: [{ country_code: "GB", type, registration_number: org_id.slice(7), org_id }],
    });
    const into = await aSlug(registered("GB-CHC-1000001", "Charity number"));
    const slug = await aSlug(registered("GB-SC-SC000001", "Scottish charity number"));
    const page = await ada.get(`/desk/profiles/${slug}`);
    await ada.send(page, "Merge it", { into, reason: "One charity." });
    expect(await service.json(`/api/nonprofits/${into}`)).toMatchObject({
      registrations: [{ type: "Charity number" }, { linked_by: "operator" }],
      identifiers: ["GB-CHC-1000001", "GB-SC-SC000001"],
    });
    const gone = await service.json(`/api/nonprofits/${slug}`);
    expect(gone).toMatchObject({ merged_into: into, identifiers: [] });
    const shown = await ada.get(`/desk/profiles/${into}`);
    expect(shown.$("main").text()).toContain("an operator of this directory says so");
    const back = await ada.get(`/desk/profiles/${slug}`);
    await ada.send(back, "Restore it", { reason: "Two charities." });
    expect((await live(slug)).registrations).toHaveLength(1);
    expect((await live(into)).registrations).toHaveLength(1);
  });

  test("that does not exist is said so", async () => {
    expect((await ada.get("/desk/profiles?slug=nobody")).status).toBe(404);
    expect((await ada.get("/desk/profiles/nobody")).status).toBe(404);
  });
});

describe("many reviews at once", () => {
  const boxesOn = ({ $ }: Awaited<ReturnType<typeof ada.get>>, which = "") =>
    $(`input[type=checkbox]${which}`)
      .toArray()
      .map(({ attribs }) => attribs["name"] ?? "");
  const boxesOf = async () => boxesOn(await ada.get("/desk/queues/prose"));
  const queued = async (agent: string, count: number) => {
    for (let at = 0; at < count; at++)
      await service.submit(await aSlug(), agent, "mission", `Mission ${at} of ${agent}.`);
    return boxesOf();
  };

  test("are rejected with one reason at the desk, each with a line in the log", async () => {
    const boxes = await queued("bot-a", 5);
    const page = await ada.get("/desk/queues/prose");
    const ticked = Object.fromEntries(boxes.slice(0, 4).map((name) => [name, "1"]));
    const without = await ada.send(page, "Approve the ticked", { ...ticked, decision: "rejected" });
    expect(without.status).toBe(400);
    expect(boxesOn(without, "[checked]")).toEqual(boxes.slice(0, 4));
    const none = await ada.send(page, "Approve the ticked", { decision: "rejected", reason: "x" });
    expect(none.$(".notice.bad").text()).toContain("Tick what is to be decided");
    const reason = "Copied from elsewhere.";
    const done = await ada.send(page, "Approve the ticked", {
      ...ticked,
      decision: "rejected",
      reason,
    });
    expect(done.$(".notice").text()).toContain("4 rejected");
    expect(await boxesOf()).toHaveLength(1);
    expect(await service.ask("audit?action=review.rejected")).toMatchObject({ count: 4 });
  });

  test("are decided one by one: what cannot be decided says why", async () => {
    const boxes = await queued("bot-b", 2);
    const ids = [...boxes.map((name) => name.replace("review.", "")), "prose-999999", "hold-0"];
    const decide = (body: object) => service.tell("reviews", body);
    const answer = await decide({ ids, decision: "approved" });
    const { done, results } = ReviewsDecided.parse(await answer.json());
    expect([done, results.length]).toEqual([ids.length - 2, ids.length]);
    expect(results.at(-2)).toMatchObject({
      done: false,
      message: expect.stringContaining("waits"),
    });
    expect(await boxesOf()).toEqual([]);
    expect((await decide({ ids, decision: "rejected" })).status).toBe(400);
    expect((await decide({ ids: [], decision: "approved" })).status).toBe(400);
  });
});
