import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { EnrichmentBody } from "#content/contract/enrichment.ts";
import { enrich } from "#content/enrichment/enrich.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { isStoreAway, StoreBusy } from "#content/store/busy.ts";
import { type Store } from "#content/store/open.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { type Fate, hranaServer } from "#test/support/hrana-server.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theFolder } from "#test/support/at-file-top.ts";
import { theStore } from "#test/support/blank-store.ts";

let fateOf: (sql: string) => Fate = () => "answered";

const folder = theFolder();
const server = hranaServer(join(folder, "store.db"), (sql) => fateOf(sql));
/** Two services on one server. */
const left = await theStore({ url: server.url });
const right = await theStore({ url: server.url, migrated: true });
afterAll(() => server.stop());

async function add(count = 1): Promise<string[]> {
  const saves = Array.from({ length: count }, () => ({ before: null, after: aNonprofit() }));
  const context = { origin: "test", now: new Date() };
  return (await left.write((tx) => saveNonprofits(tx, saves, context))).map(({ slug }) => slug);
}

type Sent = { agent: string; value?: string; key?: string; field?: string };
async function submit(
  store: Store,
  slug: string,
  { agent, value = "Oslo", key, field = "city" }: Sent,
) {
  const world = {
    store,
    clock: () => new Date(),
    baseUrl: "http://localhost",
    mode: "agents" as const,
    takeAgent: () => Promise.resolve({ allowed: true, retryAfterMs: 0 }),
  };
  const body = EnrichmentBody.parse({ field, value, agent_id: agent });
  const call = { slug, body, idempotencyKey: key ?? null, network: null, secret: null };
  const answer = await enrich(world, call);
  return answer.ok ? answer.value.submissions[0]?.status : answer.failure.kind;
}

const ask = async (sql: string) => (await left.raw.execute(sql)).rows;

describe("round trips of a submission alone", () => {
  const trips = async (work: () => Promise<unknown>) => {
    const before = server.roundTrips();
    return [await work(), server.roundTrips() - before];
  };

  test("are two, three where it goes live, one where it is refused", async () => {
    const [slug = ""] = await add();
    expect(await trips(() => submit(left, slug, { agent: "one" }))).toEqual(["pending", 2]);
    const keyed = { agent: "two", key: "k" };
    expect(await trips(() => submit(left, slug, keyed))).toEqual(["applied", 3]);
    expect(await trips(() => submit(left, slug, keyed))).toEqual(["applied", 2]);
    expect(await trips(() => submit(left, "nowhere", { agent: "one" }))).toEqual([
      "nonprofit_not_found",
      1,
    ]);
  });

  test("are shared by those that arrive together", async () => {
    const slugs = await add(20);
    const all = () => Promise.all(slugs.map((slug) => submit(left, slug, { agent: "one" })));
    expect(await trips(all)).toEqual([slugs.map(() => "pending"), 2]);
  });
});

test("two services at the same fields apply each once, and lose and double nothing", async () => {
  const slugs = await add(4);
  const rivals = {
    city: ["Oslo", "Bergen", "Hamar"],
    region: ["Troms", "Agder", "Viken"],
    contact_email: ["a@one.org", "a@two.org", "a@three.org"],
  };
  const sent = slugs.flatMap((slug) =>
    Object.entries(rivals).flatMap(([field, values]) =>
      [0, 1, 2, 3].map((nth) => ({
        slug,
        store: nth % 2 === 0 ? left : right,
        one: { agent: `agent-${nth}`, field, value: values[nth % 3] ?? "" },
      })),
    ),
  );
  const said = await Promise.all(sent.map(({ store, slug, one }) => submit(store, slug, one)));
  const list = slugs.map((slug) => `'${slug}'`).join(", ");
  const ofThese = `nonprofit_id IN (SELECT id FROM nonprofits WHERE slug IN (${list}))`;
  // Only two of four agents agree: one pair for each field, in one change.
  expect(said.filter((status) => status === "applied")).toHaveLength(12);
  expect(
    await ask(`SELECT count(*) AS rows, count(DISTINCT agent_id || field || nonprofit_id) AS sent,
      sum(status = 'applied') AS applied FROM submissions WHERE ${ofThese}`),
  ).toMatchObject([{ rows: sent.length, sent: sent.length, applied: 24 }]);
  expect(
    await ask(`SELECT count(*) AS changes FROM changes WHERE origin = 'consensus' AND ${ofThese}`),
  ).toMatchObject([{ changes: 12 }]);
});

test("a batch that is lost, or whose answer is, is refused, and sent again stores nothing twice", async () => {
  const slugs = await add(6);
  const fates: Fate[] = ["lost", "answer lost", "answer lost", "answered"];
  let nth = 0;
  fateOf = (sql) =>
    sql.includes("INSERT INTO submissions") ? (fates[nth++ % 4] ?? "answered") : "answered";
  let away = 0;
  for (const [at, slug] of slugs.entries()) {
    const sent = { agent: "one", ...(at % 2 === 0 && { key: `key-${at}` }) };
    for (let status: unknown; status !== "pending";) {
      status = await submit(left, slug, sent).catch((error: unknown) => {
        expect(isStoreAway(error)).toBe(true);
        away += 1;
      });
    }
  }
  fateOf = () => "answered";
  expect(away).toBe(6);
  const list = slugs.map((slug) => `'${slug}'`).join(", ");
  const stored = await ask(`SELECT nonprofit_id, count(*) AS rows FROM submissions
    WHERE nonprofit_id IN (SELECT id FROM nonprofits WHERE slug IN (${list})) GROUP BY 1`);
  expect(stored.map(({ rows }) => rows)).toEqual(slugs.map(() => 1));
});

describe("a decision whose rows others change", () => {
  const factSql = "INSERT OR REPLACE INTO directory_facts VALUES ('contested', ?, 0)";
  const valueSql = "SELECT value FROM directory_facts WHERE name = 'contested'";
  const append = (store: Store, word: string, meanwhile = async () => {}) =>
    batchedWrite(store, [], async (reader) => {
      const { rows } = await reader.raw.execute(valueSql);
      await meanwhile();
      const words = `${String(rows[0]?.["value"] ?? "")}${word}`;
      return { statements: [{ sql: factSql, args: [words] }], answer: () => words };
    });

  test("is made again of what they wrote", async () => {
    let tries = 0;
    const once = async () => {
      tries += 1;
      if (tries === 1) await append(right, "a");
    };
    expect(await append(left, "b", once)).toBe("ab");
    expect(tries).toBe(2);
    expect(await ask(valueSql)).toMatchObject([{ value: "ab" }]);
  });

  test("ends in StoreBusy when they never stop", async () => {
    const again = () => append(right, "c").then(() => undefined);
    const refused = await append(left, "d", again).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreBusy);
    expect(String((await ask(valueSql))[0]?.["value"])).not.toContain("d");
  });
});
