import { expect, test } from "bun:test";
import { join } from "node:path";
import { closeFeedFiles, findEpoch, newestFeedFile } from "#content/feed/store.ts";
import { openStore } from "#content/store/open.ts";
import { detectRestoredStore } from "#site/publisher/open-publisher.ts";
import { releaseBefore } from "#site/bundle/rollback.ts";
import { aBuiltDirectory } from "#test/support/publisher.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const build = () => directory.publisher.buildAll();
const feedState = () => JSON.parse(directory.read("changes/state.json") ?? "");
const isOutdated = () => directory.publisher.isOutdated();

const directory = forEachTest(() => aBuiltDirectory([{ slug: "trust-a" }, { slug: "trust-b" }]));

const run = (...statements: string[]) =>
  directory.store.write(async ({ raw }) => {
    for (const sql of statements) await raw.execute(sql);
  });

/** What a restored backup lacks: the newest changes, the feed's files of them, and what they changed. */
const restoreTo = (sequence: number) =>
  run(
    `DELETE FROM changes WHERE sequence > ${sequence}`,
    `DELETE FROM feed_files WHERE last_sequence > ${sequence}`,
    `UPDATE sqlite_sequence SET seq = ${sequence} WHERE name = 'changes'`,
    "UPDATE nonprofits SET tagline = 'from the backup' WHERE slug = 'trust-a'",
  );

test("a store that was restored is published again, and later changes are not lost", async () => {
  const { store, publisher } = directory;
  const { context } = publisher;
  for (const line of [1, 2, 3]) {
    await directory.publish("trust-a", { tagline: `lost ${line}` });
  }
  await detectRestoredStore(context);
  expect(isOutdated()).toBe(false);
  const epoch = await findEpoch(store);
  await restoreTo(2);
  await detectRestoredStore(context);
  expect(isOutdated()).toBe(true);
  await build();
  expect(directory.read("nonprofits/trust-a.html")).toContain("from the backup");
  // Caches keep files of the feed for ever: their numbers must not come again with another content.
  expect(await findEpoch(store)).not.toBe(epoch);
  expect(directory.read("changes/4.json")).toBeNull();
  await directory.publish("trust-b", { tagline: "after the backup" });
  expect(directory.read("nonprofits/trust-b.html")).toContain("after the backup");
  expect((await newestFeedFile(store))?.number).toBe(7);
  expect(feedState()).toMatchObject({ sequence: 7 });
  expect((await build()).differing).toEqual([]);
  expect(releaseBefore(context.manifest, 1)).not.toBeNull();
});

test("a new store beside an old bundle is published with an epoch of its own", async () => {
  const before = feedState();
  // The store was lost, and its export imported: the same profile, and no feed.
  await run("DELETE FROM feed_files", "DELETE FROM directory_facts");
  await directory.restart({});
  expect((await build()).failed).toEqual([]);
  expect(feedState().epoch).not.toBe(before.epoch);
  expect(feedState().sequence).toBeGreaterThan(before.sequence);
  await directory.restart({});
  expect(isOutdated()).toBe(false);
  // So is another store in its place.
  using other = await openStore({ url: `file:${join(directory.dataDir, "other.db")}` });
  await closeFeedFiles(other, { after: 0, upTo: 0, now: new Date() });
  const { context } = directory.publisher;
  await detectRestoredStore({ ...context, source: { ...context.source, store: other } });
  expect([isOutdated(), context.manifest.state().fast_sequence]).toEqual([true, 0]);
});

test("a restored store that has grown past the lost one is published again", async () => {
  await directory.publish("trust-a", { tagline: "lost 1" });
  expect(directory.read("changes/2.json")).toContain('"number":2');
  await restoreTo(2);
  for (const line of [1, 2]) {
    await directory.edit("trust-a", { tagline: `after the backup ${line}` });
  }
  // Another publisher closed files of the feed under numbers that readers saw with other content.
  await closeFeedFiles(directory.store, { after: 2, upTo: 4, now: new Date("2026-11-02") });
  await directory.restart({});
  expect(isOutdated()).toBe(true);
  await build();
  expect(directory.read("nonprofits/trust-a.html")).toContain("after the backup 2");
  expect(directory.read("changes/2.json")).toBeNull();
  await directory.restart({});
  expect(isOutdated()).toBe(false);
});
