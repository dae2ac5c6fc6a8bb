import { describe, expect, test } from "bun:test";
import { GapAnswer, GapCounts, gapLimits, GapList } from "#content/contract/correction.ts";
import { Needs } from "#content/contract/enrichment-answers.ts";
import { forgetGaps } from "#content/enrichment/gap-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aClient, theService } from "#test/support/service.ts";

const token = "a-token-of-an-operator-0123456789";
let now = new Date("2026-06-01T12:00:00Z");
const service = await theService({
  env: {
    ALMONER_TRUSTED_HOPS: "1",
    ALMONER_STORED_MB_PER_DAY: "0",
    ALMONER_ADMIN_TOKENS: `ada:${token}`,
  },
  context: { clock: () => now },
});
await service.add(
  ...Array.from({ length: 12 }, (_, at) =>
    aNonprofit({ slug: `well-${at}`, beneficiaries_per_year: 100 - at, causes: ["education"] }),
  ),
  aNonprofit({ slug: "small", causes: ["health"], country_code: "UG" }),
  aNonprofit({ slug: "far", causes: ["water-sanitation"], country_code: "KE" }),
);

const report = async (body: object, headers: Record<string, string> = aClient()) => {
  const response = await service.post("/api/gaps", body, headers);
  return { status: response.status, body: await response.json() };
};
const counts = async () => GapCounts.parse(await service.json("/api/gaps"));
const needs = async (query = "") => {
  const { nonprofits } = Needs.parse(await service.json(`/api/needs-enrichment?limit=4${query}`));
  return nonprofits.map(({ slug, gaps }) => [slug, gaps]);
};
const sentence = "How many wells of this charity still give water.";

describe("a gap", () => {
  test("counts by field, cause and country, without its sentence", async () => {
    const about = { field: "website", cause: "Water-Sanitation", country: "Kenya" };
    const { body } = await report({ looked_for: sentence, ...about });
    expect(GapAnswer.parse(body).counted).toBe(true);
    expect(await counts()).toEqual({
      days: gapLimits.keptDays,
      total: 1,
      gaps: [{ field: "website", cause: "water-sanitation", country_code: "KE", count: 1 }],
    });
    expect(await needs()).toEqual([
      ["far", 1],
      ["well-0", undefined],
      ["well-1", undefined],
      ["well-2", undefined],
    ]);
    expect((await needs("&cause=health"))[0]).toEqual(["small", undefined]);
  });

  test("of the same network and day counts once", async () => {
    const network = aClient();
    const isCounted = async (looked_for: string): Promise<boolean> =>
      (await report({ looked_for, slug: "small" }, network)).body.counted;
    expect(await isCounted(sentence)).toBe(true);
    expect(await isCounted(` ${sentence}`)).toBe(false);
    expect(await isCounted("Its wells.")).toBe(true);
    now = new Date(now.getTime() + 86_400_000);
    expect(await isCounted(sentence)).toBe(true);
    // Two days of one network, however many sentences; the profile comes first.
    expect((await needs()).slice(0, 3)).toEqual([
      ["small", 2],
      ["far", 1],
      ["well-0", undefined],
    ]);
    expect((await needs("&pending=true")).length).toBe(0);
  });

  test("is read by operators alone", async () => {
    expect((await service.get("/api/admin/gaps")).status).toBe(401);
    const operator = { authorization: `Bearer ${token}` };
    const list = async (query: string) =>
      GapList.parse(await service.json(`/api/admin/gaps?${query}`, operator));
    const { gaps } = await list("limit=3");
    expect(gaps[0]).toMatchObject({ looked_for: sentence, slug: "small", field: null });
    expect(gaps.length).toBe(3);
    expect((await list("")).gaps.at(-1)).toMatchObject({ country_code: "KE", slug: null });
  });

  test.each<[string, object, string]>([
    ["without a sentence", {}, "looked_for"],
    ["of blanks", { looked_for: " \u200b" }, "looked_for"],
    ["that is too long", { looked_for: "é".repeat(gapLimits.characters + 1) }, "looked_for"],
    ["with hidden characters", { looked_for: "a\u202eb" }, "looked_for"],
    ["about no field", { looked_for: sentence, field: "colour" }, "field"],
    ["about no cause", { looked_for: sentence, cause: "water sanitaton" }, "cause"],
    ["about no country", { looked_for: sentence, country: "Kenia-Land" }, "country"],
  ])("%s is refused with what is wrong", async (_, body, path) => {
    const refused = await report(body);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: "invalid_gap", errors: [{ path }] });
    if (path === "cause") expect(refused.body.detail).toContain("water-sanitation");
  });

  test("of an unknown profile is refused, and so is more than a network's share of a day", async () => {
    expect((await report({ looked_for: sentence, slug: "nobody" })).status).toBe(404);
    const addresses = Array.from({ length: 6 }, (_, at) => ({ "x-forwarded-for": `9.9.9.${at}` }));
    for (let at = 0; at <= gapLimits.ofNetwork; at++) {
      const { status } = await report({ looked_for: `The ${at}th.` }, addresses[at % 6]);
      expect(status).toBe(at < gapLimits.ofNetwork ? 200 : 409);
    }
    // To read the counts is no write: it has the limit of reads, and any page may ask.
    const headers = { "x-forwarded-for": "9.9.9.1", "sec-fetch-site": "cross-site" };
    expect((await service.get("/api/gaps", headers)).status).toBe(200);
    expect((await report({ looked_for: sentence }, { ...headers, ...aClient() })).status).toBe(403);
  });

  test("is forgotten after 90 days, and when there are too many", async () => {
    await forgetGaps(service.store, now);
    expect((await counts()).total).toBeGreaterThan(50);
    const sql = `UPDATE gaps SET id = id + ${gapLimits.kept} WHERE id = (SELECT max(id) FROM gaps)`;
    await service.store.write((tx) => tx.raw.execute(sql));
    await forgetGaps(service.store, now);
    expect((await counts()).total).toBe(1);
    await forgetGaps(service.store, new Date(now.getTime() + 91 * 86_400_000));
    expect((await counts()).total).toBe(0);
    expect((await needs())[0]).toEqual(["well-0", undefined]);
  });
});
