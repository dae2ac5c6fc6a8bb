import { beforeEach, describe, expect, test } from "bun:test";
import { checkpointCounters, countActivity } from "#content/operation/activity-store.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { openStore } from "#content/store/open.ts";
import { storedCounters } from "#content/operation/directory-facts-store.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const store = forEachTest(() => openStore({ url: ":memory:" }));
let now: Date;
let activity: ReturnType<typeof countActivity>;

const clock = () => now;
beforeEach(() => {
  now = new Date("2026-06-01T12:30:00Z");
  activity = countActivity(store, clock);
});

/** What another process reads. */
const stored = () => countActivity(store, clock).counters();

describe("counters", () => {
  test("show what was counted before and after it is stored", async () => {
    activity.count("query:search");
    activity.count("query:recommend");
    activity.count("hit:llms_txt");
    const expected = {
      total_donations: 0,
      total_queries: 2,
      queries_this_week: 2,
      queries: { llms_txt: 1, agents_md: 0, ai_plugin: 0, mcp: 0 },
    };
    expect(await activity.counters()).toEqual(expected);
    await activity.flush();
    expect(await activity.counters()).toEqual(expected);
    expect(await stored()).toEqual(expected);
  });

  test("lose nothing to a flush in the middle of counting", async () => {
    const flushes: Promise<void>[] = [];
    for (let at = 0; at < 500; at++) {
      activity.count("query:search");
      if (at % 50 === 0) flushes.push(activity.flush());
      if (at % 70 === 0) expect((await activity.counters()).total_queries).toBe(at + 1);
    }
    await Promise.all(flushes);
    await activity.flush();
    expect((await stored()).total_queries).toBe(500);
  });

  test("of a week leave out what is older", async () => {
    activity.count("query:mcp");
    await activity.flush();
    now = new Date(now.getTime() + 8 * 24 * 3_600_000);
    activity.count("query:mcp");
    await activity.flush();
    expect(await activity.counters()).toMatchObject({ total_queries: 2, queries_this_week: 1 });
  });

  test("stay in memory when the store refuses, and are written later", async () => {
    activity.count("query:search");
    await store.write((tx) => tx.raw.execute("ALTER TABLE activity_counts RENAME TO away"));
    expect(await activity.flush().catch(() => "refused")).toBe("refused");
    await store.write((tx) => tx.raw.execute("ALTER TABLE away RENAME TO activity_counts"));
    await activity.flush();
    expect((await stored()).total_queries).toBe(1);
  });

  test("are the same object as long as nothing is counted", async () => {
    activity.count("query:search");
    expect(await activity.counters()).toBe(await activity.counters());
  });
});

test("a checkpoint makes the counters a fact of the directory, once", async () => {
  activity.count("hit:agents_md");
  await activity.flush();
  await checkpointCounters(store, now);
  await checkpointCounters(store, now);
  expect((await storedCounters(store)).queries.agents_md).toBe(1);
  const changes = await changesAfter(store, 0, 10);
  expect(changes).toMatchObject([{ kind: "directory", fields: ["counters"] }]);
});
