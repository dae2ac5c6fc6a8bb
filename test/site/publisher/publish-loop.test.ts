import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { storeCharts } from "#content/statistics/charts-store.ts";
import { openHousekeeping } from "#site/publisher/housekeeping.ts";
import { commitRelease, releases, storeFiles } from "#site/bundle/release.ts";
import { runPublishLoop, openWorkSignal } from "#site/publisher/publish-loop.ts";
import { aDirectory, plainFolder } from "#test/support/publisher.ts";

const directory = await aDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], { exported: true });
const { context } = directory.publisher;
// As the publisher does when it starts: without it the charts would be counted anew by each build.
await storeCharts(context.source.store, new Date());
await directory.rebuilt();
afterAll(() => directory.close());

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
