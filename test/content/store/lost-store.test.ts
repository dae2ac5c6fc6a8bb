import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, renameSync, statSync, unlinkSync } from "node:fs";
import { readConfig } from "#api/config.ts";
import { openService } from "#api/open-service.ts";
import { StoreLost } from "#content/store/busy.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { directoryFacts } from "#content/store/tables/publishing.ts";
import { aNonprofit, saveNew } from "#test/support/records.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);
let path: string;
let store: Store;

beforeEach(async () => {
  path = folder("store.db");
  store = await openStore({ url: `file:${path}`, serves: true });
});
afterEach(() => {
  store.close();
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
  using second = await openStore({ url: `file:${path}` });
  const insert = "INSERT INTO directory_facts VALUES ('other', 'x', 0)";
  const other = `const Database = require("libsql"); const db = new Database(${JSON.stringify(path)}); db.exec(${JSON.stringify(insert)}); db.close()`;
  const child = Bun.spawnSync([process.execPath, "-e", other], { stderr: "inherit" });
  expect(child.exitCode).toBe(0);
  await writeFact("mine");
  expect(await second.db.$count(directoryFacts)).toBe(2);
});

test("a plain copy of a store that was closed is whole", async () => {
  await writeFact("in the log");
  store.close();
  expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0);
  copyFileSync(path, folder("copy.db"));
  expect(await factsIn(folder("copy.db"))).toBe(1);
});

test("a service says within a second or two that it is lost, refuses writes with 503, and answers reads", async () => {
  const said = Promise.withResolvers<string>();
  const ignore = () => {};
  const error = (_: object, message?: string) => said.resolve(message ?? "");
  const log = { info: ignore, warn: ignore, debug: ignore, error };
  await saveNew(store, aNonprofit({ slug: "well" }));
  const config = readConfig({ ALMONER_DATA_DIR: folder(), ALMONER_CHAIN_PORT: "0" });
  const service = await openService(config, { store, log });
  const ask = (at: string, init?: RequestInit) =>
    service.app.handle(new Request(`http://localhost${at}`, init), "127.0.0.1");
  unlinkSync(`${path}-wal`);
  // Nobody has written since.
  expect(await said.promise).toBe("the store was removed or replaced");
  const body = JSON.stringify({ agent_id: "bot-a", field: "city", value: "Oslo" });
  const headers = { "content-type": "application/json" };
  const answer = await ask("/api/enrich/well", { method: "POST", headers, body });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(await answer.json()).toMatchObject({ code: "store_lost" });
  expect((await ask("/api/nonprofits/well")).status).toBe(200);
  const reasons = [{ part: "store", why: "the store was removed or replaced" }];
  expect(await (await ask("/readyz")).json()).toMatchObject({ reasons });
  const metrics = await (await ask("/metrics")).text();
  expect(metrics).toContain('almoner_unready{part="store"} 1\n');
  await service.close();
});
