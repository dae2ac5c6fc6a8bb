import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Database } from "bun:sqlite";
import { closeFeedFiles, feedEntries, feedFile } from "#content/feed/store.ts";
import { changesAfter, historyAnswer, newestSequence } from "#content/nonprofit/changes-store.ts";
import { indexWords } from "#content/nonprofit/filters.ts";
import { listingsOf } from "#content/nonprofit/listing.ts";
import { idsInList, listCounts } from "#content/nonprofit/list-store.ts";
import { recordBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { listings, nonprofits } from "#content/store/tables/nonprofits.ts";
import { donationIntents, donations } from "#content/store/tables/giving.ts";
import { onboardingSubmissions } from "#content/store/tables/onboarding.ts";
import { aService, type TestService } from "#test/support/service.ts";

// Written by version 0.3.0: a sample of 20 profiles; Lantern Trust, for which two agents agreed on a year, one sent a
// region and someone sent a claim; a donation that is awaited; and a feed whose first file is closed.
const written = join(import.meta.dirname, "../../support/stores/store-of-0.3.0.db.gz");
const folder = mkdtempSync(join(tmpdir(), "almoner-older-"));
let store: Store;
let service: TestService;

beforeAll(async () => {
  const path = join(folder, "store.db");
  writeFileSync(path, gunzipSync(await Bun.file(written).bytes()));
  const older = new Database(path);
  older.run(`INSERT INTO donations (id, nonprofit_id, amount_micro_usdc, network, tx_signature, slot, destination,
    settled_at, recorded_at) VALUES ('gift', 1, 5000000, 'solana:x', 'sig', 7, 'account', 1000, 2000)`);
  // Ids that differ in spaces were agents of their own, each with a value and a draft that wait.
  for (const [id, agent] of ["field  team   1", "field team  1", "field team 1"].entries()) {
    older.run(
      `INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status,
        created_at) VALUES (2, 'city', 'structured', ?1, ?1, ?2, 'Field team', 'pending', ?3)`,
      [`city-${id}`, agent, id],
    );
    older.run(
      `INSERT INTO agents (agent_id, agent_name, submissions, nonprofits_touched, last_seen)
        VALUES (?1, 'Field team', 1, 1, ?2)`,
      [agent, id],
    );
    older.run(
      `INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id,
        agent_name, phase, status, created_at) VALUES (2, '[]', ?1, '', '', ?2, 'Field team', 3, 'pending', ?3)`,
      [`["${id}"]`, agent, id],
    );
  }
  older.run(`INSERT INTO donations (id, nonprofit_id, amount_micro_usdc, network, tx_signature, slot, destination, recipient,
    mint, settled_at, recorded_at) VALUES ('kept', 1, 5000000, 'solana:x', 'sig-2', 7, 'account', 'wallet', 'mint', 1000, 2000)`);
  older.close();
  store = await openStore({ url: `file:${path}` });
  service = await aService({ context: { store } });
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true });
});

test("a store of the version before is read as it was written", async () => {
  const lantern = await recordBySlug(store, "lantern-trust");
  expect(lantern).toMatchObject({ founded_year: 1999, region: null, status: "listed" });
  expect(lantern?.provenance["founded_year"]).toMatchObject({
    set_by: "consensus",
    source_url: "https://b.example/about",
    agents: ["Bot A", "Bot B"],
  });
  const ids = await idsInList(store, "all");
  expect(ids).toHaveLength(21);
  expect(await recordsById(store, ids)).toHaveLength(21);
  expect((await listCounts(store)).get("all")).toBe(21);
  expect(await historyAnswer(store, "lantern-trust")).toMatchObject({ count: 2 });
  const requests = await store.db.select().from(onboardingSubmissions);
  expect(requests).toMatchObject([
    { status: "pending_review", request: { contact_email: "office@lantern.example" } },
  ]);
  expect(await store.db.select().from(donationIntents)).toMatchObject([
    { kind: "watch", proof: "memo-of-the-fixture", status: "waiting" },
  ]);
});

test("its lists stand in the order of today", async () => {
  const records = await recordsById(store, await idsInList(store, "all"));
  const rows = await store.db.select().from(listings);
  const stored = rows.map((row) => `${row.list} ${row.nonprofit_id} ${row.tie_key}`);
  const today = records.flatMap((record) =>
    listingsOf(record).map(({ list, tie_key }) => `${list} ${record.id} ${tie_key}`),
  );
  expect(stored.sort()).toEqual(today.sort());
  const { rows: indexed } = await store.raw.execute(
    "SELECT count(*) AS places FROM search_index WHERE rowid IN (SELECT place FROM search_places)",
  );
  expect(indexed[0]?.["places"]).toBe(records.length);
  const facets = await store.db
    .select({ id: nonprofits.id, words: nonprofits.search_facets })
    .from(nonprofits);
  // The index knows no accents.
  const words = (text: string) =>
    text
      .normalize("NFD")
      .replaceAll(/\p{M}+/gu, "")
      .split(" ")
      // Points and counties of postal codes come with the next import.
      .filter((word) => !word.startsWith("\uE00C") && !word.endsWith("County\uE003"))
      .sort();
  const wordsOf = new Map(facets.map((one) => [one.id, words(one.words)]));
  for (const record of records) expect(wordsOf.get(record.id)).toEqual(words(indexWords(record)));
});

test("ids that differ in spaces have become one agent, whose newest values wait", async () => {
  const rows = async (sql: string): Promise<object[]> =>
    (await store.raw.execute(sql)).rows.map((row) => ({ ...row }));
  const ofTeam = "FROM submissions WHERE agent_id = 'field team 1' ORDER BY id";
  expect(await rows(`SELECT value, status, reason ${ofTeam}`)).toEqual([
    { value: "city-0", status: "rejected", reason: "replaced by the same agent" },
    { value: "city-1", status: "rejected", reason: "replaced by the same agent" },
    { value: "city-2", status: "pending", reason: null },
  ]);
  expect(
    await rows(
      "SELECT agent_id, submissions, nonprofits_touched FROM agents WHERE agent_id LIKE 'field%'",
    ),
  ).toEqual([{ agent_id: "field team 1", submissions: 3, nonprofits_touched: 1 }]);
  expect(
    await rows(
      "SELECT normalised FROM recommendation_drafts WHERE agent_id = 'field team 1' AND status = 'pending'",
    ),
  ).toEqual([{ normalised: '["2"]' }]);
  const bound = await service.post("/api/agents", { agent_id: "field  team 1" });
  expect((await bound.json()).code).toBe("agent_in_use");
});

test("its gifts are kept, and looked at again where enough is known of them", async () => {
  expect(await store.db.select().from(donations)).toMatchObject([
    { id: "gift", amount_micro_usdc: 5_000_000, commitment: "confirmed", slot: 7, check_at: null },
    { id: "kept", mint: "mint", check_at: 2_000 },
  ]);
});

test("it goes on: agents agree, and the feed closes its next file", async () => {
  const before = await newestSequence(store);
  const enriched = await service.post("/api/enrich/lantern-trust", {
    agent_id: "bot-b",
    agent_name: "Bot B",
    field: "region",
    value: "Viken",
  });
  expect(await enriched.json()).toMatchObject({ submissions: [{ status: "applied" }] });
  const changes = await changesAfter(store, before, 10);
  expect(changes).toMatchObject([{ slug: "lantern-trust", fields: ["region", "provenance"] }]);
  expect(await (await service.get("/api/nonprofits/lantern-trust")).json()).toMatchObject({
    region: "Viken",
    founded_year: 1999,
  });
  const upTo = await newestSequence(store);
  const files = await closeFeedFiles(store, { after: before, upTo, now: new Date() });
  expect(files).toEqual([2]);
  const file = await feedFile(store, 2);
  if (file === null) throw new Error("there is no second file");
  expect((await feedEntries(store, file)).at(-1)).toMatchObject({
    sequence: upTo,
    kind: "changed",
  });
});
