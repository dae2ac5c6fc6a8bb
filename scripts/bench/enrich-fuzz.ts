import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { readConfig } from "#api/config.ts";
import { openService } from "#api/open-service.ts";
import { enrichableFields } from "#content/contract/enrichment.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { runCommand } from "#scripts/support/command.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { printFigures } from "./support/figures.ts";

const atOnce = 32;
const profiles = 500;

const command = defineCommand({
  meta: {
    name: "bench enrich-fuzz",
    description: "Random and hostile requests to the enrich route: no 5xx, and no growing memory",
  },
  args: {
    requests: { type: "string", default: "1000000", description: "How many" },
    seed: { type: "string", default: "1", description: "Another number, other requests" },
    json: { type: "boolean", description: "One JSON line" },
  },
  run: async ({ args }) => {
    const dataDir = mkdtempSync(join(tmpdir(), "almoner-fuzz-"));
    const config = readConfig({
      ALMONER_DATA_DIR: dataDir,
      ALMONER_TRUSTED_HOPS: "1",
      ALMONER_CHAIN_PORT: "0",
      ALMONER_LOG_LEVEL: "error",
    });
    const service = await openService(config);
    try {
      await seedDirectory(service.context.store, { profiles, seedNumber: 1 });
      const { rows } = await service.context.store.raw.execute("SELECT slug FROM nonprofits");
      const slugs = rows.map((row) => String(row["slug"]));
      const found = await fuzz(service.app, Number(args.requests), Number(args.seed), slugs);
      const statuses = [...found.statuses].toSorted(([a], [b]) => a - b);
      printFigures(
        `Enrich route, ${args.requests} random requests`,
        [
          {
            what: "answers 5xx",
            measured: String(found.failed),
            asked: "0",
            met: found.failed === 0,
          },
          {
            what: "memory growth",
            measured: `${found.growthMb.toFixed(0)} MB`,
            asked: "< 50 MB",
            met: found.growthMb < 50,
          },
          {
            what: "statuses",
            measured: statuses.map(([status, count]) => `${status}: ${count}`).join(", "),
            asked: "seen",
            met: null,
          },
        ],
        args.json === true,
      );
    } finally {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
});

type Found = { statuses: Map<number, number>; failed: number; growthMb: number };
type Service = Awaited<ReturnType<typeof openService>>;

/** Growth is counted from a tenth of the requests on: until then caches fill and code is compiled. */
async function fuzz(
  app: Service["app"],
  requests: number,
  seed: number,
  slugs: readonly string[],
): Promise<Found> {
  const progress = startProgress("Requests", requests);
  const found: Found = { statuses: new Map(), failed: 0, growthMb: 0 };
  let next = 0;
  let startedAtMb = 0;
  const work = async () => {
    while (next < requests) {
      const at = next++;
      if (at === Math.floor(requests / 10)) startedAtMb = memoryMb();
      const { status } = await app.handle(fuzzedRequest(seed, at, slugs), "192.0.2.1");
      found.statuses.set(status, (found.statuses.get(status) ?? 0) + 1);
      if (status >= 500) found.failed += 1;
      if (at % 10_000 === 0) progress.at(at);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  progress.end();
  found.growthMb = memoryMb() - startedAtMb;
  return found;
}

function memoryMb(): number {
  Bun.gc(true);
  return process.memoryUsage().rss / 1_048_576;
}

/** A source of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const strange = [
  "",
  " ",
  "\u0000",
  "\u202Eevil",
  "\uD800",
  "\u{E0041}",
  "'; DROP TABLE submissions; --",
  "<script>",
  "{slug}",
  "..%2f..",
  "null",
  "[]",
  "{}",
  "-1",
  "1e999",
  "NaN",
  "https://127.0.0.1/",
  "http://[::1]/",
  "javascript:alert(1)",
  "a@b",
  "é".repeat(200),
  "x".repeat(6_000),
  "\n\r\t",
  "%",
  "0x7f",
  "９９９９",
  "2026",
  "999",
  "1998",
  "Oslo",
  "https://charity.example/?utm_source=a",
];

const contentTypes = [
  "application/json",
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "",
  "multipart/form-data",
];
const names = [
  "field",
  "value",
  "agent_id",
  "agent_name",
  "source_url",
  "fields",
  "__proto__",
  "constructor",
  "extra",
];

/** The request with this number: good ones, nearly good ones, and noise. The same for the same seed and number. */
export function fuzzedRequest(seed: number, at: number, slugs: readonly string[]): Request {
  const random = numbers(Math.imul(seed, 1_000_003) + at);
  const pick = <Item>(from: readonly Item[], fallback: Item): Item =>
    from[Math.floor(random() * from.length)] ?? fallback;
  const text = () => (random() < 0.7 ? pick(strange, "") : `word ${Math.floor(random() * 40)}`);
  const anything = (depth: number): unknown => {
    const kind = random();
    if (kind < 0.5) return text();
    if (kind < 0.6) return random() * 1e6;
    if (kind < 0.7) return pick([null, true, false], null);
    if (depth === 0) return {};
    if (kind < 0.85)
      return Array.from({ length: Math.floor(random() * 4) }, () => anything(depth - 1));
    return Object.fromEntries([0, 1, 2].map(() => [pick(names, "field"), anything(depth - 1)]));
  };
  const body = (): unknown => {
    if (random() < 0.25) return anything(12);
    const item = () => ({
      field: pick(enrichableFields, "city"),
      value: text(),
      ...(random() < 0.2 ? { source_url: text() } : {}),
    });
    const batch =
      random() < 0.3 ? { fields: Array.from({ length: Math.floor(random() * 23) }, item) } : item();
    const sent = { ...batch, agent_id: `agent ${Math.floor(random() * 2_000)}` };
    return random() < 0.2 ? { ...sent, [pick(names, "field")]: anything(2) } : sent;
  };
  const json = JSON.stringify(body());
  const cut = random() < 0.05 ? json.slice(0, Math.floor(random() * json.length)) : json;
  const raw = random() < 0.01 ? cut.padEnd(70_000, " ") : cut;
  const slug = random() < 0.9 ? pick(slugs, "none") : encodeURIComponent(text().toWellFormed());
  const headers = new Headers({ "content-type": pick(contentTypes, "") });
  // Mostly addresses of their own, so that the limits do not keep most of it out.
  headers.set("x-forwarded-for", `10.${[16, 8, 0].map((shift) => (at >> shift) & 255).join(".")}`);
  if (random() < 0.1) headers.set("idempotency-key", `key-${Math.floor(random() * 50)}`);
  return new Request(`http://localhost/api/enrich/${slug}`, { method: "POST", headers, body: raw });
}

await runCommand(command);
