import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openStore } from "#content/store/open.ts";
import { liveCounters } from "#content/store/stats.ts";
import { hitOf, readLogLine } from "#scripts/import-hits/log-line.ts";

const root = join(import.meta.dirname, "../..");
const nginx = (request: string, status = 200) =>
  `203.0.113.9 - - [21/Nov/2026:06:55:28 +0100] "${request} HTTP/1.1" ${status} 512 "-" "curl/8 \\"x\\""`;
const cloudflare = (parts: object) =>
  JSON.stringify({
    ClientRequestMethod: "GET",
    ClientRequestURI: "/llms.txt?x=1",
    EdgeResponseStatus: 200,
    EdgeStartTimestamp: "2026-11-21T05:55:28Z",
    CacheCacheStatus: "hit",
    ...parts,
  });

describe("a line of an access log", () => {
  test.each([
    [nginx("GET /llms.txt"), "hit:llms_txt"],
    [nginx("HEAD /agents.md?from=x"), "hit:agents_md"],
    [nginx("GET /AGENTS.md"), "hit:agents_md"],
    [nginx("GET /.well-known/ai-plugin.json", 304), "hit:ai_plugin"],
    [nginx("GET /llms.txt", 404), null],
    [nginx("POST /llms.txt"), null],
    [nginx("GET /causes"), null],
    [cloudflare({}), "hit:llms_txt"],
    [cloudflare({ CacheCacheStatus: "miss" }), null],
    [cloudflare({ CacheCacheStatus: undefined }), "hit:llms_txt"],
    [cloudflare({ ClientRequestURI: undefined, ClientRequestPath: "/agents.md" }), "hit:agents_md"],
  ])("%s counts as %p", (line, kind) => {
    const request = readLogLine(line);
    expect(request === null ? "not read" : hitOf(request, { all: false })).toBe(kind as never);
  });

  test("an origin that is a bucket counts nothing itself, so what went there counts too", () => {
    const request = readLogLine(cloudflare({ CacheCacheStatus: "miss" }));
    expect(request && hitOf(request, { all: true })).toBe("hit:llms_txt");
  });

  test.each([
    [nginx("GET /x"), Date.UTC(2026, 10, 21, 5, 55, 28)],
    [cloudflare({}), Date.UTC(2026, 10, 21, 5, 55, 28)],
    [cloudflare({ EdgeStartTimestamp: 1_795_240_528 }), 1_795_240_528_000],
    [cloudflare({ EdgeStartTimestamp: 1_795_240_528_000_000_000 }), 1_795_240_528_000],
  ])("its time is told: %s", (line, atMs) => {
    expect(readLogLine(line)?.atMs).toBe(atMs);
  });

  test.each(["", "{", "{}", "null", "{\"ClientRequestURI\":1}", "hello", nginx("GET /x").slice(5, 30), "\u0000"])(
    "%p is none", (line) => expect(readLogLine(line)).toBeNull(),
  ); // prettier-ignore
});

describe("bun run import-hits", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "almoner-hits-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, join(root, "scripts/import-hits.ts"), ...args], {
      cwd: root,
      env: { ...process.env, ALMONER_DATA_DIR: folder },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()];
    return { code: await child.exited, out, err };
  }; // prettier-ignore
  const queries = async () => {
    const store = await openStore({ url: `file:${join(folder, "store.db")}` });
    const counters = await liveCounters(store.raw, new Date());
    store.close();
    return counters.queries;
  };

  test("counts a log once, however often it is given, while it grows and is rotated", async () => {
    const log = join(folder, "access.log");
    writeFileSync(log, `${nginx("GET /llms.txt")}\n${nginx("GET /x")}\nnonsense\n`);
    const first = await run(log, "--json");
    expect(first.code).toBe(0);
    expect(JSON.parse(first.out)).toEqual([
      { file: log, lines: 3, unread: 1, hits: { "hit:llms_txt": 1 } },
    ]);
    // The last line has no end yet: its other half is still being written.
    appendFileSync(log, `${nginx("GET /agents.md")}\n${nginx("GET /llms.txt")}`);
    expect((await run(log)).out).toContain("1 new lines, 1 agents_md");
    expect(await queries()).toEqual({ llms_txt: 1, agents_md: 1, ai_plugin: 0, mcp: 0 });
    appendFileSync(log, "\n");
    const rotated = join(folder, "access.log.1");
    renameSync(log, rotated);
    expect((await run(rotated)).out).toContain("1 new lines, 1 llms_txt");
    expect((await run(rotated)).out).toContain("0 new lines");
    expect(await queries()).toEqual({ llms_txt: 2, agents_md: 1, ai_plugin: 0, mcp: 0 });
  });

  test("reads Cloudflare's JSON, gzipped, beside others", async () => {
    const packed = join(folder, "edge.log.gz");
    writeFileSync(packed, gzipSync(`${cloudflare({})}\n${cloudflare({ CacheCacheStatus: "miss" })}\n`));
    expect((await run(packed)).code).toBe(0);
    expect((await queries()).llms_txt).toBe(1);
  }); // prettier-ignore

  test("says what is missing or broken, and counts nothing of it", async () => {
    const missing = await run(join(folder, "none.log"));
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("no such file")]);
    const cut = join(folder, "cut.log.gz");
    const whole = gzipSync(`${nginx("GET /llms.txt")}\n`.repeat(2_000));
    writeFileSync(cut, whole.subarray(0, whole.length - 20));
    const broken = await run(cut);
    expect(broken.code).toBe(1);
    expect((await queries()).llms_txt).toBe(0);
    expect((await run()).code).not.toBe(0);
  });
});
