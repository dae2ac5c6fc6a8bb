import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { storeCharts } from "#content/statistics/charts-store.ts";
import { buildBundle } from "#site/publisher/full-build.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { openHousekeeping } from "#site/publisher/housekeeping.ts";
import { commitRelease, releases, storeFiles } from "#site/bundle/release.ts";
import {
  type FollowUpName,
  type Job,
  type LoopState,
  nextJob,
  openWorkSignal,
  runPublishLoop,
} from "#site/publisher/publish-loop.ts";
import { theDirectory, plainFolder } from "#test/support/publisher.ts";

const directory = await theDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], {
  exported: true,
});
const { context } = directory.publisher;
// As the publisher does when it starts: without it the charts would be counted anew by each build.
await storeCharts(context.source.store, new Date());
await directory.rebuilt();

/** Runs the publisher's loop until `met`, at most 5 s. */
async function publishUntil(
  met: () => boolean,
  buildAll: () => Promise<void>,
  own = context,
): Promise<void> {
  const stopping = new AbortController();
  const options = { releasesKept: 200, listDelayMs: 10, work: openWorkSignal(own, 2), buildAll };
  const jobs = { ...directory.publisher, context: own };
  const running = runPublishLoop(jobs, { ...options, signal: stopping.signal });
  for (let look = 0; look < 500 && !met(); look++) await Bun.sleep(10);
  stopping.abort();
  await running;
  expect(met()).toBe(true);
}

const isDone = () => context.manifest.state().request === "";
const noRoom = () => Promise.reject(new Error("no room"));

describe("a full build that fails", () => {
  test("keeps pages of another site back, whose assets it would have brought", async () => {
    const logged: string[] = [];
    let builds = 0;
    const log = (event: string) => void logged.push(event);
    await directory.edit("trust-a", { tagline: "of another site" });
    await publishUntil(
      () => logged.length > 0,
      () => (builds++, noRoom()),
      { ...context, log, inputsDigest: "another site" },
    );
    expect(logged).toEqual(["publishing failed and is tried again"]);
    expect(builds).toBe(1);
    expect(directory.read("nonprofits/trust-a.html")).not.toContain("of another site");
  });
  test("has brought the assets of another site, which the service draws pages of", async () => {
    const { source } = context;
    const assets = ["_astro/another.css", "favicon.svg"].map((path) => ({
      path,
      file: import.meta.path,
    }));
    const another = { ...source, renderer: { ...source.renderer, assets } };
    const own = { ...context, source: another, inputsDigest: "another site" };
    const jobs = { ...directory.publisher, context: own };
    const aborted = { processes: 0, signal: AbortSignal.abort() };
    expect(await buildBundle(jobs, aborted).catch(String)).toContain("aborted");
    expect(directory.read("_astro/another.css")).toContain("brought the assets");
    // A rollback to the site before has its own.
    expect(directory.read("favicon.svg")).not.toContain("brought the assets");
  });
  test("that was asked for does not keep changes and lists from being published", async () => {
    context.manifest.setState({ request: "full" });
    await directory.edit("trust-a", { tagline: "goes on", causes: ["health"] });
    const { slow_sequence } = context.manifest.state();
    await publishUntil(() => context.manifest.state().slow_sequence > slow_sequence, noRoom);
    expect(directory.read("nonprofits/trust-a.html")).toContain("goes on");
    expect(directory.read("causes/health.html")).toContain("trust-a");
    expect(context.manifest.state().request).toBe("full");
    await publishUntil(isDone, () => Promise.resolve());
  });
});

test("a full build that is asked for tells nothing that merely waited to be published", async () => {
  await directory.edit("trust-a", { tagline: "waits", mission: "Waits, too." });
  context.manifest.setState({ request: "full" });
  const builds: (string[] | null)[] = [];
  await publishUntil(isDone, async () => {
    const { differing } = await directory.publisher.buildAll({ processes: 0, feedLater: true });
    builds.push(differing);
  });
  expect(builds).toEqual([[]]);
  expect(directory.read("nonprofits/trust-a.html")).toContain("Waits, too.");
});

test("mirrors learn of a rollback to a release whose lists had not followed", async () => {
  await directory.edit("trust-a", { tagline: "before its lists" });
  await runProfileJob(context);
  const { current_release } = context.manifest.state();
  await directory.publish("trust-a", { tagline: "with its lists" });
  context.manifest.setState({ request: `rollback ${current_release}` });
  const isListed = () => {
    const state = context.manifest.state();
    return state.held_at === current_release && state.listed_release === state.current_release;
  };
  await publishUntil(isListed, noRoom);
  const { slow_sequence, fast_sequence } = context.manifest.state();
  expect(slow_sequence).toBeLessThan(fast_sequence);
  context.manifest.setState({ held_at: 0 });
  await directory.drain();
});

describe("between jobs", () => {
  const later = (seconds: number) => performance.now() + seconds * 1_000;
  const { signal } = new AbortController();
  const keepHouse = () => openHousekeeping(context, { releasesKept: 5, signal });
  test("old releases are forgotten bit by bit, although changes keep coming", async () => {
    const { manifest } = context;
    for (let at = 0; at < 110; at++) {
      const { files } = storeFiles(context, [{ path: "extra.txt", body: `line ${at}` }]);
      const draft = { reason: "test", files, asOf: at, state: {}, now: new Date() };
      commitRelease(manifest, draft);
    }
    const keep = keepHouse();
    const busy = { held: false };
    const count = () => releases(manifest, 1_000).length;
    const before = count();
    await keep.run(busy, later(0));
    expect(count()).toBe(before);
    await keep.run(busy, later(61));
    expect(count()).toBe(before - 100);
    for (let run = 0; run < 3; run++) await keep.run(busy, later(62 + run));
    expect(count()).toBe(5);
  });
  test("a file that could not be shown in the folder is, without another release", async () => {
    const { current_release } = context.manifest.state();
    const shown = join(plainFolder(directory.dataDir), "extra.txt");
    rmSync(shown, { force: true });
    context.manifest.setState({ exported_release: current_release - 1 });
    await keepHouse().run({ held: true }, later(0));
    expect(existsSync(shown)).toBe(true);
    expect(context.manifest.state().exported_release).toBe(current_release);
  });
});

const idle: LoopState = {
  nowMs: 1_000,
  pausedUntilMs: 0,
  buildAfterMs: 0,
  requested: false,
  held: false,
  outdated: false,
  hasChanges: false,
  housekeepingAtMs: 50_000,
  followUps: [],
  running: new Set(),
};

/** The follow-up jobs that are due, as the loop has them. */
const due = (atMs: Partial<Record<FollowUpName, number>>): Pick<LoopState, "followUps"> => ({
  followUps: [
    { name: "lists", slot: "lists", atMs: atMs.lists ?? null },
    { name: "feed", slot: "lists", whileHeld: true, atMs: atMs.feed ?? null },
    { name: "search", slot: "search", atMs: atMs.search ?? null },
  ],
});
const lists: LoopState["running"] = new Set(["lists"]);
const build: LoopState["running"] = new Set(["build"]);
const search: LoopState["running"] = new Set(["search"]);

test.each<[string, Partial<LoopState>, Job | number]>([
  ["a change is published at once", { hasChanges: true }, "profile"],
  ["a change goes before lists", { hasChanges: true, ...due({ lists: 900 }) }, "profile"],
  ["a change is published while lists are made", { hasChanges: true, running: lists }, "profile"],
  ["a change is published during a full build", { hasChanges: true, running: build }, "profile"],
  ["lists follow when no change waits", due({ lists: 1_000 }), "lists"],
  ["lists wait so that a burst costs one run", due({ lists: 1_400 }), 1_400],
  ["lists are made one run at a time", { ...due({ lists: 900 }), running: lists }, 61_000],
  ["lists wait for a full build", { ...due({ lists: 900 }), running: build }, 61_000],
  ["mirrors are told once lists are in step", due({ feed: 0 }), "feed"],
  ["a snapshot that costs much waits", due({ feed: 3_000 }), 3_000],
  ["indexes follow releases", due({ search: 0 }), "search"],
  ["indexes are made while lists are", { ...due({ search: 0 }), running: lists }, "search"],
  ["indexes are made one run at a time", { ...due({ search: 0 }), running: search }, 50_000],
  ["indexes wait after a run", due({ search: 31_000 }), 31_000],
  ["housekeeping goes before changes", { housekeepingAtMs: 0, hasChanges: true }, "housekeeping"],
  ["housekeeping waits for lists that are made", { housekeepingAtMs: 0, running: lists }, 61_000],
  ["another site is built first", { outdated: true, hasChanges: true }, "full build"],
  ["its pages wait for its build", { outdated: true, hasChanges: true, running: build }, 61_000],
  [
    "its failed build is tried later",
    { outdated: true, hasChanges: true, buildAfterMs: 9_000 },
    9_000,
  ],
  ["what an operator asks for goes first", { requested: true, hasChanges: true }, "request"],
  ["a request finds no list job half-way", { requested: true, running: lists }, 61_000],
  [
    "no list job begins before it",
    { requested: true, ...due({ lists: 900, feed: 0 }), running: build },
    61_000,
  ],
  [
    "lists go on after a failed build",
    { requested: true, buildAfterMs: 9_000, ...due({ lists: 900 }) },
    "lists",
  ],
  [
    "a rollback holds what renders",
    { held: true, hasChanges: true, ...due({ lists: 900, search: 0 }) },
    50_000,
  ],
  ["a rollback is told to mirrors", { held: true, ...due({ feed: 0 }) }, "feed"],
  ["a rollback to an older site is not built over", { held: true, outdated: true }, 50_000],
  ["a rollback is resumed", { held: true, requested: true }, "request"],
  [
    "after a failure all wait a moment",
    { pausedUntilMs: 2_000, hasChanges: true, requested: true },
    2_000,
  ],
  ["with nothing to do it waits", {}, 50_000],
])("the publisher's next job, or until when it waits %s", (_behaviour, state, expected) => {
  const next = nextJob({ ...idle, ...state });
  expect(next.job === "wait" ? next.untilMs : next.job).toBe(expected);
});

/** Whether a wait told of news. What does not end it before its time lets the test run out of its own. */
const waited = (work: ReturnType<typeof openWorkSignal>) =>
  work.wait(performance.now() + 3_600_000);

describe("waiting for work", () => {
  test("ends at once when a process tells of it, also before the wait", async () => {
    const work = openWorkSignal(context, 5_000);
    await work.wait(0);
    work.notify();
    const early = await waited(work);
    setTimeout(() => work.notify(), 20);
    const late = await waited(work);
    expect([early, late]).toEqual([true, true]);
  });
  test("ends soon after another connection has written, without being told", async () => {
    const work = openWorkSignal(context, 10);
    await work.wait(0);
    setTimeout(() => void directory.edit("trust-a", { tagline: "Written elsewhere" }), 20);
    expect(await waited(work)).toBe(true);
  });
  test("ends when its time has come or it is woken, with no news", async () => {
    const work = openWorkSignal(context, 10);
    await work.wait(0);
    expect(await work.wait(performance.now() + 30)).toBe(false);
    setTimeout(() => work.wake(), 20);
    expect(await waited(work)).toBe(false);
  });
});
