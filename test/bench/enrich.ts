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
  const others = slugs.slice(0, -applied);
  const own = slugs.slice(-applied);
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

const figuresOf = ({ load, cpuUs, applied }: Measured): Figure[] => [
  ...loadFigures("submissions", load, { perSecond: 1_500, p99Ms: 25 }),
  figure("processor time of the service", cpuUs, "µs each", { most: 667 }),
  figure("applied and published: p99", quantile(applied.timesMs, 0.99), "ms", { most: 200 }),
];

await runBench({
  name: "enrich",
  description: "Submissions through HTTP to the whole service, publisher beside it",
  options: {
    ...serving,
    submissions: [10_000, "Measured"],
    applied: [300, "Measured applications"],
  },
  run: async ({ profiles, port, submissions, applied, folder }) => {
    const env = { ALMONER_TRUSTED_HOPS: "1" };
    await using served = await serveWhole({ folder, profiles, port, env });
    await measure(served, { submissions: 1_000, applied: 10 });
    const figures = figuresOf(await measure(served, { submissions, applied }));
    return { title: `Enrichment, ${profiles} profiles, ${atOnce} at a time`, figures };
  },
});
