import type { Store } from "#content/store/open.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { cpuMs, type Figure, figure, quantile, runBench, serving } from "./support/harness.ts";
import { type Load, loadFigures, post, send } from "./support/load.ts";
import { column, serveWhole, type Served } from "./support/serve.ts";

const atOnce = 32;
const appliedAtOnce = 4;

type Counts = { submissions: number; applied: number };
type Measured = { load: Load; cpuUs: number; applied: Load };

let round = 0;

/** Submissions of which no two agree, and then pairs that do, of which the second goes live. */
async function measure(
  { url, store, pid }: Served,
  { submissions, applied }: Counts,
): Promise<Measured> {
  round += 1;
  const slugs = await column(
    store,
    "SELECT slug FROM nonprofits WHERE contact_email IS NULL AND status <> 'withdrawn' ORDER BY id LIMIT 20000",
  );
  if (slugs.length < applied * 2)
    throw new Error("too few profiles without a contact_email: ask for more profiles");
  const submission = (slug: string, agent: string, value: string) =>
    post(`/api/enrich/${slug}`, {
      field: "contact_email",
      value: `${value}@bench.example`,
      agent_id: `r${round}-${agent}`,
    });
  // The last profiles are for applications and get nothing else.
  const [others, own] = [slugs.slice(0, -applied), slugs.slice(-applied)];
  const apart = Array.from({ length: submissions }, (_, at) =>
    submission(others[at % others.length] ?? "", `${at}`, `r${round}-${at}`),
  );
  const agreed = (agent: string) =>
    own.map((slug, at) => submission(slug, `${agent}${at}`, `agreed-${round}`));
  const usedMs = await cpuMs(pid);
  const load = await send(url, apart, { atOnce, holds: '"status":"pending"' });
  const cpuUs = ((await cpuMs(pid)) - usedMs) * (1_000 / submissions);
  await send(url, agreed("x"), { atOnce: appliedAtOnce, holds: '"status":"pending"' });
  const published = { atOnce: appliedAtOnce, holds: '"applied":true' };
  return { load, cpuUs, applied: await send(url, agreed("y"), published) };
}

const figuresOf = (when: string, { load, cpuUs, applied }: Measured): Figure[] => [
  ...loadFigures(`${when}submissions`, load, { perSecond: 1_500, p99Ms: 25 }),
  figure(`${when}processor time of the service`, cpuUs, "µs each", { most: 667 }),
  figure(`${when}applied and published: p99`, quantile(applied.timesMs, 0.99), "ms", { most: 200 }),
];

const perTransaction = 5_000;
/** Submissions ?1 to ?2, over ?3 profiles: every other one is rejected, the rest only audit. */
const storedSubmissions = `
  WITH RECURSIVE n(i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ?2),
    stored AS (
      SELECT i, i % 2 AS audit, 'Stored value ' || (i % 1000) AS value,
        'stored-agent-' || (i % 50000) AS agent
      FROM n
    )
  INSERT INTO submissions (
    nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name,
    status, audit_only, reason, created_at, decided_at
  )
  SELECT 1 + i * 7919 % ?3,
    '["city", "region", "website", "founded_year", "contact_email"]' ->> (i % 5),
    'structured', value, value, agent, agent, iif(audit, 'pending', 'rejected'), audit,
    iif(audit, NULL, 'another value won consensus'),
    1700000000000 + i, iif(audit, NULL, 1700000000000 + i)
  FROM stored`;

/** Stores rejected and audit-only submissions of many agents, spread over all profiles, as years of use would leave. */
async function storeMany(store: Store, total: number): Promise<void> {
  const progress = startProgress("Submissions stored", total);
  const [newest] = await column(store, "SELECT max(id) FROM nonprofits");
  for (let done = 0; done < total; done += perTransaction) {
    const args = [done, Math.min(done + perTransaction, total) - 1, Number(newest)];
    await store.write((tx) => tx.raw.execute({ sql: storedSubmissions, args }));
    progress.at(done);
  }
  progress.end();
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  // What a million rows left to be written would be measured with each commit.
  await Bun.spawn(["sync"]).exited;
}

await runBench({
  name: "enrich",
  description:
    "Submissions through HTTP to the whole service, publisher beside it, before and after very many are stored",
  options: {
    ...serving,
    submissions: [10_000, "Measured, in each round"],
    applied: [300, "Measured applications, in each round"],
    stored: [1_000_000, "Stored before the second round; 0 for one round"],
  },
  run: async ({ profiles, port, submissions, applied, stored, folder }) => {
    const env = { ALMONER_TRUSTED_HOPS: "1" };
    await using served = await serveWhole({ folder, profiles, port, env });
    const warmUp = { submissions: 1_000, applied: 10 };
    const asked = { submissions, applied };
    await measure(served, warmUp);
    const first = await measure(served, asked);
    const figures = figuresOf("", first);
    if (stored > 0) {
      await storeMany(served.store, stored);
      await measure(served, warmUp);
      const second = await measure(served, asked);
      const p99Of = ({ load }: Measured) => quantile(load.timesMs, 0.99);
      const slower = first.load.perSecond / second.load.perSecond;
      figures.push(
        ...figuresOf(`${stored.toLocaleString("en")} stored: `, second),
        figure("slower by", slower, "×", { most: 2 }),
        figure("p99 longer by", p99Of(second) / p99Of(first), "×", { most: 2 }),
      );
    }
    return { title: `Enrichment, ${profiles} profiles, ${atOnce} at a time`, figures };
  },
});
