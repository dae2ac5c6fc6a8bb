import { beforeEach, describe, expect, test } from "bun:test";
import {
  closeFeedFiles,
  feedEntries,
  feedEpoch,
  feedFile,
  newestFeedFile,
} from "#content/feed/store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aDataFolder } from "#test/support/data-folder.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { aChange, aNonprofit, saveNew } from "#test/support/records.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const now = new Date("2026-11-01T10:00:00Z");
let store: Store;

const folder = forEachTest(aDataFolder);
beforeEach(() => {
  ({ store } = folder);
});

/** Appends so many changes. */
const add = (count: number) =>
  store.write((tx) =>
    tx.db
      .insert(changes)
      .values(Array.from({ length: count }, (_, at) => aChange({ sequence: at + 1 })))
      .execute(),
  );

/** The entry of the change of a new profile's parts, and that profile's slug. */
async function entryOf(parts: Partial<NonprofitRecord>) {
  const [before = aNonprofit()] = await saveNew(store, aNonprofit());
  const saves = [{ before, after: { ...before, ...parts } }];
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now }));
  await closeFeedFiles(store, { after: 0, upTo: 2, now });
  const range = { number: 1, first_sequence: 2, last_sequence: 2 };
  return { entries: await feedEntries(store, range), slug: before.slug };
}

describe("closing feed files", () => {
  test("puts at most 1,000 changes into each, without a gap", async () => {
    await add(2_300);
    expect(await closeFeedFiles(store, { after: 0, upTo: 2_300, now })).toEqual([1, 2, 3]);
    const second = { first_sequence: 1_001, last_sequence: 2_000 };
    expect(await feedFile(store, 2)).toMatchObject(second);
    expect(await newestFeedFile(store)).toMatchObject({ number: 3, last_sequence: 2_300 });
  });
  test("leaves later changes for later files and never touches a closed one", async () => {
    await add(5);
    expect(await closeFeedFiles(store, { after: 0, upTo: 3, now })).toEqual([1]);
    expect(await closeFeedFiles(store, { after: 3, upTo: 5, now })).toEqual([2]);
    expect(await feedFile(store, 1)).toMatchObject({ first_sequence: 1, last_sequence: 3 });
    expect(await feedFile(store, 2)).toMatchObject({ first_sequence: 4, last_sequence: 5 });
  });
  test("done again after a publication that was cut off answers the same files", async () => {
    await add(5);
    const closing = { after: 0, upTo: 5, now };
    expect(await closeFeedFiles(store, closing)).toEqual([1]);
    expect(await closeFeedFiles(store, closing)).toEqual([1]);
    expect(await closeFeedFiles(store, { ...closing, after: 5 })).toEqual([]);
  });
  test("by two processes at once closes each change once", async () => {
    const other = await openStore({ url: folder.databaseUrl, migrated: true });
    await add(1_500);
    const closing = { after: 0, upTo: 1_500, now };
    const both = [closeFeedFiles(store, closing), closeFeedFiles(other, closing)];
    for (const numbers of await Promise.all(both)) expect(numbers).toEqual([1, 2]);
    expect(await newestFeedFile(store)).toMatchObject({ number: 2 });
    other.close();
  });
  test("makes the epoch once, even with nothing to close", async () => {
    expect(await closeFeedFiles(store, { after: 0, upTo: 0, now })).toEqual([]);
    const epoch = await feedEpoch(store);
    await add(1);
    await closeFeedFiles(store, { after: 0, upTo: 1, now });
    expect(await feedEpoch(store)).toBe(epoch);
  });
});

describe("the entries of a feed file", () => {
  test("name fields as the profile does, and never tell a value", async () => {
    const { entries, slug } = await entryOf({
      contact_email: "jane@charity.example",
      country_code: "UG",
      wallet_challenge: "c",
      wallet_signature: "s",
    });
    const fields = ["country", "contact_email", "wallet_proof"];
    const at = "2026-11-01T10:00:00Z";
    expect(entries).toEqual([{ sequence: 2, slug, kind: "changed", fields, at }]);
  });
  test("keep a withdrawal as a tombstone", async () => {
    const { entries, slug } = await entryOf({ status: "withdrawn" });
    expect(entries).toMatchObject([{ slug, kind: "withdrawn", fields: ["status"] }]);
  });
});
