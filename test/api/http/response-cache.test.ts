import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ResponseCache, openResponseCache } from "#api/http/response-cache.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import type { Store } from "#content/store/open.ts";
import { watchChanges } from "#content/feed/store.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);
let store: Store;
let cache: ResponseCache;
let made: string[];

beforeEach(async () => {
  store = await openBlankStore(`file:${folder("store.db")}`);
  cache = openResponseCache(watchChanges(store));
  made = [];
});
afterEach(() => {
  store.close();
});

const stale = (slug: string) => (change: Change) => change.slug === slug;

const get = (slug: string) =>
  cache.get(slug, async () => {
    made.push(slug);
    return { value: `${slug} ${made.length}`, bytes: 10, staleBy: stale(slug) };
  });

describe("a cached answer", () => {
  test("is made once, also for callers that come together", async () => {
    await Promise.all([get("oak"), get("oak"), get("oak")]);
    await get("oak");
    expect(made).toEqual(["oak"]);
  });

  test("goes with a change of its own, and stays with those of others", async () => {
    await get("oak");
    await get("elm");
    await saveNew(store, aNonprofit({ slug: "elm" }));
    await get("oak");
    await get("elm");
    expect(made).toEqual(["oak", "elm", "elm"]);
  });

  test("goes with a change that another handle wrote, a moment later", async () => {
    await get("oak");
    const other = await openBlankStore(`file:${folder("store.db")}`);
    await saveNew(other, aNonprofit({ slug: "oak" }));
    other.close();
    await Bun.sleep(30);
    await get("oak");
    expect(made).toEqual(["oak", "oak"]);
  });

  test("is not cached when its data changed while it was made", async () => {
    await get("elm"); // The watch has begun.
    const slow = cache.get("oak", async () => {
      await saveNew(store, aNonprofit({ slug: "oak" }));
      await get("elm"); // Someone else hears of the change meanwhile.
      return { value: "old", bytes: 10, staleBy: stale("oak") };
    });
    expect(await slow).toBe("old");
    expect(await get("oak")).not.toBe("old");
  });

  test("goes with everything when a great many changes come at once", async () => {
    await get("oak");
    await saveNew(store, ...Array.from({ length: 600 }, () => aNonprofit()));
    await get("oak");
    expect(made).toEqual(["oak", "oak"]);
  });

  test("is not cached when it says so", async () => {
    const never = async () => ({
      value: made.push("never"),
      bytes: Infinity,
      staleBy: () => false,
    });
    await cache.get("never", never);
    await cache.get("never", never);
    expect(made).toHaveLength(2);
  });

  test("that fails is asked for again", async () => {
    const failing = async () => {
      throw new Error("no");
    };
    expect(Promise.resolve(cache.get("oak", failing))).rejects.toThrow("no");
    expect(await get("oak")).toBe("oak 1");
  });
});

test("the longest unused go when there are too many", async () => {
  const big = (key: string) =>
    cache.get(key, async () => {
      made.push(key);
      return { value: key, bytes: 3_000_000, staleBy: () => false };
    });
  for (let at = 0; at < 16; at++) await big(`k${at}`);
  await big("k0");
  await big("k16");
  await big("k0");
  expect(made.filter((key) => key === "k0")).toHaveLength(1);
  await big("k1");
  expect(made.filter((key) => key === "k1")).toHaveLength(2);
});
