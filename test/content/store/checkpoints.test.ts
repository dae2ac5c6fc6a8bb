import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "#content/store/open.ts";

let folder: string;
const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function aStore(options: Partial<Parameters<typeof openStore>[0]>): Promise<Store> {
  folder = mkdtempSync(join(tmpdir(), "almoner-checkpoints-"));
  const store = await openStore({ url: `file:${join(folder, "store.db")}`, ...options });
  opened.push(store);
  return store;
}

const sizes = () => ({
  file: statSync(join(folder, "store.db")).size,
  log: statSync(join(folder, "store.db-wal")).size,
});

/** Writes this many facts of so many bytes, each in a transaction of its own. */
async function writeFacts(store: Store, count: number, name = "fact", bytes = 50_000) {
  const sql = "INSERT INTO directory_facts VALUES (?, ?, 0)";
  for (let at = 0; at < count; at++) {
    const args = [`${name}-${at}`, "x".repeat(bytes)];
    await store.write((tx) => tx.raw.execute({ sql, args }));
  }
}

async function until(met: () => boolean): Promise<void> {
  for (let tries = 0; !met(); tries++) {
    if (tries > 200) throw new Error("waited too long");
    await Bun.sleep(50);
  }
}

test("the log reaches the file beside the event loop, and is begun again when it is long", async () => {
  const store = await aStore({ serves: true });
  const before = sizes();
  await writeFacts(store, 60);
  // 60 facts are shorter than any log that the writer itself checkpoints: it was not the writer.
  await until(() => sizes().file >= before.file + 60 * 50_000);
  for (let round = 0; round < 25; round++) {
    await writeFacts(store, 10, `round-${round}`, 500_000);
    await Bun.sleep(0);
  }
  expect(sizes().log).toBeLessThan(100_000_000);
  const { rows } = await store.raw.execute("SELECT count(*) AS facts FROM directory_facts");
  expect(rows[0]?.["facts"]).toBe(60 + 25 * 10);
  const checked = await store.raw.execute("PRAGMA integrity_check");
  expect(checked.rows[0]?.["integrity_check"]).toBe("ok");
});

test("a store that is closed at once, or while a checkpoint runs, closes", async () => {
  const store = await aStore({ serves: true });
  await writeFacts(store, 20);
  await Bun.sleep(205);
  store.close();
  opened.length = 0;
  const again = await openStore({ url: `file:${join(folder, "store.db")}` });
  opened.push(again);
  const { rows } = await again.raw.execute("SELECT count(*) AS facts FROM directory_facts");
  expect(rows[0]?.["facts"]).toBe(20);
});
