import { expect, test } from "bun:test";
import { curatedPicks, saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import { openStore } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { outcome } from "#test/support/importing.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const now = new Date("2026-09-01T00:00:00Z");
const store = forEachTest(() => openStore({ url: ":memory:" }));

const stored = (...slugs: string[]) => saveNew(store, ...slugs.map((slug) => aNonprofit({ slug })));

const aPick = (nonprofit_id: number) => ({
  nonprofit_id,
  recommended_for: ["donors interested in wells"],
  why_recommended: "Works on wells and says what they cost.",
});
const inFile = (slug: string, why_recommended = "Mends pumps within three days.") => ({
  slug,
  recommended_for: ["donors interested in pumps"],
  why_recommended,
});

test("picks of the store and of the file are one list, and the file wins", async () => {
  const [a, b] = await stored("a", "b");
  await store.write((tx) => saveCuratedPicks(tx, [aPick(a?.id ?? 0), aPick(b?.id ?? 0)]));
  const causes = ["education"];
  const file = { picks: [{ ...inFile("b"), causes }, inFile("not-in-the-store")] };
  const { why_recommended } = inFile("b");
  expect(await curatedPicks(store, { phase: 1, file })).toMatchObject([
    { ...aPick(a?.id ?? 0), causes: null },
    { nonprofit_id: b?.id, why_recommended, causes },
  ]);
});

test("a withdrawn nonprofit is recommended to no one", async () => {
  const [a, b] = await stored("a", "b");
  if (a === undefined || b === undefined) throw new Error("two were stored");
  await store.write(async (tx) => {
    await saveCuratedPicks(tx, [aPick(a.id)]);
    const status = "withdrawn" as const;
    const gone = [a, b].map((before) => ({ before, after: { ...before, status } }));
    await saveNonprofits(tx, gone, { origin: "test", now });
  });
  expect(await curatedPicks(store, { phase: 1, file: { picks: [inFile("b")] } })).toEqual([]);
});

test("a sentence that claims too much is refused where it is loaded and where it is saved", async () => {
  const [a] = await stored("a");
  const file = { picks: [inFile("a", "The most effective charity in Kenya.")] };
  expect(await outcome(curatedPicks(store, { phase: 1, file }))).toContain(
    'starter set, a: "most effective"',
  );
  const claiming = { ...aPick(a?.id ?? 0), recommended_for: ["the best wells"] };
  const saving = store.write((tx) => saveCuratedPicks(tx, [claiming]));
  expect(await outcome(saving)).toContain('"best"');
});

test.each([
  [{ slug: "a" }, "recommended_for"],
  [{ ...inFile("a"), causes: ["knitting"] }, "causes"],
])("a malformed file is refused: %j", async (pick, says) => {
  expect(await outcome(curatedPicks(store, { phase: 1, file: { picks: [pick] } }))).toContain(says);
});

test("the operator's own file is sound", async () => {
  expect(await curatedPicks(store, { phase: 1 })).toEqual([]);
});
