import { expect, test } from "bun:test";
import { join } from "node:path";
import { closeFeedFiles, findEpoch, newestFeedFile } from "#content/feed/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { detectRestoredStore } from "#site/publisher/detect-restored-store.ts";
import type { PublisherContext } from "#site/publisher/context.ts";
import { releaseBefore } from "#site/bundle/rollback.ts";
import { aDirectory } from "#test/support/publisher.ts";

/** What a restored backup lacks: the newest changes, the feed's files of them, and what they changed. */
async function restoreTo(store: PublisherContext["source"]["store"], sequence: number) {
  await store.write(async ({ raw }) => {
    for (const sql of [
      "DELETE FROM changes WHERE sequence > ?",
      "DELETE FROM feed_files WHERE last_sequence > ?",
      "UPDATE sqlite_sequence SET seq = ? WHERE name = 'changes'",
    ]) {
      await raw.execute({ sql, args: [sequence] });
    }
    await raw.execute("UPDATE nonprofits SET tagline = 'from the backup' WHERE slug = 'trust-a'");
  });
}

test("a store that was restored is published again, and later changes are not lost", async () => {
  const directory = await aDirectory([{ slug: "trust-a" }, { slug: "trust-b" }]);
  const { publisher, store } = directory;
  const { context } = publisher;
  try {
    await publisher.buildAll({ processes: 1 });
    for (const line of [1, 2, 3]) {
      await directory.edit("trust-a", { tagline: `lost ${line}` });
      await directory.drain();
    }
    await detectRestoredStore(context);
    expect(publisher.isOutdated()).toBe(false);
    const epoch = await findEpoch(store);
    await restoreTo(store, 2);
    await detectRestoredStore(context);
    expect(publisher.isOutdated()).toBe(true);
    await publisher.buildAll({ processes: 1 });
    expect(directory.read("nonprofits/trust-a.html")).toContain("from the backup");
    // Caches keep files of the feed for ever: their numbers must not come again with another content.
    expect(await findEpoch(store)).not.toBe(epoch);
    expect(directory.read("changes/4.json")).toBeNull();
    await directory.edit("trust-b", { tagline: "after the backup" });
    await directory.drain();
    expect(directory.read("nonprofits/trust-b.html")).toContain("after the backup");
    expect((await newestFeedFile(store))?.number).toBe(7);
    expect(JSON.parse(directory.read("changes/state.json") ?? "")).toMatchObject({ sequence: 7 });
    expect((await publisher.buildAll({ processes: 1 })).differing).toEqual([]);
    expect(releaseBefore(context.manifest, 1)).not.toBeNull();
  } finally {
    directory.close();
  }
});

test("another store in the place of the one that was published is published again", async () => {
  const directory = await aDirectory([{ slug: "trust-a" }]);
  const other = await openStore({ url: `file:${join(directory.dataDir, "other.db")}` });
  try {
    await directory.publisher.buildAll({ processes: 1 });
    await closeFeedFiles(other, { after: 0, upTo: 0, now: new Date() });
    const { context } = directory.publisher;
    await detectRestoredStore({ ...context, source: { ...context.source, store: other } });
    expect(directory.publisher.isOutdated()).toBe(true);
    expect(context.manifest.state().fast_sequence).toBe(0);
  } finally {
    other.close();
    directory.close();
  }
});

test("a new store beside an old bundle is published with an epoch of its own", async () => {
  const directory = await aDirectory([{ slug: "trust-a" }]);
  try {
    await directory.publisher.buildAll({ processes: 1 });
    const before = JSON.parse(directory.read("changes/state.json") ?? "");
    // The store was lost, and its export imported: the same profile, and no feed.
    await directory.store.write(async ({ raw }) => {
      await raw.execute("DELETE FROM feed_files");
      await raw.execute("DELETE FROM directory_facts");
    });
    await directory.restart({});
    expect((await directory.publisher.buildAll({ processes: 1 })).failed).toEqual([]);
    const after = JSON.parse(directory.read("changes/state.json") ?? "");
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.sequence).toBeGreaterThan(before.sequence);
    await directory.restart({});
    expect(directory.publisher.isOutdated()).toBe(false);
  } finally {
    directory.close();
  }
});

test("a restored store that has grown past the lost one is published again", async () => {
  const directory = await aDirectory([{ slug: "trust-a" }]);
  const { store } = directory;
  try {
    await directory.publisher.buildAll({ processes: 1 });
    await directory.edit("trust-a", { tagline: "lost 1" });
    await directory.drain();
    const published = directory.read("changes/2.json") ?? "";
    await restoreTo(store, 1);
    const now = new Date("2026-11-02");
    for (const tagline of ["after the backup 1", "after the backup 2"]) {
      const before = await recordBySlug(store, "trust-a");
      if (before === null) throw new Error("the nonprofit is there");
      const saves = [{ before, after: { ...before, tagline } }];
      await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now }));
    }
    // Another publisher closed files of the feed under numbers that readers saw with other content.
    await closeFeedFiles(store, { after: 1, upTo: 3, now });
    await directory.restart({});
    expect(directory.publisher.isOutdated()).toBe(true);
    await directory.publisher.buildAll({ processes: 1 });
    expect(directory.read("nonprofits/trust-a.html")).toContain("after the backup 2");
    expect(published).toContain('"number":2');
    expect(directory.read("changes/2.json")).toBeNull();
    await directory.restart({});
    expect(directory.publisher.isOutdated()).toBe(false);
  } finally {
    directory.close();
  }
});
