import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { restartWaitMs } from "#content/runtime/supervised-child.ts";
import type { DocumentKind } from "#site/documents/document.ts";
import { makeDurable } from "#site/bundle/durable.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { prune } from "#site/bundle/garbage-collection.ts";
import { commitRelease } from "#site/bundle/release.ts";
import { retryFailures } from "#site/publisher/housekeeping.ts";
import { theBuiltDirectory, plainFolder } from "#test/support/publisher.ts";

const directory = await theBuiltDirectory([{ slug: "trust-a" }, { slug: "trust-b" }], {
  exported: true,
});
const { context } = directory.publisher;

const failures = () =>
  context.manifest.db.query<{ key: string }, []>("SELECT key FROM failures").all();

/** Profiles cannot be rendered as long as the trouble lasts. */
const inTrouble = (kind: DocumentKind): DocumentKind =>
  kind.kind === "profile"
    ? { ...kind, render: () => Promise.reject(new Error("the store does not answer")) }
    : kind;

describe("a page that fails to render", () => {
  test("keeps its older version, is named, and stops nothing else", async () => {
    const before = directory.read("nonprofits/trust-a.html");
    await directory.edit("trust-a", { tagline: "Trouble is over" });
    await runProfileJob({ ...context, kinds: context.kinds.map(inTrouble) });
    expect(directory.read("nonprofits/trust-a.html")).toBe(before);
    expect(failures()).toHaveLength(1);
    expect(context.manifest.state().fast_sequence).toBe(3);
  });
  test("is tried again without another change", async () => {
    expect(await retryFailures(context)).toBe(0);
    expect(directory.read("nonprofits/trust-a.html")).toContain("Trouble is over");
    expect(failures()).toEqual([]);
  });
});

const commit = (files: { path: string; digest: string; size: number }[]) =>
  commitRelease(context.manifest, {
    reason: "test",
    files,
    removed: [],
    asOf: 1_000,
    state: {},
    now: new Date(),
  });
const contentOf = (text: string) => context.blobs.put(new TextEncoder().encode(text));

test("a release of thousands of files becomes durable", async () => {
  const content = contentOf("one of many");
  const { release } = commit(
    Array.from({ length: 2_500 }, (_, at) => ({ path: `many/${at}.txt`, ...content })),
  );
  await makeDurable(context);
  expect(context.manifest.state().durable_release).toBe(release);
});

test("assets that a newer site gave up stay while a kept release names them, and then go", () => {
  const asset = "_astro/older.css";
  const { manifest } = context;
  const later = { ...context, clock: () => new Date(Date.now() + 48 * 60 * 60 * 1_000) };
  commit([{ path: asset, ...contentOf("a {}") }]);
  manifest.db.query("UPDATE files SET doomed_at = ? WHERE path = ?").run(Date.now(), asset);
  prune(later, 200);
  expect(manifest.find(asset)).not.toBeNull();
  manifest.db.query("UPDATE files SET doomed_at = doomed_at - 1 WHERE path = ?").run(asset);
  commit([{ path: "news.txt", ...contentOf("newer") }]);
  prune(later, 1);
  // The signed list tells it still.
  expect(manifest.find(asset)).not.toBeNull();
  manifest.setState({ listed_release: manifest.state().current_release });
  prune(later, 1);
  expect(manifest.find(asset)).toBeNull();
  expect(existsSync(join(plainFolder(directory.dataDir), asset))).toBe(false);
});

test("a publisher that keeps ending is started again for ever, less and less often", () => {
  expect([0, 1, 5].map(restartWaitMs)).toEqual([100, 200, 3_200]);
  expect([10, 1_000, 100_000].map(restartWaitMs)).toEqual([5_000, 5_000, 5_000]);
});
