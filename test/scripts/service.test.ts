import { listen } from "#api/http/listen.ts";
import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { runApart } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const dataDir = theFolder();

// The service as a process of its own, on a socket.
type Running = { child: Bun.Subprocess<"ignore", "pipe", "pipe">; port: number; log(): string };

const tokenFile = () => join(dataDir, "secrets/admin-token");

const spawn = (port: string) =>
  Bun.spawn([process.execPath, join(import.meta.dirname, "../../scripts/service.ts")], {
    env: { ...process.env, ALMONER_DATA_DIR: dataDir, ALMONER_PORT: port },
    stdio: ["ignore", "pipe", "pipe"],
  });

async function start(): Promise<Running> {
  const child = spawn("0");
  let log = "";
  const listening = Promise.withResolvers<number>();
  void (async () => {
    for await (const chunk of child.stderr) {
      log += new TextDecoder().decode(chunk);
      const port = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(log)?.[1];
      if (port !== undefined) listening.resolve(Number(port));
    }
    listening.reject(new Error(log));
  })();
  return { child, port: await listening.promise, log: () => log };
}
const running = await start();
afterAll(async () => {
  running.child.kill();
  await running.child.exited;
});

/** Sends raw bytes and answers all that comes back until the server is done with the connection. */
const raw = (bytes: string | Uint8Array): Promise<string> =>
  new Promise((resolve) => {
    let answer = "";
    const socket = connect(running.port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (data) => {
      answer += data.toString("latin1");
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", () => {});
  });

const request = (line: string, headers = "", body = "") =>
  raw(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n${body}`);

const statusOf = (answer: string): number => Number(answer.split(" ")[1]);

describe("over a socket", () => {
  test("HEAD tells the length of what GET gives", async () => {
    const got = await request("GET /api/causes");
    const length = /content-length: (\d+)/i.exec(got)?.[1];
    const head = await request("HEAD /api/causes");
    expect(statusOf(head)).toBe(200);
    expect(/content-length: (\d+)/i.exec(head)?.[1]).toBe(length ?? "");
    expect(head).toEndWith("\r\n\r\n");
  });

  test("a query of 100 kB is answered", async () => {
    expect(statusOf(await request(`GET /api/search?q=${"a".repeat(100_000)}`))).toBe(200);
    // A limit beyond the largest is that one, however long its number is.
    expect(statusOf(await request(`GET /api/nonprofits?limit=${"9".repeat(100_000)}`))).toBe(200);
    expect(statusOf(await request(`GET /api/nonprofits?limit=${"x".repeat(100_000)}`))).toBe(400);
  });

  test("bytes that are no UTF-8 break nothing", async () => {
    const odd = "GET /api/nonprofits/\xff\xfe?limit=\xff HTTP/1.1\r\nHost: localhost\r\n";
    const bytes = Buffer.from(`${odd}Connection: close\r\n\r\n`, "latin1");
    expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test.each([500_000, 10_000_000])(
    "a body announced as %p bytes is refused before it came",
    async (length) => {
      const headers = `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
      const answer = await request("POST /api/enrich/oak", headers, "{");
      expect(statusOf(answer)).toBe(413);
      expect(answer).toContain("body_too_large");
      expect(answer).toContain("research-bot-7");
      // The port is a free one, and examples name it.
      expect(answer).toContain(`http://localhost:${running.port}/`);
    },
  );

  test.each(["localhost", "api"])(
    "a body in chunks to %s is refused as soon as it is too large",
    async (host) => {
      const socket = connect(running.port, "127.0.0.1");
      await once(socket, "connect");
      const told = once(socket, "data");
      const type = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
      socket.write(`POST /api/enrich/oak HTTP/1.1\r\nHost: ${host}\r\n${type}`);
      // In pieces, so that some come after the service has seen enough.
      for (let at = 0; at < 10; at++) {
        socket.write(`2710\r\n${"x".repeat(10_000)}\r\n`);
        await Bun.sleep(5);
      }
      const answer = String((await told)[0]);
      socket.destroy();
      expect(statusOf(answer)).toBe(413);
      expect(answer).toContain("research-bot-7");
    },
  );

  test("clients are distinguished by their address, and counted", async () => {
    const answer = await request("GET /api/causes", "X-Forwarded-For: 198.51.100.1\r\n");
    expect(answer).toMatch(/ratelimit: "read";r=\d+;t=\d+/i);
    const limited = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        request("POST /api/onboard", `X-Forwarded-For: 198.51.100.${at}\r\nContent-Length: 0\r\n`),
      ),
    );
    expect(limited.filter((one) => statusOf(one) === 429)).toHaveLength(2);
  });
});

describe("the process", () => {
  test("logs neither addresses nor its token in JSON lines", () => {
    const log = running.log().trim();
    for (const line of log.split("\n")) expect(line).toStartWith("{");
    expect(log).not.toContain("198.51.100");
    expect(log).not.toContain(readFileSync(tokenFile(), "utf8").trim());
    expect(log).toContain(tokenFile());
  });

  test("answers what is under way when it is stopped, and has clients close their connections", async () => {
    const app = { handle: async () => Bun.sleep(20).then(() => new Response("done")) };
    const listening = listen(app, { host: "127.0.0.1", port: 0, baseUrl: "http://localhost" });
    const ask = () => fetch(listening.url).then(({ headers }) => headers.get("connection"));
    const before = Array.from({ length: 20 }, ask);
    await Bun.sleep(5);
    const stopped = listening.stop({ drainMs: 50 });
    const during = Array.from({ length: 20 }, ask);
    const connections = await Promise.all([...before, ...during]);
    expect(connections).toEqual(Array.from({ length: 40 }, () => "close"));
    await stopped;
    expect(ask()).rejects.toThrow();
  });

  test("names a setting that is bad, and ends with 2", async () => {
    const child = spawn("eighty");
    expect(await new Response(child.stderr).text()).toContain("ALMONER_PORT");
    expect(await child.exited).toBe(2);
  });

  test("starts nothing when it is asked for its options, or does not know one", async () => {
    const env = { ALMONER_DATA_DIR: join(dataDir, "none"), ALMONER_PORT: "0" };
    const [help, unknown] = await Promise.all(
      ["--help", "--foo"].map((word) => runApart("service", [word], env)),
    );
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining("--share-port") });
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("--foo") });
    expect(existsSync(env.ALMONER_DATA_DIR)).toBe(false);
  });

  test("stops cleanly at SIGTERM, also with an idle connection open", async () => {
    const idle = connect(running.port, "127.0.0.1");
    idle.on("error", () => {});
    await fetch(`http://127.0.0.1:${running.port}/healthz`);
    running.child.kill("SIGTERM");
    expect(await running.child.exited).toBe(0);
    expect(running.log()).toContain("stopping");
    idle.destroy();
  });
});
