import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreLost } from "#content/store/busy.ts";
import { openStore, servingStore, type Store } from "#content/store/open.ts";
import { directoryFacts } from "#content/store/tables/publishing.ts";
import { startService } from "#test/support/processes.ts";
import { aService } from "#test/support/service.ts";
import { aNonprofit } from "#test/support/records.ts";

let folder: string;
let path: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "almoner-lost-"));
  path = join(folder, "store.db");
  store = await openStore({ url: `file:${path}`, ...servingStore });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const writeFact = (name: string) =>
  store.write((tx) =>
    tx.db.insert(directoryFacts).values({ name, value: "x", updated_at: 0 }).execute(),
  );
const refusedWrite = () => writeFact("too late").catch((error: unknown) => error);
const factsIn = async (file: string): Promise<number> => {
  using opened = await openStore({ url: `file:${file}`, migrated: true });
  return await opened.db.$count(directoryFacts);
};

test("a log that is removed while in use stops writes, and loses none that was acknowledged", async () => {
  for (let at = 0; at < 50; at++) await writeFact(`fact ${at}`);
  unlinkSync(`${path}-wal`);
  for (let at = 0; at < 2; at++) expect(await refusedWrite()).toBeInstanceOf(StoreLost);
  expect(() => store.assertInPlace()).toThrow(StoreLost);
  expect(await store.db.$count(directoryFacts)).toBe(50);
  store.close();
  expect(await factsIn(path)).toBe(50);
});

test("a store that is replaced while in use stops writes, and the new one is left alone", async () => {
  await writeFact("before");
  copyFileSync(path, `${path}.other`);
  renameSync(`${path}.other`, path);
  expect(await refusedWrite()).toBeInstanceOf(StoreLost);
  const { mtimeMs } = statSync(path);
  store.close();
  expect(statSync(path).mtimeMs).toBe(mtimeMs);
});

test("a store that is opened twice keeps its log when another process closes it", async () => {
  const second = await openStore({ url: `file:${path}` });
  const insert = "INSERT INTO directory_facts VALUES ('other', 'x', 0)";
  const other = `const Database = require("libsql"); const db = new Database(${JSON.stringify(path)}); db.exec(${JSON.stringify(insert)}); db.close()`;
  const child = Bun.spawnSync([process.execPath, "-e", other], { stderr: "inherit" });
  expect(child.exitCode).toBe(0);
  await writeFact("mine");
  expect(await second.db.$count(directoryFacts)).toBe(2);
  second.close();
});

test("a plain copy of a store that was closed is whole", async () => {
  await writeFact("in the log");
  store.close();
  expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0);
  copyFileSync(path, join(folder, "copy.db"));
  expect(await factsIn(join(folder, "copy.db"))).toBe(1);
});

test("the service answers 503 to a write, and goes on answering reads", async () => {
  const service = await aService({ records: [aNonprofit({ slug: "well" })] });
  unlinkSync(join(service.context.config.dataDir, "store.db-wal"));
  const city = { agent_id: "bot-a", field: "city", value: "Oslo" };
  const answer = await service.post("/api/enrich/well", city);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(await answer.json()).toMatchObject({ code: "store_lost" });
  expect((await service.get("/api/nonprofits/well")).status).toBe(200);
  const reasons = [{ part: "store", why: "the store was removed or replaced" }];
  expect(await service.json("/readyz")).toMatchObject({ reasons });
  const metrics = await service.app.handle(new Request("http://localhost/metrics"), "127.0.0.1");
  expect(await metrics.text()).toContain('almoner_unready{part="store"} 1\n');
  service.close();
});

test("a service to which nobody writes says it within a second or two", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-lost-service-"));
  const service = startService(
    { ALMONER_DATA_DIR: dataDir, ALMONER_PORT: "0", ALMONER_LOG_LEVEL: "warn" },
    "pipe",
  );
  const log = service.stderr as ReadableStream<Uint8Array>;
  while (!existsSync(join(dataDir, "service.json")) && service.exitCode === null) {
    await Bun.sleep(20);
  }
  unlinkSync(join(dataDir, "store.db-wal"));
  let said = "";
  for await (const piece of log) {
    said += new TextDecoder().decode(piece);
    if (said.includes('"the store was removed or replaced"')) break;
  }
  expect(said).toContain('"the store was removed or replaced"');
  service.kill();
  await service.exited;
  rmSync(dataDir, { recursive: true });
}, 240_000);
