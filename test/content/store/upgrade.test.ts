import { beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, writeFileSync } from "node:fs";
import { softwareVersion } from "#content/store/software.ts";
import { explainStart } from "#content/runtime/start-error.ts";
import { type OpenOptions, openStore } from "#content/store/open.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

const software = softwareVersion();
let path: string;
beforeEach(() => {
  path = folder("store.db");
});

/** What is said when the store is opened; "opened" when nothing is. */
const refusal = (options: Partial<OpenOptions>): Promise<string> =>
  openStore({ url: `file:${path}`, ...options }).then(
    (store) => (store.close(), "opened"),
    (error: Error) => error.message,
  );

test("a store of a newer version is refused by the versions and commits of both", async () => {
  (await openStore({ url: `file:${path}` })).close();
  const newer = new Database(path);
  newer.run(
    "INSERT INTO __drizzle_migrations (hash, created_at, applied_by) VALUES ('later', ?, ?)",
    [Date.parse("2100-01-01"), "9.8.7 (0123456789ab)"],
  );
  newer.close();
  for (const migrated of [false, true]) {
    expect(await refusal({ migrated })).toBe(
      `${path} was upgraded by Almoner 9.8.7 (0123456789ab), and this is the older Almoner ${software}, which does not know its tables.\nStart Almoner 9.8.7 (0123456789ab), or restore a backup from before the upgrade.`,
    );
  }
});

test("a store that is missing or empty is made only where one may be made", async () => {
  const existing = { create: false };
  expect(await refusal(existing)).toMatch(/^There is no store at .*\nCorrect ALMONER_DATA_DIR/);
  expect(await refusal({ migrated: true })).toContain("no store");
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "");
  expect(await refusal(existing)).toMatch(/is empty: 0 bytes\.\nCorrect/);
  (await openStore({ url: `file:${path}` })).close();
  expect(await refusal(existing)).toBe("opened");
});

test.each<[name: string, damage: () => string | void, says: RegExp]>([
  [
    "with a bad header",
    () => writeFileSync(path, Buffer.alloc(4_096, "x")),
    /store\.db is damaged, or is no database .*\n.*restore a backup/,
  ],
  ["in a file", () => void (path = "/proc/version/store.db"), /something else is there, .*\nName/],
  [
    "on a server that is away",
    () => "http://127.0.0.1:1/?authToken=secret",
    /^http:\/\/127\.0\.0\.1:1\/ does not answer .*\nStart the server, .*ALMONER_DATABASE_URL/,
  ],
])("a store %s is refused in two lines: the file, and what helps", async (_, damage, says) => {
  const url = damage() ?? `file:${path}`;
  expect(await refusal({ url })).toMatch(says);
});

test("a file that cannot be opened says why it may be, and a bug stays what it is", () => {
  const error = new Error('ConnectionFailed("Unable to open connection to local database: 14")');
  expect(() => explainStart(error, "/a/store.db")).toThrow(
    /^\/a\/store\.db cannot be opened \(ConnectionFailed\)\.\nLook at its rights .*ulimit -n/,
  );
  const bug = new Error("a bug");
  expect(() => explainStart(bug, "/a/store.db")).toThrow(bug);
});
