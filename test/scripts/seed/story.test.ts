import { expect, test } from "bun:test";
import { enrichmentStats, leaderboard } from "#content/enrichment/leaderboard-store.ts";
import { liveCounters } from "#content/operation/directory-facts-store.ts";
import { curatedPicks } from "#content/recommendation/pick-store.ts";
import { countCharts, directoryStats } from "#content/statistics/charts-store.ts";
import { chartsOf } from "#content/statistics/charts.ts";
import { historyAnswer } from "#content/nonprofit/changes-store.ts";
import { reviewQueues } from "#api/operator/requests.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });
await seedDirectory(store, { profiles: 150, seedNumber: 1 });
const charts = await countCharts(store, "2026-09-01");

const rows = async (sql: string) => (await store.raw.execute(sql)).rows;
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

test("no chart of a sample is empty, and each goes over months", () => {
  expect(chartsOf(charts).filter(({ drawing }) => drawing === null)).toEqual([]);
  for (const months of [charts.growth, charts.decisions, charts.gifts]) {
    expect(months.length).toBeGreaterThanOrEqual(6);
  }
});

test("what charts, leaderboard and counters say of a sample follows from its rows, and agrees", async () => {
  const { totals, top_agents } = await leaderboard(store);
  const applied = sum(charts.decisions.map((one) => one.applied));
  expect(totals.total_applied).toBe(applied);
  const byStatus = new Map(
    (await enrichmentStats(store)).by_status.map((one) => [one.status, one.count]),
  );
  expect(byStatus.get("applied")).toBe(applied);
  expect(byStatus.get("rejected")).toBe(sum(charts.decisions.map((one) => one.rejected)));
  // Some are better than others.
  const success = top_agents.map((one) => one.applied / one.submissions);
  expect(Math.max(...success) - Math.min(...success)).toBeGreaterThan(0.2);
  const counters = await liveCounters(store, new Date("2026-09-01T06:00:00Z"));
  expect(counters.total_donations).toBe(sum(charts.gifts.map((one) => one.gifts)));
  expect(counters.queries_this_week).toBeGreaterThan(0);
  const stats = await directoryStats(store, counters);
  expect(stats.nonprofits).toBe(charts.growth.at(-1)?.nonprofits ?? 0);
  const [sent] = await rows(
    "SELECT sum(count) AS n FROM activity_counts WHERE kind = 'enrich:submitted'",
  );
  expect(sent?.["n"]).toBe(totals.total_submissions);
});

test("agents of a sample made live only what two of them agree on", async () => {
  const [live] = await rows(
    `SELECT count(*) AS n FROM provenance WHERE set_by = 'consensus' AND (
       SELECT count(DISTINCT agent_id) FROM submissions AS s
       WHERE s.nonprofit_id = provenance.nonprofit_id AND s.field = provenance.field AND s.status = 'applied'
     ) < 2`,
  );
  expect(live?.["n"]).toBe(0);
  expect(charts.sources.find(({ source }) => source === "consensus")?.values).toBeGreaterThan(50);
});

test("gifts of a sample are of the test chain, to claimed profiles, and none is later than its day", async () => {
  const found = await rows(
    `SELECT DISTINCT network, verified, recipient = usdc_wallet AS own, settled_at > ${Date.UTC(2026, 8, 1, 6)} AS later
     FROM donations JOIN nonprofits ON nonprofits.id = nonprofit_id`,
  );
  expect(found.map((row) => Object.values(row))).toEqual([
    ["solana:5boDubJGEaQMaNYgL9uH74p9Sr35r2kQ", 1, 1, 0],
  ]);
});

test("the history of a claimed profile says what its register knew, then what its organisation says", async () => {
  const [claimed] = await rows(
    "SELECT slug, website, mission FROM nonprofits WHERE verified = 1 ORDER BY id LIMIT 1",
  );
  const history = await historyAnswer(store, String(claimed?.["slug"]));
  const told = history?.changes.map(({ by, kind }) => `${by} ${kind}`);
  expect(told).toEqual(["organisation changed", "directory added"]);
  const [claim, added] = history?.changes ?? [];
  expect(added?.fields).not.toContain("mission");
  expect(claim?.values).toContainEqual({
    field: "mission",
    old: null,
    new: String(claimed?.["mission"]),
  });
  expect(claim?.fields).toContain("verified");
});

test("no gift of a sample was given before its profile was claimed", async () => {
  const [early] = await rows(
    `SELECT count(*) AS n FROM donations JOIN provenance
       ON provenance.nonprofit_id = donations.nonprofit_id AND field = 'usdc_wallet'
     WHERE settled_at < provenance.applied_at`,
  );
  expect(early?.["n"]).toBe(0);
});

test("something waits for the operator of a sample, and something is recommended", async () => {
  const waiting = new Map(
    (await reviewQueues({ store, clock: () => new Date() })).map((one) => [one.kind, one.waiting]),
  );
  for (const kind of ["onboarding", "correction", "contested"] as const) {
    expect([kind, (waiting.get(kind) ?? 0) > 0]).toEqual([kind, true]);
  }
  expect((await curatedPicks(store, { phase: 2 })).length).toBeGreaterThan(5);
});
