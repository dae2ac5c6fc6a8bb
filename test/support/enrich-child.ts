import { EnrichmentBody } from "#content/contract/enrichment.ts";
import { enrich } from "#content/enrichment/enrich.ts";
import { openStore } from "#content/store/open.ts";
import { StoreBusy } from "#content/store/busy.ts";

/**
 * A process of its own that submits: `bun enrich-child.ts <url> <name> <submissions> <slug,slug,…>`. Each value stands
 * for one of three rivals, so that fields are contested; 32 requests are on their way at once. Answers the count as JSON.
 */
const [url = "", name = "", submissions = "0", list = ""] = process.argv.slice(2);
const slugs = list.split(",");
const store = await openStore({ url, busyWaitMs: 10_000, migrated: true });
const parts = {
  store,
  clock: () => new Date(),
  baseUrl: "http://localhost",
  mode: "agents" as const,
  takeAgent: () => Promise.resolve({ allowed: true, retryAfterMs: 0 }),
};
const fields = ["website", "city", "region", "founded_year", "contact_email"] as const;
const valueOf = {
  website: (rival: number) => `https://rival-${rival}.example`,
  city: (rival: number) => `Rival ${"ABC"[rival] ?? ""}`,
  region: (rival: number) => `Region ${"ABC"[rival] ?? ""}`,
  founded_year: (rival: number) => `${1_990 + rival}`,
  contact_email: (rival: number) => `office@rival-${rival}.example`,
};

const total = Number(submissions);
let next = 0;
let said = 0;
let busy = 0;
const work = async () => {
  while (next < total) {
    const at = next++;
    const field = fields[at % fields.length] ?? "city";
    const slug = slugs[Math.floor(at / fields.length) % slugs.length] ?? "";
    const body = EnrichmentBody.parse({
      field,
      value: valueOf[field](at % 3),
      agent_id: `${name}-${at}`,
    });
    try {
      const outcome = await enrich(parts, {
        slug,
        body,
        idempotencyKey: null,
        network: null,
        secret: null,
      });
      if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.failure)}`);
      if (outcome.value.submissions[0]?.status === "applied") said += 1;
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      busy += 1;
    }
  }
};
await Promise.all(Array.from({ length: 32 }, work));
store.close();
process.stdout.write(JSON.stringify({ said, busy }));
