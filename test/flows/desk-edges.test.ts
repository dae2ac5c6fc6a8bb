import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { listen } from "#api/http/listen.ts";
import { aBundle, sampleFiles } from "../support/bundle.ts";
import { hasNginx, startNginx } from "../support/nginx.ts";
import { aService } from "../support/service.ts";
import { hasVarnish, startVarnish } from "../support/varnish.ts";
import { forTests } from "#test/support/at-file-top.ts";

const ready = hasVarnish && hasNginx;
if (!ready) process.stderr.write("skipped: varnish, its modules or nginx are not installed\n");
const token = "a-token-of-ada-0123456789";

describe.skipIf(!ready)("the desk behind Varnish and nginx", () => {
  const service = forTests(() =>
    aService({
      env: { ALMONER_ADMIN_TOKENS: `ada:${token}`, ALMONER_TRUSTED_HOPS: "2" },
      context: { clock: () => new Date() },
    }),
  );
  const bundle = forTests(aBundle);
  const nginx = forTests(async () => {
    bundle.publish(sampleFiles);
    const listening = listen(service.app, { ...service.context.config, port: 0 });
    const servicePort = listening.port;
    const { close, port } = await startNginx({ root: bundle.exported.folder, servicePort });
    return { port, close: () => Promise.all([close(), listening.stop({ graceMs: 100 })]) };
  });
  const varnish = forTests(() => startVarnish(nginx.port));

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(varnish.origin + path, { headers, redirect: "manual" });
  const post = (path: string, cookie: string, fields: Record<string, string>) =>
    fetch(varnish.origin + path, {
      method: "POST",
      redirect: "manual",
      headers: {
        cookie,
        origin: service.context.config.baseUrl,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams(fields).toString(),
    });
  const cookieOf = (answer: Response, name: string) =>
    answer.headers
      .getSetCookie()
      .find((line) => line.includes(name))
      ?.split(";")[0] ?? "";
  const tokenIn = (body: string) => /name="token"\s+value="([^"]+)"/.exec(body)?.[1] ?? "";

  test("is signed in to, worked with and left, and nothing of it is kept for others", async () => {
    const page = await get("/desk/sign-in");
    const form = cookieOf(page, "desk-form");
    const signedIn = await post("/desk/sign-in", form, {
      token: tokenIn(await page.text()),
      operator_token: token,
      next: "/desk/log",
    });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/desk/log"]);
    const session = cookieOf(signedIn, "almoner-desk=");
    for (const path of ["/desk", "/desk/log", "/desk/queues/prose", "/desk/charts?days=7"]) {
      const own = await get(path, { cookie: session });
      expect([path, own.status, own.headers.get("x-cache")]).toEqual([path, 200, "miss"]);
      expect(own.headers.get("cache-control")).toBe("no-store");
      expect(own.headers.get("access-control-allow-origin")).toBeNull();
      expect(own.headers.get("content-security-policy")).toStartWith("default-src 'none'");
      expect(await own.text()).toContain("Signed in as");
      // Anyone who comes next without a session gets nothing of what has just been shown.
      const other = await get(path);
      expect([path, other.status]).toEqual([path, 401]);
      expect(await other.text()).not.toContain("Signed in as");
    }
    const desk = await get("/desk", { cookie: session });
    const left = await post("/desk/sign-out", session, { token: tokenIn(await desk.text()) });
    expect(left.status).toBe(303);
    expect((await get("/desk", { cookie: session })).status).toBe(401);
  });

  test("takes no form from another site", async () => {
    const page = await get("/desk/sign-in");
    const fields = { token: tokenIn(await page.text()), operator_token: token };
    const answer = await fetch(`${varnish.origin}/desk/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: {
        cookie: cookieOf(page, "desk-form"),
        origin: "https://evil.example",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams(fields).toString(),
    });
    expect(answer.status).toBe(403);
  });

  test("sets no cookie on files", async () => {
    for (const path of ["/", "/causes/education", "/api/causes"]) {
      expect((await get(path)).headers.getSetCookie()).toEqual([]);
    }
  });
});

test("hosts that go by lists of paths pass the desk to the service", () => {
  const redirects = readFileSync("site/delivery/edge/_redirects", "utf8");
  for (const path of ["/desk ", "/desk/* "]) {
    const line = redirects.split("\n").find((one) => one.startsWith(path)) ?? "";
    expect(line).toEndWith("200!"); // Before any file of that name.
  }
  expect(readFileSync("docs/cdn.md", "utf8")).toContain("`/desk*`"); // A behaviour of its own in CloudFront.
});
