import { describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { gunzipSync } from "node:zlib";
import { operations } from "#content/openapi/document.ts";
import { decideReview } from "#api/operator/requests.ts";
import { theDirectory } from "#test/support/publisher.ts";
import { theChain } from "#test/support/local-chain.ts";
import { theService } from "#test/support/service.ts";
import { aWallet } from "#test/support/wallets.ts";

const before = aWallet().address;
/** One word for each field of each request: wherever one of them turns up, something leaked. */
const words = (of: string) => ({
  name: `Zqname${of} House`,
  contact_email: `zqmail${of}@zqhost${of}.example`,
  contact_name: `Zqperson${of}`,
  mission: `Zqmission${of} for all.`,
  website: `https://zqsite${of}.example`,
  city: `Zqcity${of}`,
  registration_number: `ZQ-NUMBER-${of}`,
});
const secrets: string[] = [];
const held = aWallet().address;

const chain = await theChain();
const directory = await theDirectory([
  { slug: "open-listing", name: "Open Listing", country_code: "KE" },
  {
    slug: "claimed-one",
    name: "Claimed One",
    country_code: "KE",
    verified: 1,
    status: "claimed",
    usdc_wallet: before,
  },
]);
const service = await theService({
  env: { ALMONER_TRUSTED_HOPS: "1", ALMONER_SOLANA_RPC_URLS: chain.url },
  context: { store: directory.store, clock: () => new Date("2026-11-02T12:00:00Z") },
});
let clients = 0;
const submit = async (body: Record<string, string>, decision: "rejected" | "approved" | null) => {
  const response = await service.post("/api/onboard", body, {
    "x-forwarded-for": `10.5.0.${clients++}`,
  });
  const answer = (await response.json()) as { submission_id: string; status_url: string };
  expect(response.status).toBe(200);
  secrets.push(answer.submission_id, answer.status_url.split("#")[1] ?? "");
  const id = `onboarding-${answer.submission_id}`;
  if (decision !== null)
    await decideReview(service.context, {
      id,
      decision,
      operator: "zqoperator",
      value: null,
      reason: "zqreason",
    });
};
for (const [of, decision] of [
  ["pending", null],
  ["rejected", "rejected"],
] as const) {
  for (const kind of ["claim", "change", "new"]) {
    const wallet = aWallet().address;
    secrets.push(wallet);
    const slug = { claim: "open-listing", change: "claimed-one", new: null }[kind] ?? null;
    const body = { ...words(of + kind), usdc_wallet: wallet };
    await submit(
      slug === null ? { ...body, country: "KE" } : { ...body, claim_slug: slug },
      decision,
    );
  }
}
await submit(
  {
    claim_slug: "claimed-one",
    contact_email: "zqmail@kept.example",
    contact_name: "Zqperson",
    usdc_wallet: held,
  },
  "approved",
);
secrets.push(held);
await directory.publisher.buildAll({ processes: 0 });
await directory.drain();

const leaks = (text: string): string[] => [
  ...(text.match(
    /zq(?:name|mail|host|person|mission|site|city|operator|reason)\w*|zq-number\S*/gi,
  ) ?? []),
  ...secrets.filter((secret) => text.includes(secret)),
];

/** Every file of the current release, packed ones unpacked. */
function everyFile(): { path: string; text: string }[] {
  const { manifest, blobs } = directory.publisher.context;
  const rows = manifest.db.query<{ path: string }, []>("SELECT DISTINCT path FROM files").all();
  return rows.flatMap(({ path }) => {
    const file = manifest.find(path);
    if (file === null) return [];
    const bytes = blobs.read(file.digest);
    return [{ path, text: (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString() }];
  });
}

describe("of what waits, was rejected, or is held, nothing is", () => {
  test("in any file of the bundle", () => {
    const files = everyFile();
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "nonprofits/open-listing.html",
        "api/nonprofits/claimed-one.json",
        "snapshot/nonprofits.ndjson.gz",
        "changes/1.json",
        "llms.txt",
      ]),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(
      files.flatMap(({ path, text }) => leaks(text).map((leak) => `${path}: ${leak}`)),
    ).toEqual([]);
    expect(files.find(({ path }) => path === "api/nonprofits/claimed-one.json")?.text).toContain(
      before,
    );
  });

  test("in any read of the service", async () => {
    const queries = [
      "",
      "?q=zqnamependingnew",
      "?q=zqcitypendingclaim&country=Kenya",
      "?country=Kenya",
      "?pending=true&limit=50",
    ];
    const reads = operations.filter(
      ({ method, tag }) => method === "get" && !["Operator", "Files"].includes(tag),
    );
    const found: string[] = [];
    let answered = 0;
    const addresses = reads.flatMap(({ path }) =>
      ["open-listing", "claimed-one", "zqnamependingnew-house"].map((slug) =>
        path.replace("{slug}", slug).replaceAll(/\{\w+\}/g, "1"),
      ),
    );
    // Without a slug in it, an address is the same for all three.
    for (const address of new Set(addresses)) {
      for (const query of queries) {
        const url = address + query;
        const response = await service.get(url, {
          "x-forwarded-for": `10.6.${answered >> 8}.${answered & 255}`,
        });
        answered++;
        // What was asked is echoed, and how it was understood.
        const text = (await response.text())
          .replaceAll(/"(?:q|url|next|prev|note)":\s*"[^"]*"/g, "")
          .replaceAll(/"words":\s*\[[^\]]*\]/g, "");
        if (url.includes("zqname")) continue;
        found.push(...leaks(text).map((leak) => `${url}: ${leak}`));
        for (const header of response.headers.values()) found.push(...leaks(header));
      }
    }
    expect(answered).toBeGreaterThan(100);
    expect(found).toEqual([]);
  });

  test("found by a search, or at the address that it may get", async () => {
    for (const word of ["zqnamependingnew", "zqmissionpendingclaim", "zqnamerejectednew"]) {
      expect((await service.json(`/api/search?q=${word}`)).total).toBe(0);
    }
    expect((await service.get("/api/nonprofits/zqnamependingnew-house")).status).toBe(404);
  });

  test("asked for in a 402, or told by a tool", async () => {
    const demand = await service.json("/api/donate/claimed-one", { "x-forwarded-for": "10.7.0.1" });
    expect(demand.recipient).toBe(before);
    const fetchHere = (input: string | URL | Request, init?: RequestInit) =>
      service.app.handle(new Request(input, init));
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: fetchHere }),
    );
    for (const [name, args] of [
      ["search_nonprofits", { q: "House" }],
      ["get_nonprofit", { slug: "claimed-one" }],
      ["get_nonprofit", { slug: "open-listing" }],
      ["list_causes", {}],
    ] as const) {
      expect(leaks(JSON.stringify(await client.callTool({ name, arguments: args })))).toEqual([]);
    }
    await client.close();
  });
});

test("the words would be found if they were there", () => {
  expect(leaks('{"name":"Zqnamepending House"}')).toHaveLength(1);
  expect(leaks(secrets[0] ?? "")).toHaveLength(1);
});
