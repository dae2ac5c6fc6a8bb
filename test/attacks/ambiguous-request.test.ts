import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { array, assert, asyncProperty, constantFrom, tuple } from "fast-check";
import { listen } from "#api/http/listen.ts";
import { aBundle, sampleFiles } from "#test/support/bundle.ts";
import { isFull } from "#test/support/measured.ts";
import { aNonprofit } from "#test/support/records.ts";
import { hasNginx, startNginx } from "#test/support/nginx.ts";
import { aService, theService } from "#test/support/service.ts";
import { hasVarnish, startVarnish } from "#test/support/varnish.ts";
import { forTests } from "#test/support/at-file-top.ts";

// A request that one server on the way reads differently than the next.

const service = await theService({ records: [aNonprofit({ slug: "hope-kitchen" })] });
const listening = listen(service.app, { ...service.context.config, port: 0 });
const bundle = aBundle();
bundle.publish(sampleFiles);
afterAll(async () => {
  await listening.stop();
  bundle.close();
});

/** The answer to bytes as they are written. */
const raw = (port: number, head: string, body = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
    });
    socket.on("data", (part) => void (text += part.toString("latin1")));
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });

let strangers = 100;

/** The statuses of enrichments by agents of their own, each on a connection of its own; without a host by HTTP/1.0. */
async function posted(count: number, target: string, host: string | null): Promise<string[]> {
  const version = host === null ? "1.0" : `1.1\r\nHost: ${host}`;
  const head = `POST ${target} HTTP/${version}\r\nContent-Type: application/json\r\nContent-Length: `;
  const send = () => {
    const agent_id = `stranger ${strangers++}`;
    const body = JSON.stringify({ field: "city", value: "Oslo", agent_id });
    return raw(listening.port, head + body.length, body);
  };
  const statuses: string[] = [];
  while (statuses.length < count) {
    const some = Array.from({ length: Math.min(10, count - statuses.length) });
    const answers = await Promise.all(some.map(send));
    statuses.push(...answers.map((answer) => answer.slice(9, 12)));
  }
  return statuses;
}

const targets = ["/desk/healthz?/api/enrich/hope-kitchen", "/api/enrich/hope-kitchen", "/readyz"];

test.each(["x?", "x#", "x|", "x@y", "x/y", "x\\y", "", "[::1", "x:99999", "a..b"])(
  "a Host that is no name, %j, is refused before all else",
  async (host) => {
    for (const target of targets) expect(await posted(1, target, host)).toEqual(["400"]);
    const head = `GET /agents.md HTTP/1.1\r\nHost: ${host}`;
    expect(await raw(listening.port, head)).toMatch(/^HTTP\/1\.1 400 [^]*"code":"bad_host"/);
  },
);

test("writes whose Host hides the path, or that have none, come to 30 at most", async () => {
  const hidden = await posted(10, "/desk/healthz?/api/enrich/hope-kitchen", "x?");
  const hostless = await posted(10, "/desk/healthz?/api/enrich/hope-kitchen", null);
  const plain = await posted(40, "/api/enrich/hope-kitchen", null);
  const taken = [hidden, hostless, plain].map((all) => all.filter((status) => status === "200"));
  expect(taken.map(({ length }) => length)).toEqual([0, 0, 30]);
});

test("a probe that speaks HTTP/1.0 without a Host hears what others hear", async () => {
  expect(await raw(listening.port, "GET /healthz HTTP/1.0")).toContain('{"status":"ok"');
  expect(await raw(listening.port, "GET /readyz HTTP/1.0")).toContain("application/");
  expect(await raw(listening.port, "GET /api/causes HTTP/1.0")).toContain('"surf-therapy"');
});

/** The limit that an answer says it counted toward. */
const limitOf = (answer: Response) =>
  answer.headers.get("ratelimit-policy")?.split('"')[1] ?? "none";

test("each route that writes counts toward a limit of its own, and none but probes toward none", async () => {
  const limited = await aService({ env: { ALMONER_READS_PER_MINUTE: "100000" } });
  const counted = await Promise.all(
    limited.app.routes.map(async ({ method, path }) => {
      const url = `http://localhost${path.replaceAll(/:\w+/g, "nothing").replace("*", "x")}`;
      const verb = method === "ALL" ? "POST" : method;
      const answer = await limited.app.handle(new Request(url, { method: verb }));
      return `${limitOf(answer)} ${verb} ${path}`;
    }),
  );
  limited.close();
  const of = (limit: string) => counted.filter((one) => one.startsWith(`${limit} `));
  expect(of("none").sort()).toEqual(["none GET /healthz", "none GET /metrics", "none GET /readyz"]);
  expect([of("donate").length, of("pay").length]).toEqual([3, 1]);
  const reading = of("read").filter((one) => one.startsWith("read POST "));
  const open = reading.filter((one) => !/ \/(?:api\/admin|desk|reconcile|mcp)(?:\/|$)/.test(one));
  expect(open.sort()).toEqual([
    "read POST /api/corrections/status/page",
    "read POST /api/onboard/status/page",
    "read POST /api/organisations/standing",
    "read POST /api/wallets",
  ]);
});

test("no way to write a path reaches a route that counts otherwise", async () => {
  const parts = constantFrom("api", "enrich", "healthz", "desk", "onboard", "donate", "x");
  const marks = ["/", "//", "/./", "/../", "/%2e/", "%2f", ";", "?", "/?", "\\", ":", "@"];
  await assert(
    asyncProperty(array(tuple(constantFrom(...marks), parts), { maxLength: 6 }), async (steps) => {
      const target = `/${steps.flat().join("")}`;
      const answer = await raw(listening.port, `POST ${target} HTTP/1.1\r\nHost: a`, "{}");
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d/);
      expect(answer).not.toContain("internal");
    }),
    { numRuns: isFull ? 150 : 60 },
  );
});

test("a fragment is no part of a request's address", async () => {
  const answer = await raw(listening.port, "GET /healthz#/api HTTP/1.1\r\nHost: a.example");
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"bad_path"/);
});

const twoHosts = [
  "GET /healthz HTTP/1.1\r\nHost: a.example\r\nHost: b.example",
  "GET /healthz HTTP/1.1\r\nHost: a.example\r\nhost: a.example",
  "GET /healthz HTTP/1.1\r\nHost: a.example, b.example",
  "GET /healthz HTTP/1.1\r\nHost: a.example b.example",
];

test.each(twoHosts)("%j is refused by the service", async (head) => {
  expect(await raw(listening.port, head)).toMatch(/^HTTP\/1\.1 400 [^]*"code":"bad_host"/);
});

test.each(["localhost:8080", "[::1]:8080", "127.0.0.1", "xn--bcher-kva.example", "a_b.example"])(
  "one host, %s, is answered",
  async (host) => {
    const head = `GET /healthz HTTP/1.1\r\nHost: ${host}`;
    expect(await raw(listening.port, head)).toStartWith("HTTP/1.1 200");
  },
);

describe.skipIf(!hasNginx)("behind nginx", () => {
  const nginx = forTests(() =>
    startNginx({ root: bundle.exported.folder, servicePort: listening.port, tls: true }),
  );
  const ask = (path: string, method = "GET") =>
    fetch(nginx.origin + path, { method, tls: { rejectUnauthorized: false }, redirect: "manual" });
  const overTls = async (head: string) => {
    const child = Bun.spawn(
      ["openssl", "s_client", "-quiet", "-connect", `127.0.0.1:${nginx.port}`],
      { stdin: Buffer.from(`${head}\r\nConnection: close\r\n\r\n`), stderr: "ignore" },
    );
    return new Response(child.stdout).text();
  };

  test.each(twoHosts)("%j is refused", async (head) => {
    expect(await overTls(head)).toStartWith("HTTP/1.1 400");
  });

  test("a Host that is no name reaches no route, and without one the answer is the same", async () => {
    expect(await overTls("GET /healthz HTTP/1.1\r\nHost: x?")).toStartWith("HTTP/1.1 400");
    expect(await overTls("GET /healthz HTTP/1.0")).toContain('{"status":"ok"');
  });

  test.each([
    ["BREW", "/api/search"],
    ["BREW", "/nonprofits/water-for-all"],
    ["PROPFIND", "/mcp"],
    ["TRACE", "/healthz"],
    ["CONNECTED", "/desk"],
    ["DELETE", "/nonprofits/water-for-all"],
  ])("%s %s is not allowed, and says what is", async (method, path) => {
    const answer = await overTls(`${method} ${path} HTTP/1.1\r\nHost: a.example`);
    expect(answer).toStartWith("HTTP/1.1 405");
    expect(answer).toMatch(/^Allow: GET, HEAD, /m);
    expect(answer).toContain('"code":"method_not_allowed"');
  });

  test.each(["/", "/nothing", "/healthz", "/api/nonprofits/nobody", "/mcp"])(
    "%s asks for TLS from now on",
    async (path) => {
      const answer = await ask(path);
      expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
    },
  );

  test("plain HTTP is sent to TLS at the directory's own name, whatever the Host", async () => {
    const port = Number(new URL(nginx.plainOrigin).port);
    const answer = await raw(port, "GET /causes?x=1 HTTP/1.1\r\nHost: evil.example");
    expect(answer).toStartWith("HTTP/1.1 301");
    expect(answer).toMatch(/^Location: https:\/\/directory\.example\/causes\?x=1\r$/m);
    expect(answer).not.toContain("Strict-Transport-Security");
  });
});

test.skipIf(!hasVarnish)("Varnish refuses a method that the service does not know", async () => {
  const varnish = await startVarnish(listening.port);
  const head = "BREW /api/search HTTP/1.1\r\nHost: a.example";
  const answer = await raw(Number(new URL(varnish.origin).port), head);
  await varnish.close();
  expect(answer).toStartWith("HTTP/1.1 405");
});
