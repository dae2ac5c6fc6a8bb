import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { readConfig } from "#api/config.ts";
import { openService } from "#api/open-service.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { runCommand } from "../support/command.ts";
import { startProgress } from "../support/progress.ts";
import { fuzzedRequest } from "./enrich/fuzzed-request.ts";
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

await runCommand(command);
