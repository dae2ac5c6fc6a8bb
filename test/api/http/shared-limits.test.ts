import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createApp } from "#api/app.ts";
import { rememberAddress } from "#api/http/client.ts";
import { type Limits, openLimits } from "#api/http/rate-limit.ts";
import { operatorHealth } from "#api/operator/health.ts";
import { findingsOf } from "#content/operation/checks.ts";
import type { LimitName } from "#content/contract/addresses.ts";
import { StoreAway } from "#content/store/busy.ts";
import type { Store } from "#content/store/open.ts";
import { openBlankStore } from "#test/support/blank-store.ts";
import { theService } from "#test/support/service.ts";
import { theFolder } from "#test/support/at-file-top.ts";

// Three services on one store, each with a handle of its own, as they have on a libSQL server: what one counts the others see.

const settings = {
  ALMONER_TRUSTED_HOPS: "1",
  ALMONER_READS_PER_MINUTE: "300",
  ALMONER_STORED_MB_PER_DAY: "1",
  ALMONER_ADMIN_TOKENS: "ada:a-token-of-ada-0123456789",
};
let limits: Limits[];
let atMs = 0;

const folder = theFolder();
const url = `file:${join(folder, "store.db")}`;
const stores: Store[] = [];
for (let at = 0; at < 3; at++) stores.push(await openBlankStore(url));
const service = await theService({ env: settings });
afterAll(() => {
  for (const store of stores) store.close();
});
beforeEach(() => {
  // Days later nothing counts any more.
  atMs += 100 * 86_400_000;
  limits = stores.map((store) => openLimits(store, service.context, () => atMs));
});
afterEach(() => {
  for (const one of limits) one.close();
});

function from(address: string): Request {
  const request = new Request("http://localhost/api/enrich/oak");
  rememberAddress(request, address);
  return request;
}

/** The three in turn. */
const at3 = (at: number): Limits => limits[at % 3] as Limits;

/** How many of as many requests pass, sent to the three in turn, `together` at a time. */
async function passing(policy: LimitName, count: number, together: number): Promise<number> {
  let passed = 0;
  for (let sent = 0; sent < count; sent += together) {
    const taken = await Promise.all(
      Array.from({ length: together }, (_, at) =>
        at3(sent + at).request(policy, from("192.0.2.1")),
      ),
    );
    passed += taken.filter((one) => one?.allowed === true).length;
  }
  return passed;
}

describe.each([1, 50])("of requests to three services, %p together,", (together) => {
  test.each([
    ["enrich", 30, 60],
    ["read", 300, 400],
  ] as const)("%s lets %p pass, and at most a tenth more", async (policy, limit, count) => {
    const passed = await passing(policy, count, together);
    expect(passed).toBeGreaterThanOrEqual(limit);
    expect(passed).toBeLessThanOrEqual(limit * 1.1);
    // A minute later it is the same again, and not more.
    atMs += 60_200;
    expect(await passing(policy, count, together)).toBeLessThanOrEqual(limit * 1.1);
  });

  test.each([
    ["onboard", 10],
    ["bind", 5],
  ] as const)("%s lets exactly %p pass", async (policy, limit) => {
    expect(await passing(policy, 50, together)).toBe(limit);
  });
});

test("an agent's submissions count at all services", async () => {
  let passed = 0;
  for (let at = 0; at < 300; at++) passed += (await limits[at % 3]?.agent("oak"))?.allowed ? 1 : 0;
  expect(passed).toBeGreaterThanOrEqual(120);
  expect(passed).toBeLessThanOrEqual(132);
});

test("one room is used up at all services: each learns it from what it stores itself", async () => {
  const one = at3(0);
  const other = at3(1);
  one.stored("agents", from("198.51.100.7"), 150_000);
  await one.flush();
  expect((await one.request("enrich", from("198.51.100.7")))?.policy).toBe("stored-agents-network");
  expect((await other.request("enrich", from("198.51.100.7")))?.allowed).toBe(true);
  other.stored("agents", from("198.51.100.7"), 1);
  await other.flush();
  expect((await other.request("enrich", from("198.51.100.7")))?.allowed).toBe(false);
  atMs += 90_000_000;
  expect((await other.request("enrich", from("198.51.100.7")))?.allowed).toBe(true);
});

test("fifteen wrong tokens that come together at three services: five are looked at", async () => {
  const [first, second, third] = limits.map((one) =>
    createApp({ ...service.context, limits: one }),
  );
  const guess = async (token: string, at: number) => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "192.0.2.1" };
    return [first, second, third][at % 3]?.handle(
      new Request("http://localhost/api/admin/queues", { headers }),
    );
  };
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, at) => guess(`wrong-${at}`, at)),
  );
  const statuses = answers.map((answer) => answer?.status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  expect((await guess(settings.ALMONER_ADMIN_TOKENS.slice(4), 2))?.status).toBe(429);
});

test("hits that are over are taken out", async () => {
  await passing("enrich", 30, 3);
  const rows = async () =>
    Number((await stores[0]?.raw.execute("SELECT count(*) FROM limit_hits"))?.rows[0]?.[0]);
  expect(await rows()).toBeGreaterThan(0);
  atMs += 61_000;
  const fresh = openLimits(stores[1] as Store, service.context, () => atMs);
  await fresh.request("bind", from("192.0.2.2"));
  fresh.close();
  expect(await rows()).toBeLessThan(10);
});

describe("a server that does not count", () => {
  const counting = (batch: () => Promise<never>) => {
    const store = { ...stores[0], raw: { ...stores[0]?.raw, batch } } as unknown as Store;
    return openLimits(store, service.context);
  };

  test("leaves each service its own count, which health tells", async () => {
    const alone = counting(() => Promise.reject(new StoreAway("it is away")));
    const taken = await Promise.all(
      Array.from({ length: 100 }, () => alone.request("onboard", from("192.0.2.1"))),
    );
    expect(taken.filter((one) => one?.allowed)).toHaveLength(10);
    expect(alone.alone()).toBe(true);
    const { warnings } = await operatorHealth({ ...service.context, limits: alone });
    expect(warnings).toEqual(
      expect.arrayContaining(findingsOf("limits shared", { limits_alone: true })),
    );
    alone.close();
  });

  test("is not waited for by a client that is not known", async () => {
    const late = Promise.withResolvers<never>();
    const alone = counting(() => late.promise);
    const reads = Array.from({ length: 10 }, () => alone.request("read", from("192.0.2.1")));
    expect((await Promise.all(reads)).every((one) => one?.allowed)).toBe(true);
    expect(alone.alone()).toBe(false);
    // What has to be counted first waits half a second, once.
    expect((await alone.request("bind", from("192.0.2.1")))?.remaining).toBe(4);
    expect(alone.alone()).toBe(true);
    alone.close();
  });
});
