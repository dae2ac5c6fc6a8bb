import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createApp } from "#api/app.ts";
import { listReviews } from "#api/operator/requests.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { changesAfter } from "#content/nonprofit/changes-store.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService, testNow } from "#test/support/service.ts";

let service: TestService;
let caller = 0;
const address = () => ({ "x-forwarded-for": `10.2.${(caller >> 8) & 255}.${caller++ & 255}` });

beforeAll(async () => {
  service = await aService({ env: { ALMONER_TRUSTED_HOPS: "1" } });
});
afterAll(() => service.close());

const add = async (parts: Partial<NonprofitRecord> = {}) => {
  const [record] = await service.add(aNonprofit(parts));
  if (record === undefined) throw new Error("nothing was added");
  return record;
};

type Said = { status: string; confidence: number; applied: boolean; promotion_note: string };
async function submit(slug: string, agent_id: string, field: string, value: string, to = service) {
  const response = await to.post(`/api/enrich/${slug}`, { field, value, agent_id }, address());
  const body = (await response.json()) as { submissions: Said[] };
  const [submission] = body.submissions;
  if (submission === undefined) throw new Error("no submission");
  return submission;
}

const rowsOf = async (sql: string, args: (string | number)[] = []) =>
  (await service.store.raw.execute({ sql, args })).rows.map((row) => ({ ...row }));

describe("applying an agreed value has the effect of a save", () => {
  test.each([
    ["while other fields are empty", {}],
    [
      "as the last empty field",
      {
        description: "d",
        website: "https://a.example",
        region: "r",
        mission: "m",
        founded_year: 1999,
        contact_email: "a@b.example",
      },
    ],
  ])("%s", async (_, parts) => {
    // Of twins one is enriched, the other saved.
    const [enriched, saved] = [
      await add({ ...parts, name: "Twin" }),
      await add({ ...parts, name: "Twin" }),
    ];
    await submit(enriched.slug, "bot-a", "city", "Oslo");
    await submit(enriched.slug, "bot-b", "city", "Oslo");
    const after = {
      ...saved,
      city: "Oslo",
      provenance: {
        city: {
          set_by: "consensus",
          source: "consensus",
          source_url: null,
          agents: ["bot-a", "bot-b"],
          applied_at: testNow.getTime(),
        },
      },
    } as const satisfies NonprofitRecord;
    await service.store.write((tx) =>
      saveNonprofits(
        tx,
        [
          {
            before: saved,
            after: {
              ...after,
              provenance: { city: { ...after.provenance.city, agents: ["bot-a", "bot-b"] } },
            },
          },
        ],
        { origin: "consensus", now: testNow },
      ),
    );
    const own = { id: 0, slug: "" };
    expect({ ...(await recordBySlug(service.store, enriched.slug)), ...own }).toEqual({
      ...(await recordBySlug(service.store, saved.slug)),
      ...own,
    });
    const lists = (id: number) =>
      rowsOf(
        "SELECT list, list_order, impact_order, tie_key FROM listings WHERE nonprofit_id = ? ORDER BY list",
        [id],
      );
    expect(await lists(enriched.id)).toEqual(await lists(saved.id));
    const changes = await changesAfter(service.store, 0, 10_000);
    const last = (id: number) => {
      const {
        sequence: _sequence,
        nonprofit_id: _id,
        slug: _slug,
        ...rest
      } = changes.findLast((one) => one.nonprofit_id === id) ?? {
        sequence: 0,
        nonprofit_id: 0,
        slug: "",
      };
      return rest;
    };
    expect(last(enriched.id)).toEqual(last(saved.id));
  });
});

test("a town that only its postcode names is replaced by one that agents agree on", async () => {
  const read = sourceFrom("register", 0, { source: "ukcat" });
  const provenance = { city: { ...read, rule: "from postcode CV8" } };
  const { slug } = await add({ city: "Kenilworth", provenance });
  await submit(slug, "bot-a", "city", "Stoneleigh");
  expect((await recordBySlug(service.store, slug))?.city).toBe("Kenilworth");
  expect(await submit(slug, "bot-b", "city", "Stoneleigh")).toMatchObject({ status: "applied" });
  const after = await recordBySlug(service.store, slug);
  expect(after).toMatchObject({
    city: "Stoneleigh",
    provenance: { city: { set_by: "consensus" } },
  });
  const stated = await add({ city: "Leeds", provenance: { city: read } });
  await submit(stated.slug, "bot-a", "city", "York");
  await submit(stated.slug, "bot-b", "city", "York");
  expect((await recordBySlug(service.store, stated.slug))?.city).toBe("Leeds");
});

test("the counters are what counting would give", async () => {
  const [one, two, three] = [await add(), await add(), await add()];
  for (const [slug, agent, field, value] of [
    [one.slug, "a1", "city", "Oslo"],
    [one.slug, "a2", "city", "Bergen"],
    [one.slug, "a2", "city", "Oslo"],
    [one.slug, "a3", "city", "Oslo"],
    [one.slug, "a4", "city", "Hamar"],
    [one.slug, "a5", "city", "Hamar"],
    [two.slug, "a1", "mission", "Food."],
    [two.slug, "a2", "mission", "Food."],
    [two.slug, "a1", "region", "Viken"],
    [two.slug, "a1", "region", "Innlandet"],
    [three.slug, "test-bot", "city", "Oslo"],
    [three.slug, "a1", "website", "https://example.org"],
    [three.slug, "a1", "founded_year", "1999"],
    [three.slug, "a2", "founded_year", "1999"],
    [three.slug, "a2", "founded_year", "1999"],
  ] as const)
    await submit(slug, agent, field, value);
  const counts = Object.fromEntries(
    (await rowsOf("SELECT name, count FROM enrichment_counts WHERE count <> 0")).map(
      ({ name, count }) => [String(name), count],
    ),
  );
  const counted = await rowsOf(`
    SELECT 'high_confidence' AS name, count(*) AS count FROM submissions WHERE confidence > 1
    UNION ALL SELECT 'nonprofits_improved', count(DISTINCT nonprofit_id) FROM submissions WHERE status = 'applied'
    UNION ALL SELECT 'status:' || status, count(*) FROM submissions GROUP BY status
    UNION ALL SELECT 'field:' || field, count(*) FROM submissions GROUP BY field`);
  expect(counts).toEqual(
    Object.fromEntries(counted.map(({ name, count }) => [String(name), count])),
  );
  expect(
    await rowsOf(
      "SELECT agent_id, submissions, applied, nonprofits_touched FROM agents ORDER BY agent_id",
    ),
  ).toEqual(
    await rowsOf(`SELECT agent_id, count(*) FILTER (WHERE test_data = 0) AS submissions,
        count(*) FILTER (WHERE status = 'applied' AND test_data = 0) AS applied,
        count(DISTINCT nonprofit_id) FILTER (WHERE test_data = 0) AS nonprofits_touched
      FROM submissions GROUP BY agent_id ORDER BY agent_id`),
  );
  expect(
    await rowsOf("SELECT nonprofit_id, field, pending FROM pending_fields ORDER BY 1, 2"),
  ).toEqual(
    await rowsOf(`SELECT nonprofit_id, field, count(*) AS pending FROM submissions
      WHERE status = 'pending' AND audit_only = 0 AND field_type = 'structured' AND test_data = 0 GROUP BY 1, 2 ORDER BY 1, 2`),
  );
});

test("test data and test agents are taken, but stand in no leaderboard and ask for no second opinion", async () => {
  const { slug } = await add();
  const said = await submit(slug, "debug-7", "city", "Lillehammer");
  expect(said.status).toBe("pending");
  await submit(slug, "honest-7", "website", "https://example.com/about");
  for (const path of [
    "/api/agents/leaderboard",
    "/api/needs-enrichment?pending=true&limit=50",
    "/api/agents/exemplars",
  ]) {
    const text = await (await service.get(path)).text();
    expect(text).not.toContain("debug-7");
    expect(text).not.toContain("example.com");
  }
  const stats = await (await service.get("/api/enrichments/stats")).text();
  expect(stats).toContain("debug-7");
});

test("a withdrawn nonprofit waits for nothing, a restored one again", async () => {
  const record = await add();
  await submit(record.slug, "w1", "city", "Oslo");
  const waiting = () =>
    rowsOf("SELECT field FROM pending_fields WHERE nonprofit_id = ?", [record.id]);
  expect(await waiting()).toHaveLength(1);
  const save = async (status: "listed" | "withdrawn") => {
    const before = await recordBySlug(service.store, record.slug);
    if (before === null) throw new Error("gone");
    await service.store.write((tx) =>
      saveNonprofits(tx, [{ before, after: { ...before, status } }], {
        origin: "test",
        now: testNow,
      }),
    );
  };
  await save("withdrawn");
  expect(await waiting()).toHaveLength(0);
  await save("listed");
  expect(await waiting()).toHaveLength(1);
});

describe("what a profile holds", () => {
  const change = async (slug: string, parts: Partial<NonprofitRecord>) => {
    const before = await recordBySlug(service.store, slug);
    if (before === null) throw new Error("gone");
    await service.store.write((tx) =>
      saveNonprofits(tx, [{ before, after: { ...before, ...parts } }], {
        origin: "test",
        now: testNow,
      }),
    );
  };

  test("keeps others out also where no agent could have sent it", async () => {
    const { slug } = await add({ founded_year: 850, city: "," });
    for (const agent of ["b1", "b2", "b1"]) {
      expect(await submit(slug, agent, "founded_year", "1850")).toMatchObject({
        status: "pending",
        applied: false,
      });
      expect((await submit(slug, agent, "city", "Oslo")).promotion_note).toContain("audit");
    }
    await submit(slug, "b1", "city", "Bergen");
    const record = await recordBySlug(service.store, slug);
    expect(record).toMatchObject({ founded_year: 850, city: "," });
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
    expect(await rowsOf("SELECT id FROM submissions WHERE nonprofit_id = ?", [id])).toHaveLength(3);
  });

  test("counts an agent among its sources that had said so before", async () => {
    const { slug } = await add({
      city: "Hamar",
      provenance: {
        city: {
          set_by: "register",
          source: "register:test",
          source_url: null,
          agents: [],
          applied_at: 0,
        },
      },
    });
    await submit(slug, "d1", "city", "Oslo");
    await change(slug, { city: "Oslo" });
    const again = await submit(slug, "d1", "city", "Oslo");
    expect(again).toMatchObject({ status: "pending", confidence: 1 });
    expect(again.promotion_note).toContain("counted among its corroborations");
    const source = (await recordBySlug(service.store, slug))?.provenance["city"];
    expect(source).toMatchObject({ agents: [], corroborations: 1 });
  });
});

describe("the strict mode", () => {
  test("takes two agents on two networks", async () => {
    const strict = await aService({
      env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_CONSENSUS: "networks" },
    });
    const [record] = await strict.add(aNonprofit());
    const from = async (ip: string, agent_id: string) => {
      const response = await strict.post(
        `/api/enrich/${record?.slug}`,
        { field: "city", value: "Oslo", agent_id },
        { "x-forwarded-for": ip },
      );
      return ((await response.json()) as { submissions: Said[] }).submissions[0];
    };
    await from("192.0.2.1", "a");
    const near = await from("192.0.2.200", "b");
    expect(near).toMatchObject({ status: "pending", confidence: 2 });
    expect(near?.promotion_note).toContain("another network");
    expect(await from("198.51.100.1", "c")).toMatchObject({ status: "applied", confidence: 3 });
    const kept = (await strict.store.raw.execute("SELECT network FROM submissions")).rows;
    expect(JSON.stringify(kept)).not.toMatch(/192\.0|2001:/);
    strict.close();
  });
  test("asks for a second opinion until another network spoke", async () => {
    const strict = await aService({
      env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_CONSENSUS: "networks" },
    });
    const [record] = await strict.add(aNonprofit());
    const from = (ip: string, agent_id: string) =>
      strict.post(
        `/api/enrich/${record?.slug}`,
        { field: "city", value: "Oslo", agent_id },
        { "x-forwarded-for": ip },
      );
    const wanted = async () => {
      const { nonprofits } = (await (
        await strict.get("/api/needs-enrichment?pending=true")
      ).json()) as {
        nonprofits: { second_opinion_needed?: { submitted_by: string; action: string }[] }[];
      };
      return nonprofits.flatMap((one) => one.second_opinion_needed ?? []);
    };
    await from("192.0.2.1", "a");
    await from("192.0.2.2", "b");
    const asked = await wanted();
    expect(asked.map((one) => one.submitted_by)).toEqual(["a"]);
    expect(asked[0]?.action).toContain("in another network");
    const reviews = async () =>
      (await listReviews(strict.context, { kind: "contested", limit: 5 })).reviews.map(
        ({ summary }) => summary,
      );
    expect(await reviews()).toEqual([expect.stringContaining("Agents agree on city")]);
    await from("198.51.100.1", "c");
    expect(await wanted()).toEqual([]);
    strict.close();
  });

  test("what was stored without a network counts once it is sent again", async () => {
    const { slug } = await add();
    await submit(slug, "early", "city", "Oslo");
    // As it was before networks were kept.
    await service.store.write((tx) => tx.raw.execute("UPDATE submissions SET network = NULL"));
    const parts = {
      ...service.context,
      config: { ...service.context.config, consensus: "networks" as const },
    };
    const strict = createApp(parts);
    const from = async (ip: string, agent_id: string) => {
      const headers = { "content-type": "application/json", "x-forwarded-for": ip };
      const body = JSON.stringify({ field: "city", value: "Oslo", agent_id });
      const response = await strict.handle(
        new Request(`http://localhost/api/enrich/${slug}`, { method: "POST", headers, body }),
      );
      return ((await response.json()) as { submissions: Said[] }).submissions[0];
    };
    expect(await from("192.0.2.1", "late")).toMatchObject({ status: "pending", confidence: 2 });
    expect(await from("198.51.100.1", "early")).toMatchObject({ status: "applied", confidence: 2 });
    const stored = await rowsOf(
      "SELECT s.status || ' ' || s.confidence AS stands FROM submissions AS s JOIN nonprofits AS n ON n.id = s.nonprofit_id WHERE n.slug = ?",
      [slug],
    );
    expect(stored.map(({ stands }) => stands)).toEqual(["applied 2", "applied 2"]);
  });

  test("what two agents of one network sent goes live, once it is switched off and one sends it again", async () => {
    const { slug, id } = await add();
    const under = (consensus: "agents" | "networks") =>
      createApp({ ...service.context, config: { ...service.context.config, consensus } });
    const [strict, plain] = [under("networks"), under("agents")];
    const from = async (app: typeof strict, agent_id: string) => {
      const headers = { "content-type": "application/json", "x-forwarded-for": "192.0.2.7" };
      const body = JSON.stringify({ field: "city", value: "Oslo", agent_id });
      const response = await app.handle(
        new Request(`http://localhost/api/enrich/${slug}`, { method: "POST", headers, body }),
      );
      return ((await response.json()) as { submissions: Said[] }).submissions[0];
    };
    await from(strict, "one");
    expect(await from(strict, "two")).toMatchObject({ status: "pending", confidence: 2 });
    expect(await from(strict, "one")).toMatchObject({ status: "pending", confidence: 2 });
    expect(await from(plain, "one")).toMatchObject({ status: "applied", confidence: 2 });
    // What is decided needs no network any more.
    const left = await rowsOf(
      "SELECT status || ' ' || iif(network IS NULL, 'forgotten', 'kept') AS stands FROM submissions WHERE nonprofit_id = ?",
      [id],
    );
    expect(left.map(({ stands }) => stands)).toEqual(["applied forgotten", "applied forgotten"]);
  });

  test("keeps no network of what it does not count", async () => {
    const strict = await aService({
      env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_CONSENSUS: "networks" },
    });
    const [record] = await strict.add(aNonprofit({ city: "Oslo" }));
    const to = record?.slug ?? "";
    await submit(to, "a", "city", "Oslo", strict);
    await submit(to, "a", "mission", "Food.", strict);
    await submit(to, "a", "region", "Viken", strict);
    await submit(to, "a", "region", "Innlandet", strict);
    const { rows } = await strict.store.raw.execute(
      "SELECT value FROM submissions WHERE network IS NOT NULL",
    );
    expect(rows.map(({ value }) => value)).toEqual(["Food.", "Innlandet"]);
    strict.close();
  });

  test("keeps networks of what waits alone, like the other mode", async () => {
    const { slug } = await add();
    await submit(slug, "waits", "city", "Oslo");
    await submit(slug, "waits", "mission", "Food.");
    const kept = await rowsOf(
      "SELECT DISTINCT status, audit_only FROM submissions WHERE network IS NOT NULL",
    );
    expect(kept.map(({ status, audit_only }) => [status, audit_only])).toEqual([["pending", 0]]);
  });
});

test("30 requests a minute per address, 120 submissions a minute per agent", async () => {
  const { slug } = await add();
  const ip = { "x-forwarded-for": "10.77.0.1" };
  const post = (at: number, headers: Record<string, string>, agent_id = `r${at}`) =>
    service.post(
      `/api/enrich/${slug}`,
      { field: "city", value: `City ${"a".repeat(at % 60)}`, agent_id },
      headers,
    );
  const statuses: number[] = [];
  for (let at = 0; at < 35; at++) statuses.push((await post(at, ip)).status);
  expect(statuses.filter((status) => status !== 429)).toHaveLength(30);
  let last = 0;
  for (let at = 0; at < 121; at++) last = (await post(at, address(), "One Agent")).status;
  expect(last).toBe(429);
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
    expect(await rowsOf("SELECT name FROM directory_facts WHERE name LIKE 'batch-%'")).toHaveLength(
      19,
    );
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
