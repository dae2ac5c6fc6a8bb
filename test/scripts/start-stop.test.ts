import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { putCompiledSite } from "#test/support/publisher.ts";

// Ctrl-C in a shell reaches the service, its publisher, the local chain and the compiler at once.
test("a signal to the whole group ends a start, and without a word", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-stop-"));
  await putCompiledSite(dataDir);
  const script = join(import.meta.dirname, "../../scripts/start.ts");
  const env = {
    ...process.env,
    ALMONER_DATA_DIR: dataDir,
    ALMONER_PORT: "0",
    ALMONER_CHAIN_PORT: "0",
  };
  const service = Bun.spawn([process.execPath, script, "--profiles", "30"], {
    env,
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
  // Its output ends with the last of its processes.
  expect(await complaints).not.toMatch(/Error|error|ended|\n +at /);
  expect(await service.exited).toBe(0);
  rmSync(dataDir, { recursive: true });
}, 240_000);

test("a signal while the sample is made ends it, and what was made is whole", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-stop-"));
  const [log, profiles] = [join(dataDir, "store.db-wal"), 200_000];
  const service = Bun.spawn(
    [process.execPath, "scripts/start.ts", "--profiles", String(profiles)],
    {
      env: {
        ...process.env,
        ALMONER_DATA_DIR: dataDir,
        ALMONER_PORT: "0",
        ALMONER_CHAIN_PORT: "0",
      },
      stdio: ["ignore", "ignore", "ignore"],
    },
  );
  // Tables alone take less than a megabyte.
  const written = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  while (written() < 20_000_000 && service.exitCode === null) await Bun.sleep(10);
  service.kill("SIGTERM");
  await service.exited;
  using store = await openStore({ url: `file:${join(dataDir, "store.db")}` });
  const made = await store.db.$count(nonprofits);
  // Each batch of 2,000 is one transaction.
  expect([made > 0, made < profiles, made % 2_000]).toEqual([true, true, 0]);
  rmSync(dataDir, { recursive: true });
}, 240_000);
