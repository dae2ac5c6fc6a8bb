import { describe, expect, test } from "bun:test";
import { createApp } from "#api/app.ts";
import { listReviews } from "#api/operator/requests.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService, type TestService, testNow } from "#test/support/service.ts";

let caller = 0;

const service = await theService({ env: { ALMONER_TRUSTED_HOPS: "1" } });

const add = async (parts: Partial<NonprofitRecord> = {}) => {
  const [record] = await service.add(aNonprofit(parts));
  if (record === undefined) throw new Error("nothing was added");
  return record;
};
const recordOf = async (slug: string) => {
  const record = await recordBySlug(service.store, slug);
  if (record === null) throw new Error(`no ${slug}`);
  return record;
};
const change = async (slug: string, parts: Partial<NonprofitRecord>, origin = "test") => {
  const before = await recordOf(slug);
  const saves = [{ before, after: { ...before, ...parts } }];
  await service.store.write((tx) => saveNonprofits(tx, saves, { origin, now: testNow }));
};

type Said = { status: string; confidence: number; applied: boolean; promotion_note: string };
type From = { app?: TestService["app"]; ip?: string };
async function submit(
  slug: string,
  agent_id: string,
  field: string,
  value: string,
  from: From = {},
) {
  const { app = service.app, ip = `10.2.${(caller >> 8) & 255}.${caller++ & 255}` } = from;
  const headers = { "content-type": "application/json", "x-forwarded-for": ip };
  const body = JSON.stringify({ field, value, agent_id });
  const url = `http://localhost/api/enrich/${slug}`;
  const response = await app.handle(new Request(url, { method: "POST", headers, body }));
  const [submission] = ((await response.json()) as { submissions: [Said] }).submissions;
  return submission;
}
const submissionsOf = (nonprofit_id: number) =>
  service.rows("SELECT * FROM submissions WHERE nonprofit_id = ?", [nonprofit_id]);

const allButTheCity = {
  description: "d",
  website: "https://a.example",
  region: "r",
  mission: "m",
  founded_year: 1999,
  contact_email: "a@b.example",
};

test.each([{}, allButTheCity])(
  "applying an agreed value has the effect of a save, also as the last empty field: %j",
  async (parts) => {
    const agents = ["bot-a", "bot-b"];
    const twin = { ...parts, name: "Twin" };
    const enriched = await add(twin);
    const saved = await add(twin);
    for (const agent of agents) await submit(enriched.slug, agent, "city", "Oslo");
    const provenance = { city: sourceFrom("consensus", testNow.getTime(), { agents }) };
    await change(saved.slug, { city: "Oslo", provenance }, "consensus");
    const own = { id: 0, slug: "" };
    const one = await recordOf(enriched.slug);
    const other = await recordOf(saved.slug);
    expect({ ...one, ...own }).toEqual({ ...other, ...own });
    const listsSql = `SELECT list, list_order, impact_order, tie_key FROM listings
      WHERE nonprofit_id = ? ORDER BY list`;
    const lists = (id: number) => service.rows(listsSql, [id]);
    expect(await lists(enriched.id)).toEqual(await lists(saved.id));
    const changes = await changesAfter(service.store, 0, 10_000);
    const [first, second] = [enriched, saved].map(({ id }) => {
      const last = changes.findLast(({ nonprofit_id }) => nonprofit_id === id);
      return { ...last, sequence: 0, nonprofit_id: 0, slug: "" };
    });
    expect(first).toEqual(second);
  },
);

test.each([
  ["of which only its postcode tells is replaced", { rule: "from postcode CV8" }, "Stoneleigh"],
  ["that a register states stays", {}, "Kenilworth"],
])("a town %s by one that agents agree on", async (_, rule, city) => {
  const read = sourceFrom("register", 0, { source: "ukcat" });
  const { slug } = await add({ city: "Kenilworth", provenance: { city: { ...read, ...rule } } });
  await submit(slug, "bot-a", "city", "Stoneleigh");
  expect((await recordOf(slug)).city).toBe("Kenilworth");
  await submit(slug, "bot-b", "city", "Stoneleigh");
  const set_by = city === "Kenilworth" ? "register" : "consensus";
  expect(await recordOf(slug)).toMatchObject({ city, provenance: { city: { set_by } } });
});

test("the counters are what counting would give", async () => {
  const one = await add();
  const two = await add();
  const three = await add();
  for (const [{ slug }, field, value, ...agents] of [
    [one, "city", "Oslo", "a1"],
    [one, "city", "Bergen", "a2"],
    [one, "city", "Oslo", "a2", "a3"],
    [one, "city", "Hamar", "a4", "a5"],
    [two, "mission", "Food.", "a1", "a2"],
    [two, "region", "Viken", "a1"],
    [two, "region", "Innlandet", "a1"],
    [three, "city", "Oslo", "test-bot"],
    [three, "website", "https://example.org", "a1"],
    [three, "founded_year", "1999", "a1", "a2", "a2"],
  ] as const)
    for (const agent of agents) await submit(slug, agent, field, value);
  const { rows } = service;
  const counts = await rows(
    "SELECT name, count FROM enrichment_counts WHERE count <> 0 ORDER BY name",
  );
  expect(counts).toEqual(
    await rows(`
    SELECT 'high_confidence' AS name, count(*) AS count FROM submissions WHERE confidence > 1
    UNION ALL SELECT 'nonprofits_improved', count(DISTINCT nonprofit_id) FROM submissions WHERE status = 'applied'
    UNION ALL SELECT 'status:' || status, count(*) FROM submissions GROUP BY status
    UNION ALL SELECT 'field:' || field, count(*) FROM submissions GROUP BY field ORDER BY name`),
  );
  const agents = await rows(
    "SELECT agent_id, submissions, applied, nonprofits_touched FROM agents ORDER BY agent_id",
  );
  expect(agents).toEqual(
    await rows(`SELECT agent_id, count(*) FILTER (WHERE test_data = 0) AS submissions,
        count(*) FILTER (WHERE status = 'applied' AND test_data = 0) AS applied,
        count(DISTINCT nonprofit_id) FILTER (WHERE test_data = 0) AS nonprofits_touched
      FROM submissions GROUP BY agent_id ORDER BY agent_id`),
  );
  expect(
    await rows("SELECT nonprofit_id, field, pending FROM pending_fields ORDER BY 1, 2"),
  ).toEqual(
    await rows(`SELECT nonprofit_id, field, count(*) AS pending FROM submissions
      WHERE status = 'pending' AND audit_only = 0 AND field_type = 'structured' AND test_data = 0 GROUP BY 1, 2 ORDER BY 1, 2`),
  );
});

test("test data and test agents are taken, but stand in no leaderboard and ask for no second opinion", async () => {
  const { slug } = await add();
  expect((await submit(slug, "debug-7", "city", "Lillehammer")).status).toBe("pending");
  await submit(slug, "honest-7", "website", "https://example.com/about");
  const read = async (path: string) => (await service.get(path)).text();
  for (const path of ["agents/leaderboard", "needs-enrichment?pending=true", "agents/exemplars"])
    expect(await read(`/api/${path}`)).not.toMatch(/debug-7|example\.com/);
  expect(await read("/api/enrichments/stats")).toContain("debug-7");
});

describe("what a profile holds", () => {
  test("keeps others out also where no agent could have sent it", async () => {
    const { slug } = await add({ founded_year: 850, city: "," });
    for (const agent of ["b1", "b2", "b1"]) {
      const year = await submit(slug, agent, "founded_year", "1850");
      expect(year).toMatchObject({ status: "pending", applied: false });
      expect((await submit(slug, agent, "city", "Oslo")).promotion_note).toContain("audit");
    }
    await submit(slug, "b1", "city", "Bergen");
    expect(await recordOf(slug)).toMatchObject({ founded_year: 850, city: "," });
  });

  test("is not said to be what an agent once made live, after it was replaced", async () => {
    const { slug, id } = await add();
    await submit(slug, "c1", "city", "Oslo");
    expect((await submit(slug, "c2", "city", "Oslo")).status).toBe("applied");
    expect((await submit(slug, "c1", "city", "Oslo")).status).toBe("applied");
    await change(slug, { city: "Bergen" });
    const late = await submit(slug, "c1", "city", "Oslo");
    expect(late).toMatchObject({ status: "pending", applied: false, confidence: 2 });
    expect(late.promotion_note).toContain("stays as it is");
    await submit(slug, "c1", "city", "Oslo");
    expect(await submissionsOf(id)).toHaveLength(3);
  });

  test("counts an agent among its sources that had said so before", async () => {
    const provenance = { city: sourceFrom("register", 0) };
    const { slug } = await add({ city: "Hamar", provenance });
    await submit(slug, "d1", "city", "Oslo");
    await change(slug, { city: "Oslo" });
    const again = await submit(slug, "d1", "city", "Oslo");
    expect(again).toMatchObject({ status: "pending", confidence: 1 });
    expect(again.promotion_note).toContain("counted among its corroborations");
    expect((await recordOf(slug)).provenance["city"]).toMatchObject({
      agents: [],
      corroborations: 1,
    });
  });
});

describe("the strict mode", () => {
  const home = "192.0.2.1";
  const near = "192.0.2.200";
  const away = "198.51.100.1";
  const appIn = (consensus: "agents" | "networks") =>
    createApp({ ...service.context, config: { ...service.context.config, consensus } });

  test("takes two agents on two networks, and asks for a second opinion until then", async () => {
    const env = { ALMONER_TRUSTED_HOPS: "1", ALMONER_CONSENSUS: "networks" };
    using strict = await aService({ env, records: [aNonprofit({ slug: "oak" })] });
    const from = (ip: string, agent: string) =>
      submit("oak", agent, "city", "Oslo", { app: strict.app, ip });
    type Asked = { submitted_by: string; action: string };
    const wanted = async (): Promise<Asked[]> =>
      (await strict.json("/api/needs-enrichment?pending=true")).nonprofits.flatMap(
        (one: { second_opinion_needed?: Asked[] }) => one.second_opinion_needed ?? [],
      );
    await from(home, "a");
    const second = await from(near, "b");
    expect(second).toMatchObject({ status: "pending", confidence: 2 });
    expect(second.promotion_note).toContain("another network");
    const action = expect.stringContaining("in another network");
    expect(await wanted()).toMatchObject([{ submitted_by: "a", action }]);
    const { reviews } = await listReviews(strict.context, { kind: "contested", limit: 5 });
    const summary = expect.stringContaining("Agents agree on city");
    expect(reviews).toMatchObject([{ summary }]);
    expect(await from(away, "c")).toMatchObject({ status: "applied", confidence: 3 });
    expect(await wanted()).toEqual([]);
    const kept = await strict.rows("SELECT network FROM submissions");
    expect(JSON.stringify(kept)).not.toMatch(/192\.0|2001:/);
  });

  test("what was stored without a network counts once it is sent again", async () => {
    const { slug, id } = await add();
    await submit(slug, "early", "city", "Oslo");
    // As it was before networks were kept.
    await service.store.write((tx) => tx.raw.execute("UPDATE submissions SET network = NULL"));
    const from = (ip: string, agent: string) =>
      submit(slug, agent, "city", "Oslo", { app: appIn("networks"), ip });
    expect(await from(home, "late")).toMatchObject({ status: "pending", confidence: 2 });
    const applied = { status: "applied", confidence: 2 };
    expect(await from(away, "early")).toMatchObject(applied);
    expect(await submissionsOf(id)).toMatchObject([applied, applied]);
  });

  test("what two agents of one network sent goes live, once it is switched off and one sends it again", async () => {
    const { slug, id } = await add();
    const strict = appIn("networks");
    const plain = appIn("agents");
    const from = (app: typeof strict, agent: string) =>
      submit(slug, agent, "city", "Oslo", { app, ip: home });
    await from(strict, "one");
    for (const agent of ["two", "one"])
      expect(await from(strict, agent)).toMatchObject({ status: "pending", confidence: 2 });
    expect(await from(plain, "one")).toMatchObject({ status: "applied", confidence: 2 });
    // What is decided needs no network any more.
    const decided = { status: "applied", network: null };
    expect(await submissionsOf(id)).toMatchObject([decided, decided]);
  });

  test.each(["networks", "agents"] as const)(
    "by %s: the network is kept of what waits, and of nothing that is only logged",
    async (consensus) => {
      const { slug, id } = await add({ city: "Oslo" });
      const app = appIn(consensus);
      for (const [field, value] of [
        ["city", "Oslo"],
        ["mission", "Food."],
        ["region", "Viken"],
        ["region", "Innlandet"],
      ] as const)
        await submit(slug, "waits", field, value, { app });
      const kept = (await submissionsOf(id)).filter(({ network }) => network !== null);
      expect(kept).toMatchObject([{ value: "Food." }, { value: "Innlandet" }]);
    },
  );
});

describe("batched writes", () => {
  const insertSql = "INSERT INTO directory_facts VALUES (?, '', 0)";

  test("that arrive together share a transaction, a failing one fails alone", async () => {
    const run = (at: number) =>
      batchedWrite(service.store, [], async () => {
        if (at === 7) throw new Error("a bug");
        const statements = [{ sql: insertSql, args: [`batch-${at}`] }];
        return { statements, answer: () => at * 2 };
      });
    const settled = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => run(at)));
    expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(settled[7]).toMatchObject({ status: "rejected" });
    expect(settled[8]).toEqual({ status: "fulfilled", value: 16 });
    const written = "SELECT name FROM directory_facts WHERE name LIKE 'batch-%'";
    expect(await service.rows(written)).toHaveLength(19);
    const before = service.store.committed();
    await Promise.all(Array.from({ length: 20 }, (_, at) => run(100 + at)));
    expect(service.store.committed()).toBe(before + 1);
  });

  test("are not tried again one by one when the store itself cannot write", async () => {
    let tries = 0;
    const run = () =>
      batchedWrite(service.store, [], () => {
        tries += 1;
        return Promise.reject(Object.assign(new Error("disk full"), { code: "SQLITE_FULL" }));
      });
    const settled = await Promise.allSettled(Array.from({ length: 20 }, run));
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(tries).toBe(1);
  });
});
