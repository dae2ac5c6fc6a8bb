import { beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { openStore } from "#content/store/open.ts";
import { liveCounters } from "#content/operation/directory-facts-store.ts";
import { clientHashKeyOf } from "#api/secrets.ts";
import { userAgentHash } from "#api/recommendation/follow-up.ts";
import { logRecommendations } from "#content/recommendation/log-store.ts";
import { hitOf, profileOf, readLogLine } from "#scripts/import-hits.ts";
import { runScript } from "#test/support/processes.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

const nginx = (request: string, status = 200) =>
  `203.0.113.9 - - [21/Nov/2026:06:55:28 +0100] "${request} HTTP/1.1" ${status} 512 "-" "curl/8 \\x22x\\x22"`;
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
  test.each<[line: string, kind: string | null, all?: boolean]>([
    [nginx("GET /llms.txt"), "hit:llms_txt"],
    // An origin that is a bucket counts nothing itself, so what went there counts too.
    [cloudflare({ CacheCacheStatus: "miss" }), "hit:llms_txt", true],
    [nginx("HEAD /agents.md?from=x"), "hit:agents_md"],
    [nginx("GET /AGENTS.md"), "hit:agents_md"],
    [nginx("GET /.well-known/ai-plugin.json", 304), "hit:ai_plugin"],
    [nginx("GET /llms.txt", 404), null],
    [nginx("POST /llms.txt"), null],
    [nginx("GET /causes"), null],
    [cloudflare({}), "hit:llms_txt"],
    [cloudflare({ CacheCacheStatus: "miss" }), null],
    [cloudflare({ CacheCacheStatus: undefined }), "hit:llms_txt"],
  ])("%s counts as %p", (line, kind, all = false) => {
    const request = readLogLine(line);
    expect(request === null ? "not read" : hitOf(request, all)).toBe(kind);
  });

  test.each([
    "",
    "{",
    "{}",
    "null",
    '{"ClientRequestURI":1}',
    "hello",
    nginx("GET /x").slice(5, 30),
    nginx("GET /x").replace(/ "-".*$/, ""),
    "\u0000",
  ])("%p is none", (line) => expect(readLogLine(line)).toBeNull());
});

describe("a view of a profile", () => {
  const page = { action: "profile", slug: "wells", form: "page" };
  test.each([
    [nginx("GET /nonprofits/wells?from=x"), page],
    [nginx("GET /nonprofits/wells", 304), page],
    [nginx("GET /nonprofits/wells.md"), { ...page, form: "markdown" }],
    [nginx("GET /api/nonprofits/wells"), { ...page, form: "json" }],
    [nginx("GET /nonprofits/%C3%A9cole"), { ...page, slug: "école" }],
    [nginx("GET /nonprofits/%zz"), { ...page, slug: "%zz" }],
    [nginx("HEAD /nonprofits/wells"), null],
    [nginx("GET /nonprofits/wells", 404), null],
    [nginx("GET /api/history/wells"), null],
    [nginx("GET /nonprofits/"), null],
    [nginx("GET /causes/health"), null],
    [cloudflare({ ClientRequestURI: "/nonprofits/wells", ClientRequestUserAgent: "A" }), page],
    [cloudflare({ ClientRequestURI: "/nonprofits/wells", EdgeResponseStatus: 403 }), null],
    [
      cloudflare({
        ClientRequestURI: "/nonprofits/wells",
        ClientRequestUserAgent: "A",
        CacheCacheStatus: "miss",
      }),
      null,
    ],
  ])("%s is %j", (line, step) => {
    const request = readLogLine(line);
    expect(request && profileOf(request, false)).toEqual(step as never);
  });

  const utc = Date.UTC(2026, 10, 21, 5, 55, 28);
  const by = (agent: string) => nginx("GET /x").replace(/"curl.*"$/, agent);
  const edge = (instant: string | number) => cloudflare({ EdgeStartTimestamp: instant });
  test.each([
    [nginx("GET /x"), { userAgent: 'curl/8 "x"', withinMs: 999, atMs: utc }],
    [by('"caf\\xE9 \\x22q\\x22 \\x5C"'), { userAgent: 'caf\u00e9 "q" \\' }],
    [by('"-"'), { userAgent: "" }],
    [cloudflare({ ClientRequestUserAgent: "A" }), { userAgent: "A", withinMs: 999, atMs: utc }],
    [edge("2026-11-21T05:55:28.250Z"), { withinMs: 0, atMs: utc + 250 }],
    [edge(1_795_240_528_000_000_000), { withinMs: 0, atMs: 1_795_240_528_000 }],
    [edge(1_795_240_528), { withinMs: 999, atMs: 1_795_240_528_000 }],
  ])("%s: who asked, when, and how exact that is", (line, parts) => {
    expect(readLogLine(line)).toMatchObject(parts);
  });
});

describe("bun run import-hits", () => {
  beforeEach(async () => {
    (await openStore({ url: `file:${folder("store.db")}` })).close();
  });

  const run = (...args: string[]) => runScript("import-hits", args, { ALMONER_DATA_DIR: folder() });
  const queries = async () => {
    const store = await openStore({ url: `file:${folder("store.db")}` });
    const counters = await liveCounters(store, new Date());
    store.close();
    return counters.queries;
  };

  test("counts a log once, however often it is given, while it grows and is rotated", async () => {
    const log = folder("access.log");
    writeFileSync(log, `${nginx("GET /llms.txt")}\n${nginx("GET /x")}\nnonsense\n`);
    const first = await run(log, "--json");
    expect(first.code).toBe(0);
    expect(JSON.parse(first.out)).toEqual([
      { file: log, lines: 3, unread: 1, hits: { "hit:llms_txt": 1 }, follow_throughs: 0 },
    ]);
    // The last line has no end yet: its other half is still being written.
    appendFileSync(log, `${nginx("GET /agents.md")}\n${nginx("GET /llms.txt")}`);
    expect((await run(log)).out).toContain("1 new lines, 1 agents_md");
    expect(await queries()).toEqual({ llms_txt: 1, agents_md: 1, ai_plugin: 0, mcp: 0 });
    appendFileSync(log, "\n");
    const rotated = folder("access.log.1");
    renameSync(log, rotated);
    expect((await run(rotated)).out).toContain("1 new lines, 1 llms_txt");
    expect((await run(rotated)).out).toContain("0 new lines");
    expect(await queries()).toEqual({ llms_txt: 2, agents_md: 1, ai_plugin: 0, mcp: 0 });
    const packed = folder("edge.log.gz");
    const lines = [cloudflare({}), cloudflare({ CacheCacheStatus: "miss" }), ""];
    writeFileSync(packed, gzipSync(lines.join("\n")));
    expect((await run(packed)).code).toBe(0);
    expect((await queries()).llms_txt).toBe(3);
  });

  test("finds what follows a recommendation, once, by the service's own hash of the user agent", async () => {
    const url = `file:${folder("store.db")}`;
    using store = await openStore({ url });
    const key = clientHashKeyOf({ dataDir: folder() });
    // nginx writes 06:55:28 +0100 for anything up to the next second.
    const asked = (at: string, userAgent: string) => ({
      query: { cause: null, country: null, q: "wells", intent: "discover" as const },
      result_count: 1,
      top_slug: "wells",
      slugs: ["pumps", "wells"],
      ranking_signals: [],
      phase: 1 as const,
      client: userAgentHash(key, userAgent, Date.parse(at)),
      called_at: new Date(at),
    });
    const calls = logRecommendations(store, () => {});
    calls.add(asked("2026-11-21T05:55:28.900Z", 'curl/8 "x"'));
    calls.add(asked("2026-11-21T05:54:28.000Z", "On time"));
    calls.add(asked("2026-11-21T05:54:27.900Z", "Too late"));
    await calls.flush();
    const by = (agent: string) => nginx("GET /nonprofits/wells").replace(/"curl.*"$/, `"${agent}"`);
    const log = folder("access.log");
    const lines = [
      nginx("GET /nonprofits/wells"),
      nginx("GET /nonprofits/camp.md"),
      by("On time"),
      by("Too late"),
      by("Nobody"),
    ];
    writeFileSync(log, `${lines.join("\n")}\n`);
    expect((await run(log)).out).toContain("5 new lines, no hits, 3 follow-throughs");
    expect((await run(log)).out).toContain("0 new lines, no hits");
    // The same log under another beginning, as a second CDN node would write it, adds nothing.
    const again = folder("other.log");
    writeFileSync(again, `${nginx("GET /x")}\n${lines.join("\n")}\n`);
    expect((await run(again, "--json")).out).toContain('"follow_throughs":0');
    const { rows } = await store.raw.execute(
      "SELECT recommendation_id AS id, slug, form, rank FROM recommendation_follow_throughs ORDER BY id, slug",
    );
    expect(rows.map((row): Record<string, unknown> => ({ ...row }))).toEqual([
      { id: 1, slug: "camp", form: "markdown", rank: null },
      { id: 1, slug: "wells", form: "page", rank: 2 },
      { id: 2, slug: "wells", form: "page", rank: 2 },
    ]);
    const all = JSON.stringify(
      (await store.raw.execute("SELECT * FROM recommendation_log, recommendation_follow_throughs"))
        .rows,
    );
    expect(all).not.toMatch(/203\.0\.113|curl|On time/);
  });

  test("says what is missing or broken, and counts nothing of it", async () => {
    const missing = await run(folder("none.log"));
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("no such file")]);
    const cut = folder("cut.log.gz");
    const whole = gzipSync(`${nginx("GET /llms.txt")}\n`.repeat(2_000));
    writeFileSync(cut, whole.subarray(0, whole.length - 20));
    const broken = await run(cut);
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining(`${cut}: `)]);
    expect((await queries()).llms_txt).toBe(0);
    expect((await run()).code).toBe(2);
  });
});
