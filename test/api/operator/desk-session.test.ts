import { beforeEach, describe, expect, test } from "bun:test";
import { closeSession, sessionOf } from "#api/operator/desk/session.ts";
import {
  alerts,
  theOperatedService,
  aVisitor,
  type DeskPage,
  type Visitor,
} from "#test/support/desk.ts";
import { aService, type TestService, testNow } from "#test/support/service.ts";

const ada = "a-token-of-ada-0123456789";
const grace = "a-token-of-grace-0123456789";
let now = testNow;
const service = await theOperatedService({ context: { clock: () => now } });

/** On a network of its own in each test, because failures to sign in count. */
let network: Record<string, string>;
let visitor: Visitor;
beforeEach(() => {
  now = testNow;
  network = service.from();
  visitor = aVisitor(service, network);
});
const sessionCookie = "__Secure-almoner-desk";

/** The token of the form on a page. */
const tokenOf = ({ $ }: DeskPage) => $("input[name=token]").attr("value") ?? "";
const cookies = () => [...visitor.cookies].map((pair) => pair.join("=")).join("; ");

describe("without a session", () => {
  test("every address of the desk is 401, and a page of it the form to sign in", async () => {
    const routes = service.app.routes
      .map(({ method, path }) => [method, path.replaceAll(/:\w+/g, "x")] as const)
      .filter(([, path]) => path.startsWith("/desk") && !/sign-in|css$|woff2$/.test(path));
    expect(routes.length).toBeGreaterThan(15);
    for (const [method, path] of [...routes, ["GET", "/desk/"], ["GET", "/desk/a/b/c"]] as const) {
      const isPage = method === "GET";
      const page = await (isPage ? visitor.get(path) : visitor.post(path, { token: "x" }));
      expect([method, path, page.status]).toEqual([method, path, 401]);
      if (!isPage) continue;
      expect(page.$("h1").text()).toBe("Sign in");
      expect(page.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });

  test("a cookie that this service did not sign is none", async () => {
    const unsigned = "eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4IiwiZXhwIjo5OTk5OTk5OTk5fQ.";
    for (const value of ["nonsense", "a.b.c", "", unsigned, "x".repeat(9_000), "\u00e9"]) {
      const cookie = `${sessionCookie}=${encodeURIComponent(value)}`;
      expect([value, (await visitor.get("/desk", { cookie })).status]).toEqual([value, 401]);
    }
  });
});

describe("signing in", () => {
  test("takes an operator's token, and goes where one wanted to go", async () => {
    const asked = await visitor.get("/desk/log?operator=ada&before=9");
    const page = await visitor.send(asked, "Sign in", { operator_token: ada });
    expect(page).toMatchObject({ status: 200, path: "/desk/log?operator=ada&before=9" });
    expect(page.$("header").text()).toContain("Signed in as ada");
    expect((await visitor.get("/desk")).status).toBe(200);
  });

  test("keeps the session in a cookie for TLS, without scripts and other sites, that holds no token", async () => {
    await visitor.signIn(ada);
    const statement = visitor.cookies.get(sessionCookie) ?? "";
    expect(Buffer.from(statement.split(".")[1] ?? "", "base64url").toString()).not.toContain(ada);
    const page = await visitor.get("/desk/sign-in");
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      ...network,
      cookie: cookies(),
    };
    const body = new URLSearchParams({ token: tokenOf(page), operator_token: ada });
    const answer = await service.request("/desk/sign-in", { method: "POST", headers, body });
    const [line = ""] = answer.headers.getSetCookie();
    for (const part of ["HttpOnly", "SameSite=Strict", "Secure", "Path=/desk", "Max-Age=28800"]) {
      expect(line).toContain(part);
    }
  });

  test("is refused with another token, and with none", async () => {
    for (const token of ["wrong", "", `${ada}x`, ada.slice(0, -1), `ada:${ada}`]) {
      const page = await visitor.signIn(token);
      expect(page.status).toBe(401);
      expect(page.$("[role=alert]").text()).toContain("No operator has this token");
    }
    expect(visitor.cookies.has(sessionCookie)).toBe(false);
  });

  test("is locked after five failures in a minute, also with the right token and with a bearer; others are not", async () => {
    for (let at = 0; at < 5; at++) expect((await visitor.signIn(`wrong-${at}`)).status).toBe(401);
    const locked = await visitor.signIn(ada);
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(0);
    const from = { ...network, authorization: `Bearer ${ada}` };
    expect((await service.get("/api/admin/reviews", from)).status).toBe(429);
    const other = aVisitor(service, service.from());
    expect((await other.signIn(ada)).status).toBe(200);
  });

  test("needs the form's own token and cookie", async () => {
    const page = await visitor.get("/desk/sign-in");
    expect(page.status).toBe(200);
    const fields = { operator_token: ada, next: "/desk" };
    const token = tokenOf(page);
    const answered = async (by: Visitor, sent: object, headers: Record<string, string> = {}) =>
      (await by.post("/desk/sign-in", { ...fields, ...sent }, headers)).status;
    expect(await answered(visitor, {})).toBe(403);
    expect(await answered(visitor, { token: "x" })).toBe(403);
    expect(await answered(aVisitor(service), { token })).toBe(403);
    expect(await answered(visitor, { token }, { origin: "https://evil.example" })).toBe(403);
    expect(await answered(visitor, { token })).toBe(200);
  });

  test("never goes elsewhere than to the desk", async () => {
    for (const next of [
      "https://evil.example/",
      "//evil.example",
      "/desk//../../x\\evil",
      "javascript:alert(1)",
      "/nonprofits/x",
      "/desk\r\nx: y",
      "/desk/%0d%0a",
      "/desk/../nonprofits/x",
      "/desk/%2e%2e/nonprofits/x",
      "/desk/..//evil.example",
    ]) {
      const page = await visitor.get("/desk/sign-in");
      const { path, status } = await visitor.send(page, "Sign in", { operator_token: ada, next });
      expect([next, new URL(path, "http://localhost").pathname]).toEqual([
        next,
        expect.stringMatching(/^\/desk/),
      ]);
      expect([200, 404]).toContain(status);
    }
  });
});

describe("a session", () => {
  test("ends after eight hours", async () => {
    await visitor.signIn(ada);
    now = new Date(testNow.getTime() + 8 * 3_600_000 - 2_000);
    const page = await visitor.get("/desk/undo");
    expect(page.status).toBe(200);
    now = new Date(testNow.getTime() + 8 * 3_600_000 + 2_000);
    expect((await visitor.get("/desk")).status).toBe(401);
    const late = await visitor.send(page, "Take it back", { slug: "trust", reason: "x" });
    expect(late.status).toBe(401);
    expect(alerts(late)).toContain("nothing was done");
    expect(late.$("input[name=next]").attr("value")).toBe("/desk/undo");
  });

  test("ends for every process when the operator signs out, a copied cookie too", async () => {
    const page = await visitor.signIn(ada);
    const cookie = `${sessionCookie}=${visitor.cookies.get(sessionCookie)}`;
    expect((await aVisitor(service).get("/desk", { cookie })).status).toBe(200);
    expect((await visitor.send(page, "Sign out")).$("h1").text()).toBe("Sign in");
    expect((await aVisitor(service).get("/desk", { cookie })).status).toBe(401);
    expect((await visitor.signIn(ada)).status).toBe(200);
  });

  test("ends with the tokens it may rest on, and does not pass to another operator's", async () => {
    await visitor.signIn(ada);
    const statement = visitor.cookies.get(sessionCookie) ?? "";
    const cookie = `${sessionCookie}=${statement}`;
    const request = new Request("http://localhost/desk", { headers: { cookie } });
    const { context } = service;
    const under = (secrets: Partial<TestService["context"]["secrets"]>) =>
      sessionOf({ ...context, secrets: { ...context.secrets, ...secrets } }, request);
    const withTokens = (...adminTokens: { name: string; token: string }[]) =>
      under({ adminTokens });
    expect(await withTokens({ name: "ada", token: ada })).toMatchObject({ operator: "ada" });
    // While its token changes an operator has two.
    const both = await withTokens({ name: "ada", token: grace }, { name: "ada", token: ada });
    expect(both).toMatchObject({ operator: "ada" });
    expect(await withTokens({ name: "ada", token: grace })).toBeNull();
    expect(await withTokens({ name: "grace", token: ada })).toBeNull();
    expect(await withTokens()).toBeNull();
    expect(await under({ deskKey: new Uint8Array(32) })).toBeNull();
    if (both !== null) await closeSession(context, both);
    expect(await under({})).toBeNull();
  });

  test("is of plain HTTP where the directory is", async () => {
    using plain = await aService({
      env: { ALMONER_ADMIN_TOKENS: `ada:${ada}`, ALMONER_BASE_URL: "http://localhost:8080" },
    });
    const at = aVisitor(plain, { origin: "http://localhost:8080" });
    const page = await at.get("/desk");
    expect(page.headers.getSetCookie()[0]).not.toContain("Secure");
    await at.post(
      "/desk/sign-in",
      { operator_token: ada, token: tokenOf(page) },
      { origin: "http://localhost:8080" },
    );
    expect([...at.cookies.keys()]).toContain("almoner-desk");
  });
});

describe("a form", () => {
  const undo = { agent_id: "bot", reason: "test" };
  test("needs the token of its session", async () => {
    const token = tokenOf(await visitor.signIn(ada));
    const other = aVisitor(service, service.from());
    const foreign = tokenOf(await other.signIn(grace));
    expect(foreign).not.toBe(token);
    for (const bad of ["", "x", foreign, `${token}x`, token.slice(1)]) {
      expect((await visitor.post("/desk/undo/agent", { ...undo, token: bad })).status).toBe(403);
    }
    const own = await visitor.post("/desk/undo/agent", { ...undo, token });
    expect(alerts(own)).toContain("No submission of an agent bot exists");
  });

  test("is refused from elsewhere, with the right token", async () => {
    const token = tokenOf(await visitor.signIn(ada));
    for (const [name, value] of [
      ["origin", "https://evil.example"],
      ["origin", "null"],
      ["origin", "https://almoner.example.evil.example"],
      ["origin", "http://almoner.example"],
      ["sec-fetch-site", "cross-site"],
      ["sec-fetch-site", "same-site"],
    ] as const) {
      const headers = { [name]: value };
      const page = await visitor.post("/desk/undo/agent", { ...undo, token }, headers);
      expect([headers, page.status]).toEqual([headers, 403]);
      expect(page.$("[role=alert]").text()).toContain("Nothing was done");
    }
  });

  test("is not JSON, and not long", async () => {
    await visitor.signIn(ada);
    const answered = async (fields: object, headers: Record<string, string> = {}) =>
      (await visitor.post("/desk/undo/agent", { ...undo, ...fields }, headers)).status;
    expect(await answered({}, { "content-type": "application/json" })).toBe(415);
    expect(await answered({}, { "content-type": "multipart/form-data; boundary=x" })).toBe(415);
    expect(await answered({ reason: "x".repeat(70_000) })).toBe(413);
  });
});

test("a session opens nothing but the desk", async () => {
  await visitor.signIn(ada);
  const headers = { cookie: cookies(), ...service.from() };
  expect((await service.get("/api/admin/reviews", headers)).status).toBe(401);
});

test("every answer is kept by no one, framed by no one and shown to no other origin", async () => {
  const answers = [
    await visitor.get("/desk"),
    await visitor.signIn(ada),
    await visitor.get("/desk/nothing"),
    await visitor.post("/desk/undo/agent", {}),
  ];
  for (const { headers } of answers) {
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("link")).toBeNull();
    expect(headers.get("x-robots-tag")).toContain("noindex");
  }
  const page = await visitor.get("/desk");
  const sheet = await service.get(page.$("link[rel=stylesheet]").attr("href") ?? "");
  expect(sheet.headers.get("content-type")).toStartWith("text/css");
  expect(sheet.headers.get("cache-control")).toContain("immutable");
});
