import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { curatedPicks, saveCuratedPicks } from "#content/recommendation/pick-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aNonprofit } from "#test/support/records.ts";

const now = new Date("2026-09-01T00:00:00Z");
let folder = "";
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "curation-"));
  store = await openStore({ url: `file:${join(folder, "store.db")}`, synchronous: "OFF" });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const stored = (...slugs: string[]) =>
  store.write((tx) =>
    saveNonprofits(
      tx,
      slugs.map((slug) => ({ before: null, after: aNonprofit({ slug }) })),
      { origin: "test", now },
    ),
  );

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
  const picks = await curatedPicks(store, {
    phase: 1,
    file: { picks: [{ ...inFile("b"), causes: ["education"] }, inFile("not-in-the-store")] },
  });
  expect(picks).toMatchObject([
    {
      nonprofit_id: a?.id,
      why_recommended: "Works on wells and says what they cost.",
      causes: null,
    },
    {
      nonprofit_id: b?.id,
      why_recommended: "Mends pumps within three days.",
      causes: ["education"],
    },
  ]);
});

test("a withdrawn nonprofit is recommended to no one", async () => {
  const [a, b] = await stored("a", "b");
  if (a === undefined || b === undefined) throw new Error("two were stored");
  await store.write(async (tx) => {
    await saveCuratedPicks(tx, [aPick(a.id)]);
    const gone = [a, b].map((before) => ({
      before,
      after: { ...before, status: "withdrawn" as const },
    }));
    await saveNonprofits(tx, gone, { origin: "test", now });
  });
  expect(await curatedPicks(store, { phase: 1, file: { picks: [inFile("b")] } })).toEqual([]);
});

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "nothing was refused",
    (error: unknown) => String(error),
  );

test("a sentence that claims too much is refused where it is loaded and where it is saved", async () => {
  const [a] = await stored("a");
  const file = { picks: [inFile("a", "The most effective charity in Kenya.")] };
  expect(await refusal(curatedPicks(store, { phase: 1, file }))).toContain(
    'starter set, a: "most effective"',
  );
  const claiming = { ...aPick(a?.id ?? 0), recommended_for: ["the best wells"] };
  const saving = store.write((tx) => saveCuratedPicks(tx, [claiming]));
  expect(await refusal(saving)).toContain('"best"');
});

test("a malformed file is refused", async () => {
  expect(
    await refusal(curatedPicks(store, { phase: 1, file: { picks: [{ slug: "a" }] } })),
  ).toContain("recommended_for");
  const unknownCause = { picks: [{ ...inFile("a"), causes: ["knitting"] }] };
  expect(await refusal(curatedPicks(store, { phase: 1, file: unknownCause }))).toContain("causes");
});

test("the operator's own file is sound", async () => {
  expect(await curatedPicks(store, { phase: 1 })).toEqual([]);
});
