import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import * as fc from "fast-check";
import { type EnrichJob, decideEnrichment, subjectsOf } from "#content/enrichment/enrich.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { doAll } from "#content/store/query.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { planRevert } from "#content/enrichment/agreed-field-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { readEnrichment } from "#content/enrichment/wire.ts";
import { EnrichmentBody, type StructuredField } from "#content/contract/enrichment.ts";
import { aNonprofit } from "../support/records.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { hranaServer } from "#test/support/hrana-server.ts";
import { isFull } from "#test/support/measured.ts";
import { theFolder } from "#test/support/at-file-top.ts";

/** How many histories are tried; ALMONER_FULL_TESTS=1 tries many more. */
const runs = isFull ? 2_000 : 25;

/** Two stores take submissions in groups, one of them on a server; the third takes the same ones one by one. */
const folder = theFolder();
let server: ReturnType<typeof hranaServer>;
let grouped: Store;
let remote: Store;
let single: Store;
let round = 0;

beforeAll(async () => {
  const open = (name: string) => openBlankStore(`file:${join(folder, name)}.db`);
  [grouped, single] = [await open("grouped"), await open("single")];
  server = hranaServer(join(folder, "remote.db"));
  remote = await openStore({ url: server.url });
});
afterAll(async () => {
  for (const store of [grouped, remote, single]) store.close();
  await server.stop();
});

const agents = ["oak", "elm", "ash", "fir", "test-bot"];
const values: Record<string, readonly string[]> = {
  city: ["Oslo", "Oslo,", "Bergen", "Hamar"],
  website: ["https://one.example", "http://www.one.example/", "https://example.org"],
  founded_year: ["1998", "since 1998", "2001"],
  mission: ["Food for all.", "Food."],
  programme: ["Meals", "Beds"],
};
const fields = Object.keys(values);

type Sent = {
  profile: number;
  agent: number;
  name: number;
  items: readonly (readonly [field: number, value: number])[];
  key: number | null;
  network: number | null;
};
/** What a history is made of; `fill` and `empty` are what an operator does between submissions. */
type Event =
  | { kind: "sent"; sent: Sent }
  | { kind: "fill" | "empty"; profile: number; field: number };

const small = (max: number) => fc.nat({ max });
const sent: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant("sent" as const),
  sent: fc.record({
    profile: small(4),
    agent: small(agents.length - 1),
    name: small(1),
    items: fc.uniqueArray(fc.tuple(small(fields.length - 1), small(3)), {
      minLength: 1,
      maxLength: 3,
      selector: ([field]) => field,
    }),
    key: fc.option(small(2), { freq: 3 }),
    network: fc.option(small(2), { freq: 3 }),
  }),
});
const operated: fc.Arbitrary<Event> = fc.record({
  kind: fc.constantFrom("fill" as const, "empty" as const),
  profile: small(3),
  field: small(2),
});
const histories = fc.record({
  mode: fc.constantFrom("agents" as const, "networks" as const),
  events: fc.array(fc.oneof({ arbitrary: sent, weight: 12 }, { arbitrary: operated, weight: 1 }), {
    minLength: 1,
    maxLength: 60,
  }),
  sizes: fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 20 }),
});

/** Three open profiles, one with values, and an unknown slug; the third is withdrawn. */
const slugAt = (profile: number): string => `round-${round}-${profile}`;
async function begin(store: Store): Promise<void> {
  const after = [0, 1, 2, 3].map((at) =>
    aNonprofit({
      slug: slugAt(at),
      name: `Round ${round} ${at}`,
      ...(at === 1 ? { city: "Oslo", mission: "Food." } : {}),
      ...(at === 2 ? { status: "withdrawn" as const } : {}),
    }),
  );
  const saves = after.map((one) => ({ before: null, after: one }));
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date(0) }));
}

function jobOf(one: Sent, at: number, mode: EnrichJob["mode"]): EnrichJob {
  const agent_id = `${agents[one.agent]} ${round}`;
  const items = one.items.map(([field, value]) => {
    const name = fields[field] ?? "city";
    const known = values[name] ?? [];
    return { field: name, value: known[value % known.length] };
  });
  const body = { agent_id, agent_name: `${agent_id} ${one.name}`, fields: items };
  const read = readEnrichment(EnrichmentBody.parse(body), { thisYear: 2026 });
  if (!read.ok) throw new Error(JSON.stringify(read.failure));
  return {
    request: read.value,
    slug: slugAt(one.profile),
    idempotencyKey: one.key === null ? null : `key-${one.key}`,
    network: mode === "networks" && one.network !== null ? `net-${one.network}` : null,
    secret: null,
    mode,
    now: new Date(1_000 + at),
  };
}

async function operate(store: Store, event: Event & { kind: "fill" | "empty" }, at: number) {
  const field = fields[event.field] as StructuredField;
  const now = new Date(1_000 + at);
  const record = await recordBySlug(store, slugAt(event.profile));
  if (record === null || record.status === "withdrawn") return;
  await store.write(async (tx) => {
    if (event.kind === "empty") {
      const emptied = { nonprofit_id: record.id, field, reason: "reverted", now };
      await doAll(tx, (await planRevert(tx, emptied)).statements);
      return;
    }
    const value =
      field === "founded_year" ? 1901 : field === "city" ? "Filled" : "https://f.example";
    await saveNonprofits(tx, [{ before: record, after: { ...record, [field]: value } }], {
      origin: "test",
      now,
    });
  });
}

type History = { mode: EnrichJob["mode"]; events: readonly Event[]; sizes: readonly number[] };

/** Plays a history, submissions in groups of the given sizes; answers what they were told. */
async function play(store: Store, { mode, events }: History, sizes: readonly number[]) {
  await begin(store);
  const told: unknown[] = [];
  let group: EnrichJob[] = [];
  let groups = 0;
  const commit = async () => {
    const jobs = group;
    group = [];
    groups += 1;
    const done = jobs.map((job) =>
      batchedWrite(store, subjectsOf(job), (reader) => decideEnrichment(reader, job)),
    );
    told.push(...(await Promise.all(done)));
  };
  for (const [at, event] of events.entries()) {
    if (event.kind === "sent") {
      group.push(jobOf(event.sent, at, mode));
      if (group.length < (sizes[groups % sizes.length] ?? 1)) continue;
      await commit();
    } else {
      await commit();
      await operate(store, event, at);
    }
  }
  await commit();
  return { told, tables: await tablesOf(store) };
}

/** Ids and sequences as ranks within a nonprofit: a group hands them out in another order among nonprofits. */
const submissionRank =
  "(SELECT count(*) FROM submissions AS o WHERE o.nonprofit_id = s.nonprofit_id AND o.id <= s.id)";
const tables = {
  submissions: `SELECT ${submissionRank} AS rank, s.* FROM submissions AS s ORDER BY s.nonprofit_id, s.id`,
  changes: "SELECT * FROM changes WHERE nonprofit_id IS NOT NULL ORDER BY nonprofit_id, sequence",
  nonprofits: "SELECT id AS nonprofit_id, n.* FROM nonprofits AS n ORDER BY id",
  provenance: "SELECT * FROM provenance ORDER BY nonprofit_id, field",
  listings: "SELECT * FROM listings ORDER BY nonprofit_id, list",
  pending_fields: "SELECT * FROM pending_fields ORDER BY nonprofit_id, field",
  agents: "SELECT * FROM agents ORDER BY agent_id",
  enrichment_counts: "SELECT * FROM enrichment_counts WHERE count <> 0 ORDER BY name",
  idempotency_keys: "SELECT * FROM idempotency_keys ORDER BY key",
};
async function tablesOf(store: Store): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [name, sql] of Object.entries(tables)) {
    const { rows } = await store.raw.execute(sql);
    // Ids of nonprofits are the same in both, and compared as nonprofit_id; those of submissions and changes are not.
    found[name] = rows.map((row) => ({ ...row, id: null, sequence: null }));
  }
  return found;
}

/** What was told, with ids and sequences as ranks. */
async function comparable(store: Store, value: unknown): Promise<unknown> {
  const { rows } = await store.raw.execute(
    `SELECT s.id, s.nonprofit_id || ' ' || ${submissionRank} AS place FROM submissions AS s`,
  );
  const places = new Map(rows.map((row) => [Number(row["id"]), row["place"]]));
  const changes = await store.raw
    .execute(`SELECT sequence, nonprofit_id || ' ' || (SELECT count(*) FROM changes AS o
    WHERE o.nonprofit_id = c.nonprofit_id AND o.sequence <= c.sequence) AS place FROM changes AS c`);
  const moments = new Map(changes.rows.map((row) => [Number(row["sequence"]), row["place"]]));
  const text = JSON.stringify(value, (name, one: unknown) => {
    if (name === "id" && typeof one === "number") return places.get(one);
    if (name === "sequence" && typeof one === "number") return moments.get(one);
    if (name === "body" && typeof one === "string") return JSON.parse(one) as unknown;
    return one;
  });
  return JSON.parse(text) as unknown;
}

test("submissions in groups leave and tell what the same leave one by one", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      round += 1;
      const together = await play(grouped, history, history.sizes);
      const across = await play(remote, history, history.sizes);
      const apart = await play(single, history, [1]);
      const wanted = await comparable(single, apart);
      expect(await comparable(grouped, together)).toEqual(wanted);
      expect(unordered(await comparable(remote, across))).toEqual(unordered(wanted));
      for (const store of [grouped, remote, single]) await clear(store);
    }),
    { numRuns: runs },
  );
}, 600_000);

/** On a server an agent's submissions to several profiles may be done in another order: its newest name is another. */
const unordered = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, one: unknown) =>
      name === "agents" && Array.isArray(one)
        ? one.map((agent: object) => ({ ...agent, agent_name: null, last_seen: null }))
        : one,
    ),
  );

/** Histories do not add up, or each would take longer than the one before. */
async function clear(store: Store): Promise<void> {
  await store.write(async (tx) => {
    for (const name of Object.keys(tables)) await tx.raw.execute(`DELETE FROM ${name}`);
  });
}
