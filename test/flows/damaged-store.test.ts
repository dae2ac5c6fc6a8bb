import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runScript } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aDataFolder, type DataFolder } from "#test/support/data-folder.ts";
import { aServiceHere } from "#test/support/service-here.ts";

const profiles = 500;
const pageBytes = 4_096;
const waitMs = 60_000;

let folder: DataFolder;
let dataDir: string;
let path: string;
beforeAll(async () => {
  const trusts = Array.from({ length: profiles }, (_, at) =>
    aNonprofit({ slug: `trust-${at}`, name: `Trust ${at}` }),
  );
  folder = await aDataFolder(trusts);
  folder.store.close();
});
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "almoner-damaged-"));
  path = join(dataDir, "store.db");
  copyFileSync(wholeStore(), path);
});
afterEach(() => rmSync(dataDir, { recursive: true }));
afterAll(() => rmSync(folder.dataDir, { recursive: true }));
const wholeStore = () => join(folder.dataDir, "store.db");

function damagePages(): void {
  const file = openSync(path, "r+");
  for (let page = 40; page <= 400; page += 40)
    writeSync(file, Buffer.alloc(pageBytes, 0xab), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
}

/** A service; writes and reads of it are answered as `status code`. */
async function started() {
  const env = { ALMONER_READS_PER_MINUTE: "0" };
  const { url, stop } = await aServiceHere(dataDir, env);
  const told = async (answer: Response) => {
    const body = (await answer.json().catch(() => ({}))) as { code?: string; detail?: string };
    return { status: answer.status, code: body.code, detail: body.detail };
  };
  let writes = 0;
  return {
    read: async (address: string) => told(await fetch(`${url}${address}`)),
    write: async () =>
      told(
        await fetch(`${url}/api/enrich/trust-${writes++}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ field: "city", value: "Oslo", agent_id: "bot-a" }),
        }),
      ),
    stop,
  };
}
type Running = Awaited<ReturnType<typeof started>>;

async function untilRefused({ write }: Running): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while ((await write()).status !== 503 && performance.now() < deadlineMs) await Bun.sleep(200);
}

async function expectRefusing({ write, read }: Running): Promise<void> {
  for (let at = 0; at < 5; at++)
    expect(await write()).toMatchObject({ status: 503, code: "store_corrupt" });
  const ready = await read("/readyz");
  expect(ready.status).toBe(503);
  expect(ready.detail).toContain("the store is damaged, and a backup has to be restored");
  expect((await read("/healthz")).status).toBe(200);
}

test("damage that any read of a running service meets stops its writes, and readiness says it", async () => {
  const service = await started();
  expect((await service.write()).status).toBeLessThan(300);
  damagePages();
  const refusals = new Set<string>();
  for (let offset = 0; offset < profiles; offset += 100) {
    const page = `limit=100&offset=${offset}`;
    for (const list of [
      "/api/nonprofits?",
      "/api/nonprofits?cause=education&",
      "/api/search?q=trust&",
    ]) {
      const { status, code } = await service.read(`${list}${page}`);
      if (status !== 200) refusals.add(`${status} ${code}`);
    }
  }
  expect([...refusals]).toEqual(["503 store_corrupt"]);
  await expectRefusing(service);
  await service.stop();
});

test("damage that a backup meets stops the writes of the service, and readiness says it", async () => {
  const service = await started();
  expect((await service.write()).status).toBeLessThan(300);
  expect((await service.read("/readyz")).status).toBe(200);
  damagePages();
  const backup = await runScript("backup", ["--to", join(dataDir, "backups")], {
    ALMONER_DATA_DIR: dataDir,
  });
  expect(backup.code).not.toBe(0);
  await expectRefusing(service);
  await service.stop();
});

test("what happened to the files of a store shows in doctor, review health and readiness", async () => {
  const service = await started();
  // The file itself is in order, so no look at it would tell.
  unlinkSync(`${path}-wal`);
  const env = { ALMONER_DATA_DIR: dataDir };
  const [doctor, health] = await Promise.all([
    runScript("doctor", ["--json"], env),
    runScript("review", ["health", "--json"], env),
  ]);
  const ready = await service.read("/readyz");
  await service.stop();
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; found: string }[] };
  const found = findings.filter(({ check }) => check === "service").map((one) => one.found);
  expect(found).toHaveLength(1);
  expect(found[0]).toEndWith("is not ready: the store was removed or replaced.");
  expect(doctor.code).toBe(1);
  const { warnings } = JSON.parse(health.out) as { warnings: string[] };
  expect(warnings[0]).toContain("was removed or replaced while it was in use");
  expect(ready).toMatchObject({ status: 503, detail: "the store was removed or replaced." });
});

test("a service that is started on a damaged store refuses writes once it has checked it", async () => {
  damagePages();
  const service = await started();
  await untilRefused(service);
  await expectRefusing(service);
  await service.stop();
  // The next start knows it from the beginning.
  const next = await started();
  expect(await next.write()).toMatchObject({ status: 503, code: "store_corrupt" });
  await next.stop();
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  copyFileSync(wholeStore(), path);
  const restored = await started();
  expect((await restored.write()).status).toBeLessThan(300);
  await restored.stop();
});
