import { afterAll, beforeAll, expect, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import * as fc from "fast-check";
import { structuredFields } from "#content/contract/enrichment.ts";
import type { StoredProvenance } from "#content/nonprofit/record.ts";
import { saveDirectoryFact, saveNonprofits } from "#content/nonprofit/save.ts";
import { wantedFields } from "#content/contract/enrichment.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { listings } from "#content/store/tables/nonprofits.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { aNonprofit } from "#test/support/records.ts";

let store: Store;
beforeAll(async () => {
  store = await openStore({ url: ":memory:" });
});
afterAll(() => store.close());

const now = new Date("2026-11-01");
const context = { origin: "test", now };
const values = { city: "Oslo", region: "Viken", website: "https://a.example", founded_year: 1999 };
const valueOf = (field: string) => values[field as keyof typeof values] ?? "a@b.example";

const agreement: StoredProvenance = {
  set_by: "consensus",
  source: "consensus",
  source_url: null,
  agents: ["bot-a", "bot-b"],
  applied_at: now.getTime(),
};

const wanted = fc.subarray([...wantedFields]);
const fields = fc.constantFrom(...structuredFields);
const asked = fc.array(fc.tuple(fields, fc.nat({ max: 3 }), fc.boolean()), { maxLength: 6 });

test("a filled field waits for nothing, and lists and feed follow", async () => {
  await fc.assert(
    fc.asyncProperty(wanted, fields, asked, async (filled, field, sent) => {
      const parts = Object.fromEntries(filled.map((one) => [one, valueOf(one)]));
      const open = sent.filter(([at]) => !(at in parts) || at === field);
      const record = aNonprofit({ ...parts, [field]: null });
      const before = await store.write(async (tx) => {
        const [saved] = await saveNonprofits(tx, [{ before: null, after: record }], context);
        if (saved === undefined) throw new Error("nothing was saved");
        for (const [at, agent, isTest] of open) {
          const submission = {
            ...{ nonprofit_id: saved.id, field: at, value: "a", normalised_value: "a" },
            ...{ field_type: "structured" as const, status: "pending" as const },
            ...{ agent_id: `${agent}`, agent_name: `${agent}`, created_at: 0 },
            test_data: isTest ? 1 : 0,
          };
          await tx.db.insert(submissions).values(submission).onConflictDoNothing();
        }
        return saved;
      });
      const provenance = { ...before.provenance, [field]: agreement };
      const after = { ...before, [field]: valueOf(field), provenance };
      await store.write((tx) => saveNonprofits(tx, [{ before, after }], context));

      const of = { id: before.id, thin: thinFields(after).length > 0 };
      expect(await isThin(of.id)).toBe(of.thin);
      const agents = new Map<string, Map<number, boolean>>();
      for (const [at, agent, isTest] of open) {
        if (at === field) continue;
        const known = agents.get(at) ?? new Map<number, boolean>();
        if (!known.has(agent)) known.set(agent, isTest);
        agents.set(at, known);
      }
      const waiting = [...agents]
        .map(([at, sentBy]) => [at, [...sentBy.values()].filter((isTest) => !isTest).length])
        .filter(([, count]) => count !== 0);
      expect(new Map(await pendingOf(of.id))).toEqual(new Map(waiting as [string, number][]));
      const [newest] = await store.db
        .select()
        .from(changes)
        .where(eq(changes.nonprofit_id, of.id))
        .orderBy(desc(changes.sequence))
        .limit(1);
      expect(newest?.fields).toEqual([field, "provenance"]);
      // A website makes a profile more complete, and moves it.
      const moved = field === "website" ? ["all", "cause:education", "country:KE", "thin"] : [];
      expect(newest?.moved_lists).toEqual(of.thin || moved.length > 0 ? moved : ["thin"]);
    }),
    { numRuns: 60 },
  );
});

async function isThin(id: number): Promise<boolean> {
  const found = await store.db.select().from(listings).where(eq(listings.nonprofit_id, id));
  return found.some(({ list }) => list === "thin");
}

async function pendingOf(id: number): Promise<[string, number][]> {
  const found = await store.db
    .select()
    .from(pendingFields)
    .where(eq(pendingFields.nonprofit_id, id));
  return found.map(({ field, pending }) => [field, pending]);
}

test("a directory fact that is so already changes nothing", async () => {
  const fact = { name: "publication_day", value: "2026-11-21", now };
  const before = await store.db.$count(changes);
  await store.write((tx) => saveDirectoryFact(tx, fact));
  await store.write((tx) => saveDirectoryFact(tx, { ...fact, now: new Date() }));
  expect(await store.db.$count(changes)).toBe(before + 1);
});
