import { describe, expect, test } from "bun:test";
import { addToPicks } from "#content/operator/picks.ts";
import { AuditLog } from "#content/contract/operator.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { goneDraft, mergedWithRegister } from "#content/register/merge.ts";
import { theOperatedService } from "#test/support/desk.ts";

const service = await theOperatedService();
const { live, submit } = service;

const add = async (parts: Partial<NonprofitRecord> = {}) => live(await service.aSlug(parts));
const change = async (slug: string, verb: string, body: object) => {
  const answer = await service.tell(`nonprofits/${slug}/${verb}`, { reason: "A test.", ...body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const detail = async (slug: string) =>
  NonprofitDetail.parse(await service.json(`/api/nonprofits/${slug}`));
const file = { register: "irs-bmf", scope: "HI", as_of: "2026-05-12", lists: true };
const left = goneDraft({ org_id: "US-EIN-000000101" });
const lastChange = async (id: number) =>
  (await changesAfter(service.store, 0, 10_000)).findLast((one) => one.nonprofit_id === id);
const audited = async (slug: string) =>
  AuditLog.parse(await service.ask(`audit?subject=${slug}`)).entries;

describe("withdraw and restore", () => {
  test("take any profile out and bring it back, in the feed and the log", async () => {
    const { slug, id } = await add({ city: "Oslo", register: "irs-bmf" });
    const gone = await change(slug, "withdraw", {});
    expect(gone).toMatchObject({ status: 200, body: { slug, change: "withdrawn" } });
    expect(await detail(slug)).toMatchObject({ status: "withdrawn" });
    expect(await lastChange(id)).toMatchObject({ kind: "withdrawn", origin: "operator" });
    expect((await service.get("/api/search?q=" + slug)).status).toBe(200);
    expect((await service.post(`/api/enrich/${slug}`, {})).status).toBe(400);
    expect((await change(slug, "withdraw", {})).status).toBe(409);
    const back = await change(slug, "restore", {});
    expect(back.body).toMatchObject({ change: "restored" });
    expect(await lastChange(id)).toMatchObject({ kind: "restored" });
    expect((await detail(slug)).status).toBe("listed");
    const actions = (await audited(slug)).map(({ action }) => action);
    expect(actions).toEqual(["profile.restored", "profile.withdrawn"]);
    // The register has its say again.
    expect(mergedWithRegister(await live(slug), left, file, 0).status).toBe("withdrawn");
  });

  test("a recommended profile is recommended again as soon as it is restored", async () => {
    const { slug } = await add({ mission: "Lamps for lighthouses.", causes: ["education"] });
    const words = {
      recommended_for: ["donors interested in lighthouses"],
      why_recommended: "It repairs lamps of lighthouses.",
    };
    const pick = { slug, operator: "ada", ...words };
    expect((await addToPicks(service.context, pick)).ok).toBe(true);
    const recommended = async () =>
      (await (await service.get("/api/recommend?cause=education")).text()).includes(slug);
    expect(await recommended()).toBe(true);
    await change(slug, "withdraw", {});
    expect(await recommended()).toBe(false);
    await change(slug, "restore", {});
    expect(await recommended()).toBe(true);
  });

  test("what an operator restores against its register stays", async () => {
    const { slug } = await add({ status: "withdrawn", register: "irs-bmf" });
    await change(slug, "restore", {});
    expect(mergedWithRegister(await live(slug), left, file, 0).status).toBe("listed");
  });

  test("need a reason and a slug", async () => {
    const { slug } = await add();
    expect((await change(slug, "withdraw", { reason: " " })).status).toBe(400);
    for (const values of [{ verified: 1 }, { usdc_wallet: "1".repeat(32) }])
      expect((await change(slug, "edit", { values })).status).toBe(400);
    expect((await change("nobody", "withdraw", {})).status).toBe(404);
  });
});

describe("edit", () => {
  test("sets and empties any public field, by the operator's word", async () => {
    const { slug, id } = await add({ region: "Viken", name: "Old name" });
    const values = {
      name: "New  name",
      city: "Oslo,",
      region: null,
      country: "Norway",
      founded_year: 1998,
      causes: ["health"],
      programs: [
        { name: "School", description: null, beneficiaries_per_year: 12, location: "Oslo" },
      ],
    };
    const { body, status } = await change(slug, "edit", { values });
    expect([status, body["fields"]]).toEqual([
      200,
      ["name", "country", "region", "city", "founded_year", "causes", "programs"],
    ]);
    const shown = await detail(slug);
    const named = { name: "New name", city: "Oslo", region: null, country: "Norway" };
    expect(shown).toMatchObject(named);
    expect(shown.provenance["city"]?.source).toBe("operator");
    expect(shown.provenance["region"]).toBeUndefined();
    expect(await lastChange(id)).toMatchObject({ kind: "changed", origin: "operator" });
    const [entry] = await audited(slug);
    expect(entry?.detail["was"]).toMatchObject({ name: "Old name", region: "Viken" });
    const again = await change(slug, "edit", { values: { city: "Oslo" } });
    expect(again.status).toBe(409);
  });

  test("tells agents that an operator decided, and takes the credit of another value back", async () => {
    const { slug } = await add();
    for (const agent of ["ada", "bob"]) await submit(slug, agent, "city", "Bergen");
    await submit(slug, "eve", "region", "Vestland");
    await change(slug, "edit", { values: { city: "Oslo", region: "Viken" } });
    const prior = async (field: string) =>
      (await submit(slug, "cid", field, "Hamar"))?.prior_rejections.map(({ reason }) => reason);
    const overruled = "an operator decided for another value";
    expect(await prior("city")).toEqual([overruled, overruled]);
    expect(await prior("region")).toEqual([overruled]);
    expect((await live(slug)).city).toBe("Oslo");
  });
});

describe("merge", () => {
  test("fills what the other lacks, leads there, and moves no wallet, contact or gift", async () => {
    const number = "530196605";
    const org_id = "US-EIN-530196605";
    const gone = await add({
      website: "https://oak.example",
      mission: "From the old one",
      contact_email: "old@oak.example",
      causes: ["education", "health"],
      registrations: [{ country_code: "US", type: "EIN", registration_number: number, org_id }],
      provenance: { website: sourceFrom("register", 1, { source: "irs-bmf" }) },
      register: "irs-bmf",
    });
    const into = await add({ mission: "Its own", causes: ["water"] });
    const { status, body } = await change(gone.slug, "merge", { into: into.slug });
    expect([status, body["fields"]]).toEqual([200, ["website", "causes", "registrations"]]);
    const kept = await live(into.slug);
    expect(kept).toMatchObject({
      website: "https://oak.example",
      mission: "Its own",
      contact_email: null,
      causes: ["water", "education", "health"],
      register: "irs-bmf",
    });
    expect(kept.provenance["website"]?.source).toBe("irs-bmf");
    expect(kept.registrations).toHaveLength(1);
    expect(await detail(gone.slug)).toMatchObject({
      status: "withdrawn",
      merged_into: into.slug,
      identifiers: [],
    });
    expect(await lastChange(gone.id)).toMatchObject({ kind: "withdrawn" });
    const claim = { claim_slug: gone.slug, contact_email: "office@oak.example" };
    const refused = await service.post("/api/onboard", claim, service.from());
    expect(await refused.json()).toMatchObject({
      status: 410,
      detail: expect.stringContaining(`merged into ${into.slug}: claim that one`),
    });
    const restored = await change(gone.slug, "restore", {});
    expect(restored.body["message"]).toContain(`What went to ${into.slug} stays there`);
    expect(await detail(gone.slug)).not.toHaveProperty("merged_into");
  });

  test("is refused where a wallet or a verification would be lost, or there is nothing to merge into", async () => {
    const claimed = await add({ verified: 1, status: "claimed" });
    const other = await add();
    const withdrawn = await add({ status: "withdrawn" });
    for (const [slug, into, status] of [
      [claimed.slug, other.slug, 409],
      [other.slug, other.slug, 409],
      [other.slug, withdrawn.slug, 409],
      [other.slug, "nobody", 404],
    ] as const) {
      expect((await change(slug, "merge", { into })).status).toBe(status);
    }
    expect((await change(other.slug, "merge", { into: claimed.slug })).status).toBe(200);
  });
});
