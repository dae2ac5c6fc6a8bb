import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";
import { directoryFacts } from "#content/store/tables/publishing.ts";
import { aDataFolder } from "#test/support/data-folder.ts";

/** How many descriptors of this process are open on a file. */
const descriptorsOn = (path: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false; // The one by which the folder was read.
    }
  }).length;

test("a writer that finds the store locked again and again keeps one connection", async () => {
  using folder = await aDataFolder();
  const path = join(folder.dataDir, "store.db");
  const mine = folder.store;
  using other = await openStore({ url: folder.databaseUrl });
  const note = (store: Store, name: string) =>
    store.write((tx) =>
      tx.db.insert(directoryFacts).values({ name, value: "1", updated_at: 1 }).execute(),
    );
  await note(mine, "first");
  const before = descriptorsOn(path);
  const lock = Promise.withResolvers<void>();
  const held = other.write(() => lock.promise);
  const writing = note(mine, "second");
  await Bun.sleep(300);
  lock.resolve();
  await Promise.all([held, writing]);
  await note(mine, "third");
  expect(descriptorsOn(path)).toBe(before);
  const names = (await other.db.select().from(directoryFacts)).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["first", "second", "third"]));
});
