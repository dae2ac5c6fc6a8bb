import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { freePort, untilAnswers } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aDataFolder } from "#test/support/data-folder.ts";

// Promise 4 is of a quiet machine, which no ordinary run has: `bun run promises` measures it.
const seconds = 20;
const lagMaxMs = 20;
const perSecond = 500;
const tickMs = 20;
const repository = join(import.meta.dirname, "../..");

test.skipIf(!isFull)(
  `${perSecond} writes a second hold up nothing else, and none is told that the store is busy`,
  async () => {
    const nonprofits = Array.from({ length: 5_000 }, () => aNonprofit());
    const { dataDir: folder, slugs, close } = await aDataFolder(nonprofits);
    const port = await freePort();
    const preload = join(repository, "test/support/loop-lag-child.ts");
    const watched = (name: string, ...words: string[]) =>
      Bun.spawn([process.execPath, "--preload", preload, ...words], {
        env: {
          ...process.env,
          ALMONER_DATA_DIR: folder,
          ALMONER_PORT: String(port),
          ALMONER_TRUSTED_HOPS: "1",
          ALMONER_CHAIN_PORT: "0",
          ALMONER_LOG_LEVEL: "silent",
          ALMONER_TEST_LAG_FILE: join(folder, name),
        },
        stdio: ["ignore", "ignore", "ignore"],
      });
    const service = watched("service", join(repository, "scripts/service.ts"));
    // How late the timers of a process are that does nothing, on a machine that may be busy.
    const idle = watched(
      "idle",
      "-e",
      "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1_000);",
    );
    const url = `http://127.0.0.1:${port}`;
    await untilAnswers(`${url}/healthz`, service);
    const submit = async (at: number): Promise<string> => {
      const slug = slugs[at % slugs.length];
      const answer = await fetch(`${url}/api/enrich/${slug}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-forwarded-for": `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`,
        },
        body: JSON.stringify({ field: "city", value: `City ${at}`, agent_id: `agent-${at}` }),
      });
      const told = await answer.text();
      return answer.ok ? "stored" : told;
    };
    await Promise.all(Array.from({ length: 100 }, (_, at) => submit(100_000 + at))); // Warms up.
    for (const one of [service, idle]) one.kill("SIGUSR2");
    const beganMs = performance.now();
    const answers: Promise<string>[] = [];
    while (answers.length < seconds * perSecond) {
      const due = Math.floor((performance.now() - beganMs) * (perSecond / 1_000));
      while (answers.length < Math.min(due, seconds * perSecond))
        answers.push(submit(answers.length));
      await Bun.sleep(tickMs);
    }
    const outcomes = await Promise.all(answers);
    const tookSeconds = (performance.now() - beganMs) / 1_000;
    for (const one of [service, idle]) one.kill("SIGTERM");
    await Promise.all([service.exited, idle.exited]);
    const lagOf = (name: string) => Number(readFileSync(join(folder, name), "utf8"));
    const lagMs = lagOf("service");
    const idleMs = lagOf("idle");
    close();
    const rate = shown(outcomes.length / tookSeconds);
    measured(
      `loop lag p99 ${shown(lagMs)} ms at ${rate} writes/s, ${shown(idleMs)} ms in an idle process beside it`,
    );
    expect(outcomes.filter((one) => one !== "stored").slice(0, 3)).toEqual([]);
    expect(lagMs - idleMs).toBeLessThan(lagMaxMs);
  },
);
