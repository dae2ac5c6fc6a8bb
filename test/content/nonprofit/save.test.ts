import { afterAll, beforeAll, expect, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import * as fc from "fast-check";
import { structuredFields } from "#content/contract/enrichment.ts";
import type { StoredProvenance } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveDirectoryFact, saveField, saveNonprofits } from "#content/nonprofit/save.ts";
import { wantedFields } from "#content/nonprofit/listing.ts";
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

/** All that is stored of a nonprofit, but what tells it from its twin. */
async function storedOf(id: number) {
  const { db } = store;
  const rows = [
    await recordsById(store, [id]),
    await db.select().from(listings).where(eq(listings.nonprofit_id, id)).orderBy(listings.list),
    await db
      .select()
      .from(pendingFields)
      .where(eq(pendingFields.nonprofit_id, id))
      .orderBy(pendingFields.field),
    await db
      .select()
      .from(submissions)
      .where(eq(submissions.nonprofit_id, id))
      .orderBy(submissions.id),
    await db
      .select()
      .from(changes)
      .where(eq(changes.nonprofit_id, id))
      .orderBy(desc(changes.sequence))
      .limit(1),
  ];
  return rows.map((some: readonly object[]) =>
    some.map((row) => ({ ...row, id: 0, slug: "", nonprofit_id: 0, sequence: 0 })),
  );
}

const wanted = fc.subarray([...wantedFields]);
const fields = fc.constantFrom(...structuredFields);
const asked = fc.array(fc.tuple(fields, fc.nat({ max: 3 }), fc.boolean()), { maxLength: 6 });

test("one field is saved with the effect of saving the whole record", async () => {
  await fc.assert(
    fc.asyncProperty(wanted, fields, asked, fc.boolean(), async (filled, field, sent, verified) => {
      const parts = Object.fromEntries(filled.map((one) => [one, valueOf(one)]));
      const twin = { ...parts, [field]: null, name: "Twin", verified: verified ? 1 : 0 } as const;
      const saves = [aNonprofit(twin), aNonprofit(twin)].map((after) => ({ before: null, after }));
      const [whole, single] = await store.write(async (tx) => {
        const records = await saveNonprofits(tx, saves, context);
        for (const { id } of records) {
          for (const [at, agent, test_data] of sent) {
            if (at in parts && at !== field) continue; // Only open fields wait for a second agent.
            const submission = {
              ...{ nonprofit_id: id, field: at, value: "a", normalised_value: "a" },
              ...{ field_type: "structured" as const, status: "pending" as const },
              ...{ agent_id: `${agent}`, agent_name: `${agent}`, created_at: 0 },
              test_data: test_data ? 1 : 0,
            };
            await tx.db.insert(submissions).values(submission).onConflictDoNothing();
          }
        }
        return records;
      });
      if (whole === undefined || single === undefined) throw new Error("nothing was saved");
      const value = valueOf(field);
      const provenance = { ...whole.provenance, [field]: agreement };
      await store.write((tx) =>
        saveNonprofits(
          tx,
          [{ before: whole, after: { ...whole, [field]: value, provenance } }],
          context,
        ),
      );
      const save = { nonprofit_id: single.id, field, value, provenance: agreement };
      const sequence = await store.write((tx) => saveField(tx, save, context));
      expect(sequence).toBeGreaterThan(0);
      expect(await storedOf(single.id)).toEqual(await storedOf(whole.id));
      expect(await store.write((tx) => saveField(tx, save, context))).toBeNull();
    }),
    { numRuns: 60 },
  );
});

test("a directory fact that is so already changes nothing", async () => {
  const fact = { name: "publication_day", value: "2026-11-21", now };
  const before = await store.db.$count(changes);
  await store.write((tx) => saveDirectoryFact(tx, fact));
  await store.write((tx) => saveDirectoryFact(tx, { ...fact, now: new Date() }));
  expect(await store.db.$count(changes)).toBe(before + 1);
});
