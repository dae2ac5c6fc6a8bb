import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { aDirectory, type TestDirectory } from "#test/support/discovery.ts";
import { aChain, type TestChain } from "#test/support/local-chain.ts";
import { freePort } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

const prism = clientFile("node_modules/@stoplight/prism-cli/dist/index.js");

let chain: TestChain;
let directory: TestDirectory;
let proxy: Bun.Subprocess;
let url: string;
/** Not by a HEAD request: Prism fails on those. */
async function untilListens(): Promise<void> {
  while (proxy.exitCode === null) {
    const answer = await fetch(`${url}/healthz`, { headers }).catch(() => null);
    if (answer?.ok === true) return;
    await Bun.sleep(50);
  }
  throw new Error("Prism ended before it listened");
}

const headers = { "content-type": "application/json" };
const submission = JSON.stringify({ field: "city", value: "Kisumu", agent_id: "scout-1" });
const claim = JSON.stringify({ claim_slug: "thin", contact_email: "office@thin.example" });
const wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const requests: [number, string, string | null][] = [
  [200, "/api/search?q=school&limit=2", null],
  [200, "/api/nonprofits?limit=1", null],
  [200, "/api/nonprofits/rich", null],
  [200, "/api/history/rich", null],
  [200, "/api/causes", null],
  [200, "/api/stats", null],
  [200, "/api/recommend?cause=education", null],
  [200, "/api/needs-enrichment", null],
  [200, "/api/enrichments/stats", null],
  [200, "/api/agents/leaderboard", null],
  [200, "/api/agents/exemplars", null],
  [200, "/api/search?cause=education&country=KE&ghd_aligned=1&offset=0", null],
  [200, "/api/recommend?q=school&intent=verify&limit=5", null],
  [200, "/api/donations/rich", null],
  [402, "/api/donate/rich?amount=2.5", null],
  [402, "/api/donate/rich", "{}"],
  [200, `/api/onboard/challenge?wallet=${wallet}`, null],
  [200, "/api/onboard", claim],
  [200, "/healthz", null],
  [422, "/api/donate/thin", null],
  [404, "/api/donations/nobody", null],
  [404, "/api/nonprofits/nobody", null],
  [400, "/api/recommend", null],
  [200, "/api/enrich/thin", submission],
  [404, "/api/enrich/nobody", submission],
];

// A second opinion on the description: another validator, between the client and the running directory.
describe.skipIf(!clientsInstalled)("through the proxy Prism", () => {
  beforeAll(async () => {
    chain = await aChain();
    directory = await aDirectory({
      env: { ALMONER_SOLANA_RPC_URLS: chain.url },
      records: [aRichNonprofit({ slug: "rich" }), aNonprofit({ slug: "thin" })],
    });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const description = join(directory.service.context.config.dataDir, "openapi.json");
    await Bun.write(description, directory.files.get("openapi.json") ?? "");
    const upstream = directory.listening.url;
    proxy = Bun.spawn(["node", prism, "proxy", description, upstream, "--port", String(port)], {
      stdout: "ignore",
      stderr: "ignore",
    });
    await untilListens();
  }, 240_000);
  afterAll(async () => {
    proxy.kill();
    await proxy.exited;
    await directory.close();
    await chain.stop();
  });

  test.each(requests)("Prism finds nothing wrong: %i %s", async (status, path, body) => {
    const method = body === null ? "GET" : "POST";
    const answer = await fetch(url + path, { method, body, headers });
    expect([answer.status, answer.headers.get("sl-violations")]).toEqual([status, null]);
  });

  test("Prism would find it: a body that the description does not allow", async () => {
    const answer = await fetch(`${url}/api/enrich/thin`, { method: "POST", body: "{}", headers });
    expect(answer.headers.get("sl-violations") ?? String(answer.status)).toMatch(/agent_id|422/);
  });
});
