import { tmpdir } from "node:os";
import { defineCommand } from "citty";
import { startProgress } from "../support/progress.ts";
import { cpuMs, type Figure, printFigures, quantile } from "./support/figures.ts";
import { type ServedDirectory, serveSample } from "./support/served-directory.ts";
import { storeMany } from "./support/many-submissions.ts";
import { runCommand } from "../support/command.ts";

const concurrency = 32;
const appliedAtOnce = 4;

const command = defineCommand({
  meta: {
    name: "bench enrich",
    description:
      "Submissions through HTTP to the whole service, publisher beside it, before and after very many are stored",
  },
  args: {
    profiles: { type: "string", default: "41000", description: "Profiles of the sample directory" },
    submissions: { type: "string", default: "10000", description: "Measured, in each round" },
    applied: { type: "string", default: "300", description: "Measured applications, in each round" },
    stored: { type: "string", default: "1000000", description: "Stored before the second round; 0 for one round" },
    dir: { type: "string", default: tmpdir(), description: "Where the directory is made" },
    port: { type: "string", default: "18081", description: "Port of the service under test" },
    json: { type: "boolean", description: "One JSON line" },
  }, // prettier-ignore
  run: async ({ args }) => {
    // Every request claims an address of its own, so that the limit per address is not what is measured.
    process.env["ALMONER_TRUSTED_HOPS"] = "1";
    const served = await serveSample(args.dir, Number(args.profiles), Number(args.port));
    try {
      const asked = { submissions: Number(args.submissions), applied: Number(args.applied) };
      await measure(served, { submissions: 1_000, applied: 10 });
      const first = await measure(served, asked);
      const figures = figuresOf("", first);
      const stored = Number(args.stored);
      if (stored > 0) {
        const progress = startProgress("Submissions stored", stored);
        await storeMany(served.store, stored, progress.at.bind(progress));
        await served.store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        progress.end();
        const second = await measure(served, asked);
        figures.push(...figuresOf(`${stored.toLocaleString("en")} stored: `, second));
        const slower = first.perSecond / second.perSecond;
        figures.push(
          {
            what: "slower by",
            measured: `${slower.toFixed(2)} ×`,
            asked: "≤ 2 ×",
            met: slower <= 2,
          },
          {
            what: "p99 longer by",
            measured: `${(second.p99 / first.p99).toFixed(2)} ×`,
            asked: "≤ 2 ×",
            met: second.p99 / first.p99 <= 2,
          },
        );
      }
      printFigures(`Enrichment, ${args.profiles} profiles`, figures, args.json === true);
    } finally {
      await served.close();
    }
  },
});

type Measured = {
  perSecond: number;
  cpuUs: number;
  p50: number;
  p99: number;
  appliedP99: number;
  published: number;
};

let round = 0;

async function measure(
  served: ServedDirectory,
  asked: { submissions: number; applied: number },
): Promise<Measured> {
  round += 1;
  const slugs = await thinSlugs(served, asked.applied);
  const waits: number[] = [];
  const [startedMs, usedMs] = [performance.now(), await cpuMs(served.servicePid)];
  await atOnce(concurrency, asked.submissions, async (at) => {
    const slug = slugs[at % slugs.length] ?? "";
    // No two agree, so nothing is applied.
    waits.push((await submit(served, slug, `r${round}-${at}`, `r${round}-${at}@bench.example`)).ms);
  });
  const perSecond = (asked.submissions / (performance.now() - startedMs)) * 1_000;
  const cpuUs = ((await cpuMs(served.servicePid)) - usedMs) * (1_000 / asked.submissions);
  const applied: number[] = [];
  let published = 0;
  await atOnce(appliedAtOnce, asked.applied, async (at) => {
    const slug = slugs[slugs.length - 1 - at] ?? "";
    await submit(served, slug, `r${round}-x${at}`, `agreed@round-${round}.example`);
    const second = await submit(served, slug, `r${round}-y${at}`, `agreed@round-${round}.example`);
    applied.push(second.ms);
    if (second.live) published += 1;
  });
  return {
    perSecond,
    cpuUs,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    appliedP99: quantile(applied, 0.99),
    published: published / applied.length,
  };
}

const figuresOf = (when: string, measured: Measured): Figure[] => {
  const ms = (what: string, value: number, limit: number): Figure => ({
    what: `${when}${what}`,
    measured: `${value.toFixed(1)} ms`,
    asked: `≤ ${limit} ms`,
    met: value <= limit,
  });
  return [
    {
      what: `${when}submissions a second, concurrency ${concurrency}`,
      measured: measured.perSecond.toFixed(0),
      asked: "≥ 1500",
      met: measured.perSecond >= 1_500,
    },
    {
      what: `${when}processor time of the service, each`,
      measured: `${measured.cpuUs.toFixed(0)} µs`,
      asked: "1500 a second need ≤ 667",
      met: measured.cpuUs <= 667,
    },
    { ...ms("p50", measured.p50, 25), asked: "p50", met: null },
    ms("p99", measured.p99, 25),
    ms("applied and published, p99", measured.appliedP99, 200),
    {
      what: `${when}answered with applied: true`,
      measured: `${(measured.published * 100).toFixed(1)} %`,
      asked: "100 %",
      met: measured.published === 1,
    },
  ];
};

/** Profiles without a contact_email; the last `own` of them are for applications and get nothing else. */
async function thinSlugs(served: ServedDirectory, own: number): Promise<string[]> {
  const { rows } = await served.store.raw.execute({
    sql: `SELECT slug FROM nonprofits WHERE contact_email IS NULL AND status <> 'withdrawn' ORDER BY id LIMIT 20000`,
    args: [],
  });
  if (rows.length < own * 2)
    throw new Error("too few profiles without a contact_email: ask for more profiles");
  return rows.map((row) => String(row["slug"]));
}

let address = 0;

async function submit(served: ServedDirectory, slug: string, agent_id: string, value: string) {
  address += 1;
  const startedMs = performance.now();
  const response = await fetch(`${served.url}/api/enrich/${slug}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
    },
    body: JSON.stringify({ field: "contact_email", value, agent_id }),
  });
  const body = (await response.json()) as { submissions?: { applied: boolean }[]; detail?: string };
  if (response.status !== 200) throw new Error(`${response.status}: ${body.detail}`);
  return { ms: performance.now() - startedMs, live: body.submissions?.[0]?.applied === true };
}

async function atOnce(workers: number, total: number, work: (at: number) => Promise<void>) {
  let next = 0;
  const run = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: workers }, run));
}

await runCommand(command);
