import { type FilterParameters, filtersOf } from "#content/contract/browse.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { describe, expect, test } from "bun:test";
import {
  Exemplars,
  EnrichmentStats,
  Needs,
  History,
  Leaderboard,
} from "#content/contract/enrichment-answers.ts";
import { wantedFields } from "#content/contract/enrichment.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import {
  type NeedsQuery,
  needsAnswer,
  needsDefault,
  needsIds,
  needsTotals,
} from "#content/enrichment/needs-store.ts";
import { publicId } from "#content/nonprofit/public-name.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const complete = {
  description: "d",
  website: "https://a.example",
  city: "c",
  region: "r",
  mission: "m",
  founded_year: 1999,
  contact_email: "a@b.example",
};
const reaches = [null, null, null, 5, 5, 5, 5, 9, 12] as const;

const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" } });
const records = await service.add(
  ...Array.from({ length: 90 }, (_, at) =>
    aNonprofit({
      ...(at % 10 === 0 ? complete : at % 3 === 0 ? { mission: "m" } : {}),
      name: `Trust ${(at * 37) % 90}`,
      beneficiaries_per_year: reaches[at % reaches.length] ?? null,
      verified: at % 30 === 1 ? 1 : 0,
      ...(at % 4 < 2 && { city: at % 4 === 0 ? "Oslo City" : "Oslo", region: "Viken" }),
      usdc_wallet: at % 9 === 0 ? "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T" : null,
      ghd_aligned: at % 8 === 0 ? 1 : 0,
      causes: at % 2 === 0 ? ["education"] : at === 7 ? [] : ["health", "animals"],
      status: at === 5 ? "withdrawn" : "listed",
    }),
  ),
);

const ask = (query: Partial<NeedsQuery> & FilterParameters = {}) =>
  needsIds(service.store, {
    ...needsDefault("2026-06-01"),
    limit: 50,
    filters: filtersOf(query),
    ...query,
  });

type Stored = (typeof records)[number];
const idsOf = (some: readonly Stored[]) => new Set(some.map(({ id }) => id));
const isWanted = (record: Stored) => record.status !== "withdrawn" && thinFields(record).length > 0;

describe("needs enrichment", () => {
  test("lists each thin profile once; claimed first, then reach", async () => {
    const ids = await ask({ limit: 200 });
    const wanted = records.filter(isWanted);
    expect(ids.toSorted((a, b) => a - b)).toEqual(wanted.map(({ id }) => id));
    const rankOf = (one: Stored) => one.verified * 1_000 + (one.beneficiaries_per_year ?? -1);
    const ranks = ids.flatMap((id) => records.filter((one) => one.id === id).map(rankOf));
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
  });

  test("finds profiles of which no cause is known, and says so", async () => {
    const [without] = records.filter(({ causes }) => causes.length === 0);
    expect(await ask({ cause: "none" })).toEqual([without?.id ?? 0]);
    const shown = { baseUrl: "", totals: await needsTotals(service.store), secondOpinions: null };
    const asked = { ...needsDefault("2026-06-01"), filters: filtersOf({ cause: "none" }) };
    const { nonprofits, note } = await needsAnswer(service.store, asked, shown);
    expect(nonprofits).toMatchObject([{ slug: without?.slug, causes: [] }]);
    expect(note).toBeNull();
    const askedOther = { ...asked, filters: filtersOf({ cause: "foo" }) };
    const unknown = await needsAnswer(service.store, askedOther, shown);
    expect(unknown.note).toContain("food-security");
  });

  test("equals rotate daily and are the same all day; any limit shows the foremost of the same order", async () => {
    const whole = await ask({ limit: 200 });
    // The group that a limit cuts begins at the day's pivot, like the whole group.
    for (const limit of [1, 2, 3, 7, 20, 33, 50, 79])
      expect(await ask({ limit })).toEqual(whole.slice(0, limit));
    const days = ["2026-06-02", "2026-06-03", "2026-06-04"];
    const others = await Promise.all(days.map((day) => ask({ day, limit: 200 })));
    expect(others.some((ids) => !Bun.deepEquals(ids, whole))).toBe(true);
    for (const ids of others) expect(new Set(ids)).toEqual(new Set(whole));
  });

  test.each(wantedFields)("can be asked for each field that it wants: %s", async (field) => {
    const lacking = records.filter((one) => isWanted(one) && thinFields(one).includes(field));
    expect(new Set(await ask({ field, limit: 200 }))).toEqual(idsOf(lacking));
  });

  test.each<[FilterParameters & Pick<Partial<NeedsQuery>, "field">, (one: Stored) => boolean]>([
    [{ country: "kenya" }, () => true],
    [{ country: "KE", cause: "animals" }, (one) => one.causes.includes("animals")],
    [{ cause: " Animals" }, (one) => one.causes.includes("animals")],
    [{ field: "mission" }, (one) => one.mission === null],
    [
      { field: "mission", cause: "animals" },
      (one) => one.mission === null && one.causes.includes("animals"),
    ],
    [{ country: "NO" }, () => false],
    [{ country: "Atlantis" }, () => false],
    [{ cause: "no-such-cause" }, () => false],
  ])("is narrowed by %j", async (narrowed, fits) => {
    const fitting = records.filter((one) => isWanted(one) && fits(one));
    expect(new Set(await ask({ ...narrowed, limit: 200 }))).toEqual(idsOf(fitting));
  });

  test.each<FilterParameters>([
    { claimed: "true" },
    { claimed: "false", cause: "animals" },
    { city: "oslo" },
    { city: "os" },
    { region: "Viken", country: "KE" },
    { has_website: "true" },
    { accepts: "usdc" },
    { income: "unknown" },
    { ghd_aligned: "1" },
  ])("takes the filters of lists, and means the same by them: %j", async (filters) => {
    const fitting = records.filter(
      (one) => isWanted(one) && passes(filteredOf(one), filtersOf(filters)),
    );
    expect(new Set(await ask({ ...filters, limit: 200 }))).toEqual(idsOf(fitting));
    const asked = new URLSearchParams({ ...(filters as Record<string, string>), limit: "50" });
    const { nonprofits } = Needs.parse(await service.json(`/api/needs-enrichment?${asked}`));
    expect(nonprofits).toHaveLength(Math.min(50, fitting.length));
  });

  test("answers what a program needs to go on, and second opinions", async () => {
    const [thin] = records.filter(
      (one) => isWanted(one) && one.causes.includes("animals") && !one.city && !one.mission,
    );
    const send = (agent_id: string, value: string) =>
      service.post(
        `/api/enrich/${thin?.slug}`,
        { field: "city", value, agent_id },
        { "x-forwarded-for": "10.3.0.1" },
      );
    await send("bot-1", "Oslo");
    await send("bot-2", "Bergen");
    const answer = Needs.parse(await service.json("/api/needs-enrichment?pending=true"));
    expect(answer).toMatchObject({ total_enrichments_received: 2, second_opinions_available: 1 });
    const first = { submitted_by: "bot-1", submitted_at: "2026-06-01 12:00:00" };
    expect(answer.nonprofits).toMatchObject([
      {
        slug: thin?.slug,
        country: "Kenya",
        current_data: { city: null, tagline: null },
        enrich_url: `https://almoner.example/api/enrich/${thin?.slug}`,
        second_opinion_needed: [
          { field: "city", pending_value: "Oslo", ...first },
          { field: "city", pending_value: "Bergen" },
        ],
        needs_fields: expect.arrayContaining(["city"]),
      },
    ]);
    expect(await ask({ pending: true, cause: "education" })).toEqual([]);
    const pending = await ask({ pending: true, cause: "animals", field: "mission" });
    expect(pending).toEqual([thin?.id ?? 0]);
    await send("bot-3", "Oslo");
    expect((await needsTotals(service.store)).second_opinions_available).toBe(0);
  });

  test("the bundle's file does not depend on pending submissions", async () => {
    const totals = { total_enrichments_received: 1, second_opinions_available: 2 };
    const shown = { baseUrl: "https://a.example", totals, secondOpinions: null };
    const file = await needsAnswer(service.store, needsDefault("2026-06-01"), shown);
    expect(Needs.parse(file).nonprofits).toHaveLength(10);
    expect(JSON.stringify(file)).not.toContain("second_opinion_needed");
    expect(file).toMatchObject(totals);
  });

  test.each([
    ["field=tagline", "field"],
    ["limit=0", "limit"],
    ["limit=x", "limit"],
  ])("names a bad parameter: %s", async (query, parameter) => {
    const response = await service.get(`/api/needs-enrichment?${query}`);
    expect(response.status).toBe(400);
    // Some clients read the list before they look at the status.
    expect(await response.json()).toMatchObject({ parameter, nonprofits: [] });
  });

  test("shows 50 at most", async () => {
    const capped = Needs.parse(await service.json("/api/needs-enrichment?limit=1000"));
    expect(capped.nonprofits).toHaveLength(50);
  });
});

test("statistics, leaderboard, exemplars and history answer in their shapes", async () => {
  const [{ slug, name } = aNonprofit()] = await service.add(aNonprofit());
  // The second agent's o is Cyrillic: it is named, and flagged.
  for (const agent_id of ["bot-8", "bоt-9"]) {
    const source_url = "https://register.example/8";
    const region = { field: "region", value: "Viken", agent_id, source_url };
    await service.post(`/api/enrich/${slug}`, region, { "x-forwarded-for": "10.3.0.2" });
  }
  const day = "2026-06-01 12:00:00";
  const stats = EnrichmentStats.parse(await service.json("/api/enrichments/stats"));
  const newest = { nonprofit_slug: slug, field: "region", confidence: 2, created_at: day };
  expect(stats.recent[0]).toMatchObject(newest);
  expect(stats.by_field).toHaveLength(10);
  const board = Leaderboard.parse(await service.json("/api/agents/leaderboard"));
  expect(board.top_agents[0]?.applied).toBe(1);
  const flagged = { agent_name: publicId("bоt-9"), flags: ["mixed_script_id"] };
  expect(board.top_agents).toContainEqual(expect.objectContaining(flagged));
  expect(board.recent_activity[0]).toMatchObject({ status: "applied", nonprofit_name: name });
  const { exemplars } = Exemplars.parse(
    await service.json("/api/agents/exemplars?field=region&limit=5"),
  );
  const shown = { nonprofit_slug: slug, field: "region", value: "Viken", agent_name: "bot-8" };
  const source_url = "https://register.example/";
  expect(exemplars).toEqual([{ ...shown, source_url, applied_at: day }]);
  const history = History.parse(await service.json(`/api/history/${slug}`));
  const fields = ["region", "provenance"];
  expect(history.changes[0]).toMatchObject({ origin: "consensus", fields });
  expect((await service.get("/api/history/nobody")).status).toBe(404);
  expect((await service.get("/api/agents/exemplars?field=wallet")).status).toBe(400);
});
