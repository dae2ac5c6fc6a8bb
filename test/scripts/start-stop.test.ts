import { expect, test } from "bun:test";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { sampleStates } from "#scripts/seed/seed-directory.ts";
import { putCompiledSite } from "#test/support/processes.ts";
import { aFolder } from "#test/support/at-file-top.ts";

const start = [process.execPath, join(import.meta.dirname, "../../scripts/start.ts")];
const envOf = (dataDir: string) => ({
  ...process.env,
  ALMONER_DATA_DIR: dataDir,
  ALMONER_PORT: "0",
  ALMONER_CHAIN_PORT: "0",
});

// Ctrl-C in a shell reaches the service, its publisher, the local chain and the compiler at once.
test("a signal to the whole group ends a start, and without a word", async () => {
  using dataDir = aFolder();
  await putCompiledSite(dataDir());
  const service = Bun.spawn([...start, "--profiles", "3"], {
    env: envOf(dataDir()),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const complaints = new Response(service.stderr).text();
  const decoder = new TextDecoder();
  let said = "";
  let isSent = false;
  for await (const piece of service.stdout) {
    said += decoder.decode(piece);
    // Its publisher opens the bundle now.
    if (isSent || !said.includes("Almoner is answering")) continue;
    isSent = true;
    process.kill(-service.pid, "SIGINT");
  }
  expect(said).toMatch(/answering at http:\/\/localhost:[1-9]\d+\n/);
  // Its output ends with the last of its processes.
  expect(await complaints).not.toMatch(/Error|error|ended|\n +at /);
  expect(await service.exited).toBe(0);
});

test("a signal while the sample is made ends it, and what was made is whole", async () => {
  using dataDir = aFolder();
  await putCompiledSite(dataDir());
  const profiles = 40_000;
  const service = Bun.spawn([...start, "--profiles", String(profiles)], {
    // No local chain beside it.
    env: { ...envOf(dataDir()), ALMONER_SOLANA_RPC_URLS: "http://127.0.0.1:9" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const piece of service.stdout) {
    if (!new TextDecoder().decode(piece).includes("making a sample directory")) continue;
    await Bun.sleep(Math.random() * 300);
    service.kill("SIGTERM");
  }
  expect(await service.exited).toBe(0);
  using store = await openStore({ url: `file:${dataDir("store.db")}` });
  const done = (await sampleStates(store))[0]?.done ?? 0;
  // Each batch of 2,000 is one transaction with the note of it: the next start goes on there.
  expect([done < profiles, done % 2_000]).toEqual([true, 0]);
  expect(await store.db.$count(nonprofits)).toBe(done);
});
