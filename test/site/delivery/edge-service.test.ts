import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Listening, listen } from "#api/http/listen.ts";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { hasNginx, startNginx, type TestNginx } from "#test/support/nginx.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, type TestService } from "#test/support/service.ts";

let bundle: TestBundle;
let service: TestService;
let listening: Listening;
let nginx: TestNginx;

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(nginx.origin + path, { headers });

describe.skipIf(!hasNginx)("nginx in front of the real service", () => {
  beforeAll(async () => {
    bundle = aBundle();
    bundle.publish(sampleFiles);
    service = await aService({
      env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_READS_PER_MINUTE: "5" },
      records: [aNonprofit({ name: "Water for All", slug: "water-for-all", country_code: "KE" })],
    });
    listening = listen(service.app, { ...service.context.config, port: 0 });
    nginx = await startNginx({ root: bundle.exported.folder, servicePort: listening.port });
  });
  afterAll(async () => {
    await nginx?.close();
    await listening?.stop();
    service?.close();
    bundle?.close();
  });

  test("passes answers on as they are, refusals too", async () => {
    for (const [path, body] of [
      ["/api/search?q=water", { total: 1 }],
      ["/api/nonprofits?limit=1", { total: 1, count: 1 }],
      ["/api/nonprofits/nobody-knows-it", { status: 404 }],
      ["/api/nonprofits?limit=-1", { status: 400 }],
    ] as const) {
      const answer = await get(path, { "x-forwarded-for": "203.0.113.1" });
      expect(await answer.json()).toMatchObject(body);
      expect(answer.status).toBe("status" in body ? body.status : 200);
      expect(answer.headers.get("cache-tag")).toBeNull();
    }
    const posted = await fetch(`${nginx.origin}/api/nonprofits/water-for-all`, { method: "POST" });
    expect([404, 405]).toContain(posted.status);
  });

  test("leaves who says how far it has seen to the service, files as well", async () => {
    const path = "/api/nonprofits/water-for-all";
    expect((await get(path)).headers.get("cache-tag")).not.toBeNull();
    const answer = await get(path, { "almoner-sequence": "1" });
    expect(answer.headers.get("cache-tag")).toBeNull();
    expect(answer.headers.get("ratelimit")).not.toBeNull();
  });

  test("each reader is counted alone, by the address that nginx saw", async () => {
    const statuses: number[] = [];
    for (let asked = 0; asked < 7; asked++) {
      // What a client claims of itself does not help: nginx adds the true address on the right.
      const headers = { "x-forwarded-for": `198.51.100.${asked}` };
      const answer = await get("/api/search?q=water", headers);
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    expect(statuses).toContain(429);
    // Files are never limited.
    expect((await get("/api/nonprofits/water-for-all")).status).toBe(200);
  });
});
