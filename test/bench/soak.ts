import { readdirSync, readFileSync } from "node:fs";
import { PaymentRequirements } from "#content/contract/donation.ts";
import { payAsDonor } from "#scripts/chain/client-commands.ts";
import { type Figure, figure, median, runBench, serving } from "./support/harness.ts";
import { newClient, post, type Request } from "./support/load.ts";
import { column, serveWhole, type Served } from "./support/serve.ts";

/** What is done in a second, as long as the machine keeps up. */
const pace = { reads: 20, writes: 4, gifts: 0.2 } as const;
const sampleEveryMs = 5_000;
/** The first third is for caches to fill. */
const warmUpShare = 1 / 3;
const growthMaxPercent = 5;
const descriptorsMax = 2;

await runBench({
  name: "soak",
  description:
    "A whole directory under reads, writes, publishing and donations: no 5xx, and memory and descriptors of each process flat",
  options: {
    ...serving,
    profiles: [5_000, "Profiles of the sample directory"],
    minutes: [30, "How long it runs; the last two thirds are judged"],
  },
  run: async ({ profiles, port, minutes, folder }) => {
    const env = { ALMONER_CHAIN_PORT: String(port + 1), ALMONER_TRUSTED_HOPS: "1" };
    await using served = await serveWhole({ folder, profiles, port, env });
    const endMs = performance.now() + minutes * 60_000;
    const count = { answers: 0, failed: 0, said: "", reads: 0, writes: 0, gifts: 0 };
    const ask = async ({ path, ...init }: Request): Promise<Response | null> => {
      const headers = { ...init.headers, ...newClient() };
      const answer = await fetch(served.url + path, { ...init, headers }).catch(() => null);
      count.answers += 1;
      if (answer === null || answer.status >= 500) {
        count.failed += 1;
        count.said = `${path}: ${answer?.status ?? "no answer"}`;
      }
      return answer;
    };
    const jobs = {
      reads: await reads(served),
      writes: await writes(served),
      gifts: await gifts(served, `http://127.0.0.1:${port + 1}`, ask),
    };
    const run = async (name: keyof typeof pace) => {
      for (let at = 0, dueMs = performance.now(); performance.now() < endMs; at++) {
        const todo = jobs[name](at);
        const answer = await ("path" in todo ? ask(todo) : todo);
        await answer?.arrayBuffer();
        if (answer?.ok === true) count[name] += 1;
        dueMs += 1_000 / pace[name];
        await Bun.sleep(Math.max(0, dueMs - performance.now()));
      }
    };
    const watching = watch(served.pid, endMs, (line) =>
      console.error(`${line}, ${count.answers} answers, ${count.failed} failed`),
    );
    await Promise.all([run("reads"), run("writes"), run("gifts")]);
    const samples = await watching;
    if (count.failed > 0) console.error(`the last to fail was ${count.said}`);
    await served.published();
    return {
      title: `${minutes} minutes of ${profiles} profiles`,
      figures: [
        figure("answers", count.answers, ""),
        figure("5xx, and requests without an answer", count.failed, "", { most: 0 }),
        figure("submissions taken", count.writes, "", { least: minutes * 60 * pace.writes * 0.9 }),
        figure("donations recorded", count.gifts, "", { least: 1 }),
        figure("releases", served.manifest.state().current_release, ""),
        ...samples.flatMap(flatness),
      ],
    };
  },
});

type Todo = Request | Promise<Response | null>;

async function reads({ store }: Served): Promise<(at: number) => Todo> {
  const slugs = await column(store, "SELECT slug FROM nonprofits ORDER BY id LIMIT 2000");
  const paths = [
    (slug: string) => `/nonprofits/${slug}`,
    (slug: string) => `/api/nonprofits/${slug}`,
    (slug: string) => `/api/search?q=${encodeURIComponent(slug.replaceAll("-", " "))}`,
    () => "/api/nonprofits?limit=20",
    () => "/api/recommend?cause=water",
    () => "/api/stats",
  ];
  return (at) => ({
    path: paths[at % paths.length]?.(slugs[(at * 7) % slugs.length] ?? "") ?? "/",
  });
}

/**
 * Two agents say the same of each empty field, so that every other submission is published. It goes
 * from profile to profile: field after field, a place would cost lists more late than a website early.
 */
async function writes({ store }: Served): Promise<(at: number) => Todo> {
  const fields = {
    website: "https://soak.example.com",
    region: "Viken",
    city: "Oslo",
    founded_year: "1987",
  };
  const empty = await Promise.all(
    Object.entries(fields).map(async ([field, value]) => {
      const sql = `SELECT slug FROM nonprofits WHERE ${field} IS NULL AND status <> 'withdrawn' ORDER BY id`;
      return (await column(store, sql)).map((slug) => ({ slug, field, value }));
    }),
  );
  const all = empty.flat().sort((one, other) => (one.slug < other.slug ? -1 : 1));
  return (at) => {
    const { slug = "", ...said } = all[Math.floor(at / 2) % all.length] ?? {};
    return post(`/api/enrich/${slug}`, { ...said, agent_id: `soak-${at}` });
  };
}

async function gifts(
  { store }: Served,
  chain: string,
  ask: (request: Request) => Promise<Response | null>,
): Promise<(at: number) => Todo> {
  const slugs = await column(
    store,
    "SELECT slug FROM nonprofits WHERE usdc_wallet IS NOT NULL ORDER BY id LIMIT 50",
  );
  return async (at) => {
    const path = `/api/donate/${slugs[at % slugs.length] ?? ""}?amount=1`;
    const asked = PaymentRequirements.parse(await (await ask({ path }))?.json());
    const { recipient: to, amount_atomic, memo } = asked;
    const gift = { to, usdc: "1", amount: BigInt(amount_atomic), memo };
    const { tx_signature } = await payAsDonor(chain, gift);
    return ask(post(path, { tx_signature }));
  };
}

/** What a process held, sample after sample. */
type Samples = { name: string; megabytes: number[]; descriptors: number[] };

/** Looks at a process and those below it, and answers for those that lived all the time. */
async function watch(pid: number, endMs: number, tell: (line: string) => void): Promise<Samples[]> {
  const known = new Map<number, Samples>();
  const beganMs = performance.now();
  let looks = 0;
  for (; performance.now() < endMs; looks++) {
    for (const one of familyOf(pid)) {
      const samples = known.get(one) ?? { name: nameOf(one), megabytes: [], descriptors: [] };
      known.set(one, samples);
      samples.megabytes.push(megabytesOf(one));
      samples.descriptors.push(descriptorsOf(one));
    }
    if (looks % 12 === 0) {
      const steady = [...known.values()].filter(({ megabytes }) => megabytes.length > looks);
      const held = steady.map((one) => `${one.name} ${one.megabytes.at(-1)} MB`);
      tell(`${Math.round((performance.now() - beganMs) / 60_000)} min: ${held.join(", ")}`);
    }
    await Bun.sleep(sampleEveryMs);
  }
  // Rendering processes come and go; one that was started again is a failure that its figure shows.
  return [...known.values()].filter(
    ({ megabytes }) => megabytes.length > looks * (1 - warmUpShare),
  );
}

function familyOf(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statusOf(Number(name), "PPid"))] as const);
  const below = (one: number): number[] => [
    one,
    ...parents.filter(([, parent]) => parent === one).flatMap(([child]) => below(child)),
  ];
  return below(pid);
}

function statusOf(pid: number, field: string): string {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? "0";
  } catch {
    return "0"; // It has just ended.
  }
}

function megabytesOf(pid: number): number {
  return Math.round(Number(statusOf(pid, "VmRSS")) / 1_024);
}

/** The script that a process runs. */
function nameOf(pid: number): string {
  try {
    return /(\w[\w-]*)\.ts\b/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "other";
  } catch {
    return "ended";
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** How much more a process held in the last third than in the one before it, by their medians. */
function flatness({ name, megabytes, descriptors }: Samples): Figure[] {
  const third = Math.max(1, Math.floor(megabytes.length / 3));
  const grown = (sample: readonly number[]): [number, number] => [
    median(sample.slice(-2 * third, -third)),
    median(sample.slice(-third)),
  ];
  const [before, after] = grown(megabytes);
  const [opened, open] = grown(descriptors);
  const percent = (after / before - 1) * 100;
  return [
    figure(`${name}: memory at the end`, after, "MB"),
    figure(`${name}: memory grown`, percent, "%", { most: growthMaxPercent }),
    figure(`${name}: descriptors opened and kept`, open - opened, "", { most: descriptorsMax }),
  ];
}
