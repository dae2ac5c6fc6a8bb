import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";

/** How many descriptors of this process are open on a file. */
const descriptorsOn = (path: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false; // The one by which the folder was read.
    }
  }).length;

test("a writer that finds the store locked again and again keeps one connection", async () => {
  const folder = mkdtempSync(join(tmpdir(), "almoner-busy-"));
  const path = join(folder, "store.db");
  const [mine, other] = [
    await openStore({ url: `file:${path}` }),
    await openStore({ url: `file:${path}` }),
  ];
  const note = (store: typeof mine, key: string) =>
    store.write(({ raw }) =>
      raw.execute({
        sql: "INSERT INTO directory_facts (name, value, updated_at) VALUES (?, '1', 1)",
        args: [key],
      }),
    );
  await note(mine, "first");
  const before = descriptorsOn(path);
  const lock = Promise.withResolvers<void>();
  const held = other.write(() => lock.promise);
  const writing = note(mine, "second");
  await Bun.sleep(300);
  lock.resolve();
  await Promise.all([held, writing]);
  await note(mine, "third");
  expect(descriptorsOn(path)).toBe(before);
  const { rows } = await other.raw.execute(
    "SELECT count(*) AS n FROM directory_facts WHERE name IN ('first', 'second', 'third')",
  );
  expect(rows[0]?.["n"]).toBe(3);
  mine.close();
  other.close();
  rmSync(folder, { recursive: true });
});
