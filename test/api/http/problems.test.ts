import { describe, expect, test } from "bun:test";
import type { ResponseCache } from "#api/http/response-cache.ts";
import { listen } from "#api/http/listen.ts";
import { storeRefusal } from "#api/http/problem.ts";
import { measured, shown } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService } from "#test/support/service.ts";

const service = await theService({ records: [aNonprofit({ slug: "oak" })] });

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  service.request("/api/enrich/oak", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

async function expectProblem(answer: Response, status: number, code: string) {
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const body = (await answer.json()) as Record<string, unknown>;
  expect(body).toMatchObject({ status, code, type: `urn:almoner:problem:${code}` });
  expect(body["error"]).toBe(body["detail"]);
  expect(String(body["title"]).length).toBeGreaterThan(2);
  return body;
}

describe("a problem", () => {
  test("of an unknown path is 404", async () => {
    const answer = await service.get("/nowhere");
    await expectProblem(answer, 404, "no_such_path");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    await expectProblem(await service.get("/"), 404, "no_such_path");
  });

  test("of a wrong method is 405 and says which are right", async () => {
    for (const method of ["DELETE", "PUT", "PATCH", "GET"]) {
      const answer = await service.request("/api/enrich/oak", { method });
      expect(answer.headers.get("allow")).toBe("OPTIONS, POST");
      await expectProblem(answer, 405, "method_not_allowed");
    }
  });

  test("of a wrong method for a file of the bundle is 405 too, and OPTIONS says what it answers to", async () => {
    const bundleHolds = (path: string) => path === "/llms.txt";
    using fronted = await aService({ context: { bundleHolds } });
    const ask = (method: string, path = "/llms.txt") => fronted.request(path, { method });
    for (const method of ["POST", "DELETE", "PUT", "PATCH"]) {
      const answer = await ask(method);
      expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      await expectProblem(answer, 405, "method_not_allowed");
    }
    const asked = await ask("OPTIONS");
    expect([asked.status, asked.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, HEAD, OPTIONS",
    ]);
    await expectProblem(await ask("OPTIONS", "/none.txt"), 404, "no_such_path");
    // The bundle has answered GET already, or was replaced meanwhile.
    await expectProblem(await ask("GET"), 404, "no_such_path");
  });

  const chunks = () =>
    new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < 20; at++) controller.enqueue(new Uint8Array(8_192).fill(32));
        controller.close();
      },
    });
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const noJson = ["{", "", "nonsense", '{"a":1}}', "\u0000", "[1,2", "undefined"];
  const noUtf8 = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
  const otherTypes = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
  test.each<[string, number, string, readonly BodyInit[]]>([
    ["that is no JSON", 400, "invalid_json", noJson],
    ["in bytes that are no UTF-8", 400, "invalid_json", [noUtf8]],
    ["above 64 KiB", 413, "body_too_large", [`{"value":"${"x".repeat(65_536)}"}`, chunks()]],
    ["nested more than 8 deep", 400, "too_deep", [nested(9), nested(30_000)]],
  ])("of a body %s is %i", async (_, status, code, bodies) => {
    for (const body of bodies) await expectProblem(await post(body), status, code);
  });

  test.each(otherTypes)("of a body sent as %p is 415", async (type) => {
    await expectProblem(await post("a=1", { "content-type": type }), 415, "not_json");
  });

  test("does not come of brackets in texts", async () => {
    const shallow = await post(JSON.stringify({ value: '[[[[[[[[[["\\"{{{' }));
    expect(await shallow.json()).toMatchObject({ code: "invalid_enrichment" });
  });

  test.each(["application/json; charset=utf-8", "application/ld+json"])(
    "does not come of the content type %p",
    async (type) => {
      const answer = await post("{}", { "content-type": type });
      expect(await answer.json()).toMatchObject({ code: "invalid_enrichment" });
    },
  );

  test("of a path with broken escapes is 400", async () => {
    await expectProblem(await service.get("/api/nonprofits/%ff%fe"), 400, "bad_path");
  });
});

test("too many requests are answered 429 with the time to wait, and every answer tells what is left", async () => {
  using limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "3" } });
  const first = await limited.get("/api/causes");
  expect(first.headers.get("ratelimit-policy")).toBe('"read";q=3;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"read";r=2;t=\d+$/);
  await limited.get("/api/causes");
  await limited.get("/nowhere");
  const refused = await limited.get("/api/causes");
  expect(refused.headers.get("ratelimit")).toMatch(/^"read";r=0;t=\d+$/);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(61);
  await expectProblem(refused, 429, "rate_limited");
  expect((await limited.get("/healthz")).status).toBe(200);
});

/** Another process, because locks of a file are a process's own. */
async function lockFromAnotherProcess(databaseUrl: string): Promise<() => Promise<void>> {
  const script = `
    import { createClient } from "@libsql/client";
    await createClient({ url: process.argv[1] }).transaction("write");
    console.log("locked");
    await Bun.sleep(60_000);`;
  const child = Bun.spawn([process.execPath, "-e", script, databaseUrl], { stdout: "pipe" });
  await child.stdout.getReader().read();
  return async () => {
    child.kill();
    await child.exited;
  };
}

describe("trouble of the store", () => {
  test("a lock that another process holds is 503 with Retry-After", async () => {
    const release = await lockFromAnotherProcess(service.context.config.databaseUrl);
    const sent = { field: "city", value: "Oslo", agent_id: "oak-bot" };
    const answer = await service.post("/api/enrich/oak", sent);
    await release();
    expect(answer.headers.get("retry-after")).toBe("1");
    await expectProblem(answer, 503, "store_busy");
    expect((await service.post("/api/enrich/oak", sent)).status).toBe(200);
  });

  test("with a disk that is full writes are 507, reads go on, and writes pass once there is room", async () => {
    // SQLite's own limit refuses just as a disk does.
    const pagesMax = (pages: string) =>
      service.store.write((tx) => tx.raw.execute(`PRAGMA max_page_count = ${pages}`));
    // What its migrations dropped is no room; then the smallest that it takes is what the file has.
    await service.store.raw.execute("VACUUM");
    await pagesMax("1");
    const send = (at: number) => {
      const value = `${"A long description. ".repeat(200)}${at}`;
      const others = ["programme", "impact_metric", "mission"].map((field) => ({
        field,
        value: value.slice(-900),
      }));
      const fields = [{ field: "description", value }, ...others];
      return service.post("/api/enrich/oak", { fields, agent_id: `disk-${at}` });
    };
    // What is left of the last page may hold one or two.
    let answer = await send(0);
    for (let at = 1; at < 20 && answer.status === 200; at++) answer = await send(at);
    await expectProblem(answer, 507, "storage_full");
    expect((await service.get("/api/nonprofits/oak")).status).toBe(200);
    expect((await service.get("/api/causes")).status).toBe(200);
    await pagesMax("1073741823");
    const freeMs = performance.now();
    expect((await send(30)).status).toBe(200);
    measured(`writes again ${shown(performance.now() - freeMs)} ms after room was free`);
  });

  test("a full disk is 507, wherever in the causes it stands", () => {
    const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    const wrapped = new Error("Failed query", { cause: new Error("batch", { cause: full }) });
    expect(storeRefusal(wrapped)).toMatchObject({ status: 507, code: "storage_full" });
    expect(storeRefusal(new Error("something else"))).toBeNull();
  });
});

describe("an unexpected error", () => {
  test("before the service is 500 too, without a page that shows source and stack", async () => {
    const before = () => {
      throw new Error("secret path /srv/x");
    };
    const listening = listen(service.app, { ...service.context.config, port: 0 }, { before });
    const answer = await fetch(`${listening.url}/`, { headers: { accept: "text/html" } });
    const body = await expectProblem(answer, 500, "internal");
    expect(JSON.stringify(body)).not.toContain("secret");
    await listening.stop();
  });

  test("is 500, logged once with its cause, and tells the client nothing of it", async () => {
    const logged: unknown[] = [];
    const log = { ...service.context.log, error: (...facts: unknown[]) => logged.push(facts) };
    const cache: ResponseCache = {
      get: () => {
        throw new Error("secret path /srv/x", { cause: new Error("deep") });
      },
      size: () => 0,
    };
    using broken = await aService({ context: { cache, log } });
    const body = await expectProblem(await broken.get("/api/causes"), 500, "internal");
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(logged).toHaveLength(1);
  });
});
