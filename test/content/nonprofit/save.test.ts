import { expect, test } from "bun:test";
import { and, desc, eq, inArray } from "drizzle-orm";
import * as fc from "fast-check";
import { type EnrichableField, structuredFields } from "#content/contract/enrichment.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { saveDirectoryFact, saveNonprofits } from "#content/nonprofit/save.ts";
import { wantedFields } from "#content/contract/enrichment.ts";
import { listedChunks } from "#content/nonprofit/list-store.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import { openStore } from "#content/store/open.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { listings } from "#content/store/tables/nonprofits.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { theStore } from "#test/support/blank-store.ts";

const store = await theStore({ url: ":memory:" });

const now = new Date("2026-11-01");
const context = { origin: "test", now };
const values = { city: "Oslo", region: "Viken", website: "https://a.example", founded_year: 1999 };
const valueOf = (field: string) => values[field as keyof typeof values] ?? "a@b.example";
const agreement = sourceFrom("consensus", now.getTime(), { agents: ["bot-a", "bot-b"] });

const wanted = fc.subarray([...wantedFields]);
const fields = fc.constantFrom(...structuredFields);
const asked = fc.array(fc.tuple(fields, fc.nat({ max: 3 }), fc.boolean()), { maxLength: 6 });

type Sent = { field: EnrichableField; test_data: number; agent_id?: string; network?: string };
const aSubmission = (nonprofit_id: number, sent: Sent) => ({
  nonprofit_id,
  value: "a",
  normalised_value: "a",
  agent_name: "a",
  created_at: 0,
  ...({ agent_id: `a${sent.test_data}`, field_type: "structured", status: "pending" } as const),
  ...sent,
});

test.each(structuredFields)("a filled %s waits for nothing, and lists and feed follow", (field) =>
  fc.assert(
    fc.asyncProperty(wanted, asked, async (filled, others) => {
      const sent = [[field, 0, false] as const, ...others];
      const parts = Object.fromEntries(filled.map((one) => [one, valueOf(one)]));
      const open = sent.filter(([at]) => !(at in parts) || at === field);
      const record = aNonprofit({ ...parts, [field]: null });
      const before = await store.write(async (tx) => {
        const [saved] = await saveNonprofits(tx, [{ before: null, after: record }], context);
        if (saved === undefined) throw new Error("nothing was saved");
        for (const [at, agent, isTest] of open) {
          const submission = { field: at, agent_id: `${agent}`, test_data: isTest ? 1 : 0 };
          await tx.db
            .insert(submissions)
            .values(aSubmission(saved.id, submission))
            .onConflictDoNothing();
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
    { numRuns: isFull ? 12 : 4 },
  ),
);

test("of profiles that are saved together each has what waits for it brought up to date", async () => {
  const listed = await saveNew(store, aNonprofit(), aNonprofit(), aNonprofit());
  const sent: Sent[] = [
    { field: "city", test_data: 0, network: "n" },
    { field: "website", test_data: 0 },
    { field: "website", test_data: 1 },
  ];
  await store.write(async (tx) => {
    for (const { id } of listed)
      for (const one of sent) await tx.db.insert(submissions).values(aSubmission(id, one));
  });
  const [filled, withdrawn, moved] = [
    { city: "Oslo" },
    { status: "withdrawn" as const },
    { beneficiaries_per_year: 12_345 },
  ];
  const edits = [filled, withdrawn, moved];
  const saves = listed.map((before, at) => ({ before, after: { ...before, ...edits[at] } }));
  const saved = await store.write((tx) => saveNonprofits(tx, saves, context));
  const ids = listed.map(({ id }) => id);
  const waiting = await Promise.all(ids.map((id) => pendingOf(id)));
  expect(waiting).toEqual([
    [["website", 1]],
    [],
    [
      ["city", 1],
      ["website", 1],
    ],
  ]);
  const { nonprofit_id, field, audit_only, network } = submissions;
  const logged = await store.db
    .select({ nonprofit_id, field, network })
    .from(submissions)
    .where(and(inArray(nonprofit_id, ids), eq(audit_only, 1)));
  expect(logged).toEqual([{ nonprofit_id: ids[0] ?? 0, field: "city", network: null }]);
  const back = saved.map((before) => ({ before, after: { ...before, status: "listed" as const } }));
  await store.write((tx) => saveNonprofits(tx, back, context));
  expect(await pendingOf(ids[1] ?? 0)).toEqual(waiting[2] ?? []);
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

test("the totals of lists are what their places add up to, and the sitemaps' days the newest", async () => {
  const changed = fc.record({
    id: fc.nat({ max: 5 }),
    verified: fc.constantFrom(0 as const, 1 as const),
    beneficiaries_per_year: fc.option(fc.nat({ max: 10_000 })),
    country_code: fc.constantFrom("KE", "NO", null),
    status: fc.constantFrom("listed" as const, "withdrawn" as const),
  });
  using held = await openStore({ url: ":memory:" });
  const known = new Map<number, Awaited<ReturnType<typeof saveNonprofits>>[number]>();
  let day = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(changed, { maxLength: 5 }), async (edits) => {
      for (const { id, ...edit } of edits) {
        const before = known.get(id) ?? null;
        const after = { ...(before ?? aNonprofit({ slug: `n-${id}` })), ...edit };
        const at = { origin: "test", now: new Date(++day * 1_000) };
        const [saved] = await held.write((tx) => saveNonprofits(tx, [{ before, after }], at));
        if (saved !== undefined) known.set(id, saved);
      }
      const { rows } = await held.raw.execute(`
        SELECT list, count(*) AS members, sum(n.verified) AS verified, total(n.beneficiaries_per_year) AS people
        FROM listings JOIN nonprofits AS n ON n.id = nonprofit_id GROUP BY list ORDER BY list`);
      const totals = await held.raw.execute(
        "SELECT * FROM list_totals WHERE members > 0 ORDER BY list",
      );
      expect(totals.rows.map((row) => Object.values(row))).toEqual(
        rows.map((row) => Object.values(row)),
      );
      const newest = Math.max(...[...known.values()].map(({ updated_at }) => updated_at));
      const isListed = [...known.values()].some(({ status }) => status !== "withdrawn");
      expect(await listedChunks(held)).toEqual(isListed ? [{ chunk: 1, updated_at: newest }] : []);
    }),
    { numRuns: isFull ? 30 : 12 },
  );
});
