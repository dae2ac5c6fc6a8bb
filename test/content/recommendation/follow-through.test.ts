import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { FollowUp } from "#content/recommendation/follow-through-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import {
  type LoggedRecommendation,
  logRecommendations,
  type RecommendationLog,
} from "#content/recommendation/log-store.ts";

const noonMs = Date.parse("2026-06-01T12:00:00Z");
const dayMs = 86_400_000;
let store: Store;
let log: RecommendationLog;

beforeEach(async () => {
  store = await openStore({ url: ":memory:" });
  log = logRecommendations(store, () => {}, { keptDays: 30 });
});
afterEach(() => store.close());

const aCall = (
  given: Partial<Omit<LoggedRecommendation, "called_at">> & { atMs?: number } = {},
): LoggedRecommendation => ({
  query: { cause: null, country: null, q: "wells", intent: "discover" },
  result_count: 2,
  top_slug: "wells",
  slugs: ["wells", "pumps"],
  ranking_signals: [],
  phase: 1,
  client: "today",
  called_at: new Date(given.atMs ?? noonMs),
  ...given,
});
const aStep = (given: Partial<FollowUp> = {}): FollowUp => ({
  slug: "wells",
  action: "profile",
  form: "page",
  intent_id: null,
  clients: ["today"],
  atMs: noonMs + 1_000,
  withinMs: 0,
  ...given,
});
const stored = async () =>
  (
    await store.raw.execute(
      "SELECT recommendation_id, slug, action, form, rank, intent_id, followed_at FROM recommendation_follow_throughs ORDER BY id",
    )
  ).rows.map((row): Record<string, unknown> => ({ ...row }));

/** What is stored once all is written. */
const written = async () => {
  await log.flush();
  return stored();
};

describe("a profile that is opened", () => {
  test.each([
    [0, "today", 1],
    [60_000, "today", 1],
    [60_001, "today", 0],
    [-1, "today", 0],
    [3_600_000, "today", 0],
    [0, "other", 0],
  ])("%p ms after a recommendation, by %p, follows it %p times", async (afterMs, client, times) => {
    log.add(aCall());
    log.follow(aStep({ atMs: noonMs + afterMs, clients: [client] }), { elsewhere: true });
    expect(await written()).toHaveLength(times);
  });

  test.each([
    ["wells", 1],
    ["pumps", 2],
    ["camp", null],
  ])("is stored with its rank: %s, %p", async (slug, rank) => {
    log.add(aCall());
    log.follow(aStep({ slug }));
    const step = { action: "profile", form: "page", intent_id: "", followed_at: noonMs + 1_000 };
    expect(await written()).toEqual([{ recommendation_id: 1, slug, rank, ...step }]);
  });

  test("belongs to the newest call that named it, else to the newest", async () => {
    log.add(aCall({ slugs: ["wells"] }));
    log.add(aCall({ slugs: ["wells", "camp"], atMs: noonMs + 100 }));
    log.add(aCall({ slugs: ["pumps"], atMs: noonMs + 200 }));
    for (const slug of ["camp", "wells", "school"]) log.follow(aStep({ slug }));
    expect(await written()).toMatchObject([
      { slug: "camp", recommendation_id: 2, rank: 2 },
      { slug: "wells", recommendation_id: 2, rank: 1 },
      { slug: "school", recommendation_id: 3, rank: null },
    ]);
  });

  test("counts once, however often it is opened", async () => {
    log.add(aCall());
    for (let opened = 0; opened < 5; opened++) log.follow(aStep({ atMs: noonMs + opened }));
    await log.flush();
    log.follow(aStep({ form: "json" }));
    expect(await written()).toHaveLength(1);
  });

  test("just after midnight follows a call of the day before", async () => {
    const midnightMs = Date.parse("2026-06-02T00:00:00Z");
    log.add(aCall({ client: "yesterday", atMs: midnightMs - 20_000 }));
    const clients = ["today", "yesterday"] as const;
    log.follow(aStep({ clients, atMs: midnightMs + 39_000 }));
    log.follow(aStep({ clients, atMs: midnightMs + 41_000, slug: "pumps" }));
    expect(await written()).toMatchObject([{ slug: "wells" }]);
  });
});

test("payment requirements are stored with their memo, each", async () => {
  log.add(aCall());
  const donate = (intent_id: string) => aStep({ action: "donate", form: null, intent_id });
  for (const memo of ["m1", "m2", "m1"]) log.follow(donate(memo));
  expect(await written()).toMatchObject([{ intent_id: "m1" }, { intent_id: "m2" }]);
});

test("what no one here was recommended is looked for only when another process may have done it", async () => {
  const other = logRecommendations(store, () => {});
  expect(log.isFollowed(noonMs)).toBe(false);
  log.follow(aStep());
  log.follow(aStep({ slug: "pumps" }), { elsewhere: true });
  // The other process writes its call after this one has looked for it.
  expect(await written()).toEqual([]);
  other.add(aCall());
  await other.flush();
  expect(await written()).toMatchObject([{ slug: "pumps" }]);
  expect(other.isFollowed(noonMs + 60_000)).toBe(true);
  expect(other.isFollowed(noonMs + 60_001)).toBe(false);
});

test("a store out of reach loses nothing: it is written when it is back", async () => {
  const write = store.write.bind(store);
  let broken = true;
  const shaky: Store = {
    ...store,
    write: (work) => (broken ? Promise.reject(new Error("disk")) : write(work)),
  };
  const shakyLog = logRecommendations(shaky, () => {});
  shakyLog.add(aCall());
  shakyLog.follow(aStep());
  expect(await shakyLog.flush().then(() => "", String)).toContain("disk");
  broken = false;
  await shakyLog.flush();
  expect(await stored()).toHaveLength(1);
});

test("flushes that overlap find the calls that are being written", async () => {
  log.add(aCall());
  const first = log.flush();
  log.follow(aStep());
  await Promise.all([first, log.flush()]);
  expect(await stored()).toHaveLength(1);
});

test("what is older than the days kept goes, the oldest first, with what followed it", async () => {
  for (const day of [0, 1, 2]) {
    const atMs = noonMs + day * dayMs;
    const client = `day-${day}`;
    log.add(aCall({ atMs, client }));
    log.follow(aStep({ atMs, clients: [client] }));
    await log.flush();
  }
  log.add(aCall({ atMs: noonMs + 31.5 * dayMs }));
  await log.flush();
  const { rows } = await store.raw.execute("SELECT client FROM recommendation_log ORDER BY id");
  expect(rows.map((row) => row["client"])).toEqual(["day-2", "today"]);
  expect(await stored()).toHaveLength(1);
});
