import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { networkPart, rememberAddress } from "#api/http/client.ts";
import { readConfig } from "#api/config.ts";
import { type Limits, openLimits } from "#api/http/rate-limit.ts";
import type { LimitName } from "#content/contract/addresses.ts";
import { loadSecrets } from "#api/secrets.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const dataDir = forEachTest(aFolder);

const minuteMs = 60_000;
const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
let opened: Limits[];
let uptimeMs: number;

beforeEach(() => {
  opened = [];
  uptimeMs = 1_000_000;
});
afterEach(() => {
  for (const limits of opened) limits.close();
});

function limitsOf(env: Record<string, string> = {}): Limits {
  const config = readConfig({ ALMONER_DATA_DIR: dataDir(), ...env });
  const context = { config, secrets: loadSecrets(config), log };
  const limits = openLimits(dataDir("limits.db"), context, () => uptimeMs);
  opened.push(limits);
  return limits;
}

function from(address: string, headers: Record<string, string> = {}): Request {
  const request = new Request("http://localhost/api/enrich/oak", { headers });
  rememberAddress(request, address);
  return request;
}

/** How many of requests that come together pass. */
async function passing(limits: Limits, policy: LimitName, requests: readonly Request[]) {
  const taken = await Promise.all(requests.map((request) => limits.request(policy, request)));
  return taken.filter((one) => one?.allowed === true).length;
}

const times = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));

const same = (count: number, address = "192.0.2.1"): Request[] => times(count, () => from(address));

describe("of 100 requests in a minute", () => {
  test.each([
    ["enrich", 30],
    ["onboard", 10],
    ["donate", 60],
  ] as const)("%s lets exactly %p pass", async (policy, expected) => {
    expect(await passing(limitsOf(), policy, same(100))).toBe(expected);
  });

  test("forged forwarding headers help no one", async () => {
    const forged = times(1_000, (at) =>
      from("192.0.2.1", { "x-forwarded-for": `198.51.100.${at % 250}, 10.0.0.${at % 200}` }),
    );
    expect(await passing(limitsOf(), "enrich", forged)).toBe(30);
  });

  test("an IPv6 network of 64 bits is one client", async () => {
    const neighbours = times(100, (at) => from(`2001:db8:1:2:${at.toString(16)}::${at + 1}`));
    expect(await passing(limitsOf(), "enrich", neighbours)).toBe(30);
    const others = times(100, (at) => from(`2001:db8:1:${(at + 10).toString(16)}::1`));
    expect(await passing(limitsOf(), "enrich", others)).toBe(100);
  });

  test("policies and clients are counted apart", async () => {
    const limits = limitsOf();
    expect(await passing(limits, "enrich", same(40))).toBe(30);
    expect(await passing(limits, "onboard", same(40))).toBe(10);
    expect(await passing(limits, "enrich", same(40, "192.0.2.2"))).toBe(30);
  });
});

describe("behind trusted proxies", () => {
  test("the address that the outermost trusted one saw is the client's", async () => {
    const limits = limitsOf({ ALMONER_TRUSTED_HOPS: "2" });
    const viaProxies = (client: string, claim: string) =>
      from("10.0.0.1", { "x-forwarded-for": `${claim}, ${client}, 10.0.0.2` });
    const forged = times(100, (at) => viaProxies("192.0.2.1", `198.51.100.${at}`));
    expect(await passing(limits, "enrich", forged)).toBe(30);
    expect(await passing(limits, "enrich", [viaProxies("192.0.2.9", "192.0.2.1")])).toBe(1);
  });

  test("without the header the socket's address counts", async () => {
    const limits = limitsOf({ ALMONER_TRUSTED_HOPS: "1" });
    expect(await passing(limits, "enrich", same(40))).toBe(30);
  });
});

describe("the window slides", () => {
  test("what was used comes free a minute later, not before", async () => {
    const limits = limitsOf();
    await passing(limits, "enrich", same(20));
    uptimeMs += 30_000;
    expect(await passing(limits, "enrich", same(20))).toBe(10);
    uptimeMs += 29_999;
    expect(await passing(limits, "enrich", same(20))).toBe(0);
    uptimeMs += 1;
    expect(await passing(limits, "enrich", same(40))).toBe(20);
  });

  test("a refusal says when to come back", async () => {
    const limits = limitsOf();
    await passing(limits, "onboard", same(10));
    uptimeMs += 20_000;
    const refused = await limits.request("onboard", from("192.0.2.1"));
    expect(refused).toMatchObject({ allowed: false, limit: 10, remaining: 0, resetMs: 40_000 });
  });

  test("a restart of the process resets nothing", async () => {
    const before = limitsOf();
    await passing(before, "enrich", same(30));
    before.close();
    opened = [];
    uptimeMs += 5_000;
    expect(await passing(limitsOf(), "enrich", same(30))).toBe(0);
  });

  test("the daily change of hashes resets nothing", async () => {
    // The windows' own time begins at the uptime of the first start.
    uptimeMs = 86_400_000 - 1_000;
    const limits = limitsOf();
    await passing(limits, "enrich", same(20));
    uptimeMs += 2_000;
    expect(await passing(limits, "enrich", same(20))).toBe(10);
  });

  test("nor does it reset what is counted over a day", async () => {
    uptimeMs = 86_400_000 - 600_000;
    const limits = limitsOf({ ALMONER_STORED_MB_PER_DAY: "1" });
    const bind = async () => {
      uptimeMs += minuteMs;
      return passing(limits, "bind", same(5));
    };
    for (let at = 0; at < 4; at++) expect(await bind()).toBe(5);
    limits.stored("agents", from("198.51.100.7"), 100_000);
    uptimeMs += 3_600_000;
    expect(await bind()).toBe(0);
    expect(await passing(limits, "enrich", [from("198.51.100.7")])).toBe(0);
    uptimeMs += 90_000_000;
    expect(await bind()).toBe(5);
    expect(await passing(limits, "enrich", [from("198.51.100.7")])).toBe(1);
  });
});

describe("reads", () => {
  test("pass up to the setting, in a burst", async () => {
    const limits = limitsOf({ ALMONER_READS_PER_MINUTE: "600" });
    expect(await passing(limits, "read", same(1_000))).toBe(600);
    uptimeMs += minuteMs + 1_000;
    expect(await passing(limits, "read", same(1_000))).toBe(600);
  });

  test("never pass above it over several processes", async () => {
    const processes = times(4, () => limitsOf({ ALMONER_READS_PER_MINUTE: "600" }));
    let allowed = 0;
    for (let at = 0; at < 2_000; at++) {
      const limits = processes[at % processes.length];
      if ((await limits?.request("read", from("192.0.2.1")))?.allowed === true) allowed += 1;
    }
    expect(allowed).toBeLessThanOrEqual(600);
    expect(allowed).toBeGreaterThan(560);
  });

  test("of a client far below its limit wait for no other process", async () => {
    const limits = limitsOf();
    await limits.request("read", from("192.0.2.9"));
    const other = new Database(dataDir("limits.db"));
    other.run("BEGIN IMMEDIATE");
    const troubles = spyOn(log, "warn");
    const reads = times(20, () => from("192.0.2.9"));
    expect(await passing(limits, "read", reads)).toBe(20);
    expect(troubles).not.toHaveBeenCalled();
    other.run("ROLLBACK");
    other.close();
    troubles.mockRestore();
  });

  test("are not limited by 0", async () => {
    const limits = limitsOf({ ALMONER_READS_PER_MINUTE: "0" });
    expect(await limits.request("read", from("192.0.2.1"))).toBeNull();
  });
});

test("an agent sends 120 submissions a minute and 5,000 a day", async () => {
  const limits = limitsOf();
  let allowed = 0;
  for (let minute = 0; minute < 60; minute++) {
    const taken = await Promise.all(times(130, () => limits.agent("oak-bot")));
    allowed += taken.filter((one) => one.allowed).length;
    if (minute === 0) expect(allowed).toBe(120);
    uptimeMs += minuteMs;
  }
  expect(allowed).toBe(5_000);
  expect(await limits.agent("oak-bot")).toMatchObject({ allowed: false, policy: "agent-day" });
  expect((await limits.agent("elm-bot")).allowed).toBe(true);
});

test("addresses are nowhere in the file", async () => {
  const limits = limitsOf();
  await passing(limits, "enrich", [from("203.0.113.77"), from("2001:db8:aaaa:bbbb::1")]);
  limits.close();
  opened = [];
  const bytes = await Bun.file(dataDir("limits.db")).text();
  expect(bytes).toContain("enrich");
  expect(bytes).not.toContain("203.0.113.77");
  expect(bytes).not.toContain("2001:db8");
});

test("two real processes let exactly 30 of 100 pass", async () => {
  const script = `
    import { rememberAddress } from "#api/http/client.ts";
    import { readConfig } from "#api/config.ts";
    import { openLimits } from "#api/http/rate-limit.ts";
    import { loadSecrets } from "#api/secrets.ts";
    const config = readConfig(process.env);
    const limits = openLimits(config.dataDir + "/limits.db", { config, secrets: loadSecrets(config), log: console });
    let passed = 0;
    for (let at = 0; at < 50; at++) {
      const request = new Request("http://localhost/");
      rememberAddress(request, "192.0.2.1");
      if ((await limits.request("enrich", request)).allowed) passed += 1;
    }
    limits.close();
    console.log(passed);`;
  loadSecrets(readConfig({ ALMONER_DATA_DIR: dataDir() }));
  const passed = await Promise.all(
    [1, 2].map(async () => {
      const env = { ...process.env, ALMONER_DATA_DIR: dataDir() };
      const child = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe" });
      return Number(await new Response(child.stdout).text());
    }),
  );
  expect(passed.reduce((all, one) => all + one, 0)).toBe(30);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["192.0.2.7:4711", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["[2001:db8::1]:443", "2001:db8:0:0::/64"],
  ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", ""],
])("the network of %p is %p", (address, network) => {
  expect(networkPart(address)).toBe(network);
});
