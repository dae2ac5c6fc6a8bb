import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Listening, listen } from "#api/http/listen.ts";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { hasNginx, startNginx, type TestNginx } from "#test/support/nginx.ts";
import { aService, type TestService } from "#test/support/service.ts";
import { hasVarnish, startVarnish } from "#test/support/varnish.ts";

// A request that one server on the way reads differently than the next.

let service: TestService;
let listening: Listening;
let bundle: TestBundle;
beforeAll(async () => {
  service = await aService();
  listening = listen(service.app, { host: "127.0.0.1", port: 0 });
  bundle = aBundle();
  bundle.publish(sampleFiles);
});
afterAll(async () => {
  await listening.stop();
  service.close();
  bundle.close();
});

/** The answer to bytes as they are written. */
const raw = (port: number, head: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (part) => void (text += part.toString("latin1")));
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
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
  let nginx: TestNginx;
  beforeAll(async () => {
    nginx = await startNginx({
      root: bundle.exported.folder,
      servicePort: listening.port,
      tls: true,
    });
  });
  afterAll(() => nginx.close());
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
