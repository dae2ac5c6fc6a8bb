import { afterEach, describe, expect, test } from "bun:test";
import type { Context, Publication } from "#api/context.ts";
import { software } from "#content/store/software.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { openBundleReader, publicationState } from "#site/delivery/bundle-reader.ts";
import { startHeartbeat } from "#site/publisher/lock.ts";
import { aChain } from "#test/support/local-chain.ts";
import { anAwayStore } from "#test/support/away-store.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService, type TestService, testNow } from "#test/support/service.ts";
import { aFolder } from "#test/support/at-file-top.ts";

const plain = await theService();
let service: TestService = plain;
afterEach(() => {
  if (service !== plain) service.close();
  service = plain;
});
/** A chain that answers. */
const chain = {
  ...plain.context.chain,
  nodes: 1,
  health: async (): Promise<{ why: string | null; took_ms: number }> => ({ why: null, took_ms: 1 }),
};

const token = "0123456789abcdef0123456789abcdef";
const nowMs = testNow.getTime();
const published: Publication = {
  release: 3,
  held: false,
  profilesTo: 1_000,
  listsTo: 1_000,
  failures: 0,
  silentMs: 0,
  pid: process.pid,
};

/** A service whose chain answers, with some of it as it should not be. */
async function watched(changed: Partial<Context> = {}, env: Record<string, string> = {}) {
  service = await aService({ env, context: { chain, ...changed } });
}

const at = (part: Partial<Publication>) => ({ publication: () => ({ ...published, ...part }) });

test("GET /healthz says that the service is well, and which version and commit it is", async () => {
  const answer = await plain.get("/healthz");
  const { status, headers } = answer;
  expect([status, await answer.json()]).toEqual([200, { status: "ok", ...software() }]);
  expect([headers.get("cache-control"), headers.get("etag")]).toEqual(["no-store", null]);
});

describe("GET /readyz", () => {
  test("is 200 when store, chain and publisher work", async () => {
    await watched(at({}));
    const answer = await service.get("/readyz");
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const parts = { store: "ok", chain: "ok", publisher: "ok" };
    expect(await answer.json()).toEqual({ status: "ready", parts });
  });

  test("is 200 where no node of a chain is named", async () => {
    const answer = await plain.get("/readyz");
    const parts = { store: "ok", chain: "none", publisher: "none" };
    expect(await answer.json()).toEqual({ status: "ready", parts });
  });

  test.each([
    ["does not run", at({ silentMs: null }), "the publisher does not run"],
    ["hangs", at({ silentMs: 31_000 }), "the publisher has given no sign of life for 31 s"],
    ["has published nothing", at({ release: 0 }), "nothing is published yet"],
  ])("is 503 when the publisher %s", async (_, changed, why) => {
    await watched(changed);
    const answer = await service.get("/readyz");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.json()).toMatchObject({
      code: "not_ready",
      detail: `${why}.`,
      reasons: [{ part: "publisher", why }],
    });
  });

  test("is 200 when the clock of the machine was set while the publisher runs", async () => {
    using bundle = aFolder();
    const manifest = openManifest(bundle());
    manifest.setState({ current_release: 1, pid: process.pid });
    const heartbeat = startHeartbeat({ manifest });
    const reader = openBundleReader(bundle());
    for (const days of [-3, 3]) {
      const clock = () => new Date(Date.now() + days * 86_400_000);
      await watched({ publication: () => publicationState(reader), clock });
      const answer = await service.get("/readyz");
      expect(await answer.json()).toMatchObject({ status: "ready" });
      service.close();
    }
    await heartbeat.stop();
    await watched({ publication: () => publicationState(reader) });
    const { detail } = (await (await service.get("/readyz")).json()) as { detail: string };
    expect(detail).toBe("the publisher does not run.");
    reader.close();
    manifest.close();
  });

  test("is 503 when a change has waited for over a minute, unless a rollback holds publishing", async () => {
    const earlier = new Date(nowMs - 90_000);
    for (const held of [false, true]) {
      await watched({ ...at({ held, profilesTo: 0, listsTo: 0 }), clock: () => earlier });
      await service.add(aNonprofit({ slug: "oak" }));
      Object.assign(service.context, { clock: () => testNow });
      const answer = await service.get("/readyz");
      expect(answer.status).toBe(held ? 200 : 503);
      if (!held) {
        const { detail } = (await answer.json()) as { detail: string };
        expect(detail).toBe("a change has waited for 90 s to be published.");
        service.close();
      }
    }
  });

  test("is 503 when the chain does not answer, and when the store does not", async () => {
    const health = async () => ({ why: "no node answered", took_ms: 1 });
    await watched({ ...at({}), chain: { ...chain, health }, store: await anAwayStore() });
    const { reasons } = (await (await service.get("/readyz")).json()) as { reasons: unknown };
    expect(reasons).toEqual([
      { part: "store", why: "the store does not answer: it cannot be read" },
      { part: "chain", why: "the chain does not answer: no node answered" },
    ]);
    expect((await service.get("/healthz")).status).toBe(200);
  });
});

describe("GET /metrics", () => {
  const ask = (address: string, headers: Record<string, string> = {}) =>
    service.app.handle(new Request("http://localhost/metrics", { headers }), address);

  test.each([
    ["this machine", "127.0.0.1", {}, 200],
    ["this machine", "::1", {}, 200],
    ["a proxy on this machine", "127.0.0.1", { "x-forwarded-for": "192.0.2.1" }, 403],
    ["another machine", "192.0.2.1", {}, 403],
  ])("without a token is for this machine alone: %s", async (_, address, headers, status) => {
    expect((await ask(address, headers)).status).toBe(status);
  });

  test("with a token is for who sends it", async () => {
    await watched({}, { ALMONER_METRICS_TOKEN: token });
    expect((await ask("127.0.0.1")).status).toBe(403);
    expect((await ask("192.0.2.1", { authorization: "Bearer wrong" })).status).toBe(403);
    expect((await ask("192.0.2.1", { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test("counts requests by route, never by path", async () => {
    await watched(at({}));
    for (const path of ["/api/nonprofits/ann@oak.example", "/nothing/ann@oak.example", "/healthz"])
      await service.get(path);
    service.app.observe(new Request("http://localhost/causes"), 200, performance.now());
    const first = await (await ask("127.0.0.1")).text();
    const count = (method: string, route: string, status: number) =>
      first.includes(
        `almoner_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"} 1\n`,
      );
    expect(count("GET", "/api/nonprofits/:slug", 404)).toBe(true);
    expect(count("GET", "none", 404)).toBe(true);
    expect(count("GET", "/healthz", 200)).toBe(true);
    expect(count("GET", "file", 200)).toBe(true);
    expect(first).not.toContain("ann");
    expect(first).toContain('almoner_unready{part="store"} 0\n');
    expect(first).toContain('almoner_queue_waiting{queue="onboarding"} 0\n');
    expect(first).not.toContain("\nalmoner_backup_age_seconds ");
    expect(first).toMatch(/^almoner_publisher_resident_memory_bytes [1-9]\d{6,}$/m);
  });

  test("tells how long each node took for each kind of question", async () => {
    const local = await aChain();
    const opened = await local.open();
    await watched({ chain: opened });
    await opened.stillValid("1".repeat(32));
    const text = await (await ask("127.0.0.1")).text();
    const labels = `{host="${new URL(local.url).host}",method="isBlockhashValid",outcome="clear"}`;
    expect(text).toContain("# TYPE almoner_rpc_duration_seconds histogram\n");
    expect(text).toMatch(new RegExp(`^almoner_rpc_duration_seconds_count${labels} [1-9]`, "m"));
    await local.stop();
  });

  test("does not wait for a chain that is away", async () => {
    await watched({ chain: { ...chain, health: () => new Promise<never>(() => {}) } });
    const text = await (await ask("127.0.0.1")).text();
    expect(text).not.toContain("\nalmoner_rpc_up ");
    expect(text).toContain("# TYPE almoner_request_duration_seconds histogram");
  });

  test("goes on while the store is away", async () => {
    await watched({ store: await anAwayStore() });
    const answer = await ask("127.0.0.1");
    expect(await answer.text()).toContain('almoner_unready{part="store"} 1\n');
  });
});

describe("an error", () => {
  test("is logged and answered with one id: that of the trace, if the client sent one", async () => {
    const logged: { request_id?: string }[] = [];
    const store = await anAwayStore();
    const quiet = { info: () => {}, error: () => {}, debug: () => {} };
    const log = { ...quiet, warn: (facts: { request_id?: string }) => void logged.push(facts) };
    service = await aService({ context: { store, log } });
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    for (const headers of [{}, { traceparent }]) {
      const answer = await service.get("/api/causes", headers);
      const { request_id } = (await answer.json()) as { request_id: string };
      expect(request_id).toMatch(/^[\da-f-]{32,36}$/);
      expect(logged.at(-1)?.request_id).toBe(request_id);
      expect(answer.headers.get("traceparent")).toBe("traceparent" in headers ? traceparent : null);
    }
    expect(logged.at(-1)?.request_id).toBe(trace);
  });

  test("and at debug each request is one line, without path or address", async () => {
    const lines: unknown[][] = [];
    const quiet = { info: () => {}, error: () => {}, warn: () => {} };
    const log = { ...quiet, debug: (...said: unknown[]) => void lines.push(said) };
    service = await aService({ env: { ALMONER_LOG_LEVEL: "debug" }, context: { log } });
    await service.get("/api/nonprofits/ann@oak.example");
    expect(lines).toHaveLength(1);
    const [facts, message] = lines[0] ?? [];
    expect(message).toBe("request");
    expect(facts).toMatchObject({ method: "GET", route: "/api/nonprofits/:slug", status: 404 });
    expect(JSON.stringify(facts)).not.toContain("ann");
  });
});
