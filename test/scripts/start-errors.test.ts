import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { listen } from "#api/http/listen.ts";
import { openSigner } from "#content/feed/signing-keys.ts";
import { noteSigningKeys } from "#content/feed/store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { wordsOf } from "#scripts/support/config.ts";
import { runProgram, runScript } from "#test/support/processes.ts";
import { aSigningKey, putCompiledSite } from "#test/support/publisher.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const root = join(import.meta.dirname, "../..");
const folder = theFolder();
const good = join(folder, "good");
const empty = join(folder, "empty.db");

beforeAll(async () => {
  // A start would compile its own meanwhile.
  await putCompiledSite(good);
  const store = await openStore({ url: `file:${join(good, "store.db")}`, synchronous: "OFF" });
  const { publicKey } = await openSigner(aSigningKey());
  const save = { before: null, after: aNonprofit() };
  await store.write(async (tx) => {
    await saveNonprofits(tx, [save], { origin: "test", now: new Date() });
    await noteSigningKeys(tx, [publicKey], new Date());
  });
  await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  store.close();
  (await openStore({ url: `file:${empty}`, synchronous: "OFF" })).close();
});

type Case = {
  name: string;
  /** Damages a copy of a good data folder; answers settings. */
  damage: (dataDir: string) => Record<string, string> | void;
  says: RegExp;
  helps: RegExp;
  command: string;
};

/** It has a process of its own; commands run in that of the test. */
const service = "scripts/service.ts";

const cases: Case[] = [
  {
    name: "a truncated store",
    damage: (dataDir) => truncateSync(join(dataDir, "store.db"), 100_000),
    says: /store\.db is damaged/,
    helps: /restore a backup/,
    command: service,
  },
  {
    name: "a folder that cannot be written",
    damage: () => ({ ALMONER_DATA_DIR: "/sys/almoner" }),
    says: /^\/sys\/almoner cannot be read or written by this user/,
    helps: /chown/,
    command: "start",
  },
  {
    name: "a store that is missing beside a folder that was used",
    damage: (dataDir) => {
      mkdirSync(join(dataDir, "bundle"));
      writeFileSync(join(dataDir, "bundle/packs.db"), "");
      rmSync(join(dataDir, "store.db"));
    },
    says: /^There is no store at .*store\.db\.$/m,
    helps: /restore a backup/,
    command: "start",
  },
  {
    name: "a store without a nonprofit beside a folder that was used",
    damage: (dataDir) => {
      mkdirSync(join(dataDir, "secrets"));
      writeFileSync(join(dataDir, "secrets/signing-key.pem"), "used");
      return { ALMONER_DATABASE_URL: `file:${empty}` };
    },
    says: /holds no nonprofit, and the data folder was used before/,
    helps: /--sample/,
    command: "start",
  },
  {
    name: "a store that a killed import left empty",
    damage: (dataDir) => {
      using db = new Database(join(dataDir, "store.db"));
      db.run("DELETE FROM nonprofits");
      db.run(
        "INSERT INTO imports (format, files, status, started_at) VALUES ('irs-bmf', '[]', 'running', 1)",
      );
    },
    says: /holds no nonprofit/,
    helps: /fill it with `bun run import`/,
    command: "start",
  },
  {
    name: "a store that is missing beside backups",
    damage: (dataDir) => {
      mkdirSync(join(dataDir, "backups"));
      rmSync(join(dataDir, "store.db"));
    },
    says: /^There is no store at .*store\.db\.$/m,
    helps: /restore a backup/,
    command: "start",
  },
  {
    name: "a local chain whose folder cannot be made",
    damage: (dataDir) => writeFileSync(join(dataDir, "chain"), ""),
    says: /^\S+\/chain\/journal\.db cannot be made/,
    helps: /ALMONER_DATA_DIR/,
    command: "chain",
  },
  {
    name: "a directory whose signing key is gone",
    damage: () => {},
    says: /signing-key\.pem holds no signing key, and this directory has signed before/,
    helps: /`bun run rotate-key`/,
    command: "start",
  },
  {
    name: "a mistyped database URL",
    damage: (dataDir) => ({ ALMONER_DATABASE_URL: `file:${join(dataDir, "stor.db")}` }),
    says: /^There is no store at .*stor\.db\.$/m,
    helps: /ALMONER_DATABASE_URL/,
    command: "export",
  },
  {
    name: "a folder of plain files that cannot be made",
    damage: () => ({ ALMONER_PUBLIC_DIR: join(empty, "public") }),
    says: /^\S+\/empty\.db\S* cannot be made or opened/,
    helps: /Name what is asked for/,
    command: "start",
  },
  {
    name: "a place of backups that is a file",
    damage: (dataDir) => {
      rmSync(dataDir, { recursive: true });
      return { ALMONER_BACKUP_TO: empty };
    },
    says: /^\S+\/empty\.db cannot be made or opened: .*\(ENOTDIR\)/,
    helps: /--help describes the options/,
    command: "restore",
  },
  {
    name: "a damaged page of a store that can be opened",
    damage: (dataDir) => {
      const path = join(dataDir, "store.db");
      using db = new Database(path);
      const sql = "SELECT rootpage AS page FROM sqlite_master WHERE name = 'nonprofits'";
      const { page } = db.query<{ page: number }, []>(sql).get() ?? { page: 1 };
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill("x", 4_096 * (page - 1), 4_096 * page));
    },
    says: /^A database in \S+ is damaged, or is no database \(SQLITE_CORRUPT\)/,
    helps: /for a store, .*restore a backup/,
    command: "link-registers",
  },
  {
    name: "a backup of a database server",
    damage: () => ({ ALMONER_DATABASE_URL: "http://127.0.0.1:9" }),
    says: /^The database is a server/,
    helps:
      /`bun run export --all --out \S+ && touch \S+\/last-backup`.*`bun run import all.*secrets/,
    command: "backup",
  },
];

async function ends(command: string, dataDir: string, changes: Record<string, string>) {
  const env = {
    ALMONER_DATA_DIR: dataDir,
    ALMONER_PORT: "0",
    ALMONER_LOG_LEVEL: "error",
    // No start needs a local chain.
    ...(command === "chain" ? {} : { ALMONER_SOLANA_RPC_URLS: "http://127.0.0.1:9" }),
    ...changes,
  };
  if (command !== service) return runScript(command, [], env);
  return runProgram([process.execPath, join(root, command)], { env });
}

test.each(cases)("$name ends in two lines: the file, and what helps", async (one) => {
  const dataDir = join(folder, one.name.replaceAll(" ", "-"));
  cpSync(good, dataDir, { recursive: true });
  const env = one.damage(dataDir) ?? {};
  const before = existsSync(join(dataDir, "store.db"));
  const { err, code } = await ends(one.command, dataDir, env);
  expect(err.trim().split("\n")).toHaveLength(2);
  expect(err).toMatch(one.says);
  expect(err).toMatch(one.helps);
  expect(code).toBe(1);
  // Nothing was made in the place of what is missing.
  expect(existsSync(join(dataDir, "store.db"))).toBe(before);
  expect(existsSync(join(dataDir, "stor.db"))).toBe(false);
});

test.each(["0", "99999999", "1e3"])(
  "--profiles %s is refused before a store is made",
  async (profiles) => {
    const env = { ALMONER_DATA_DIR: join(folder, "none"), ALMONER_PORT: "0" };
    const { code, err } = await runScript("start", ["--profiles", profiles], env);
    expect([code, err]).toEqual([2, "--profiles: give a whole number from 1 to 2000000.\n"]);
    expect(existsSync(env.ALMONER_DATA_DIR)).toBe(false);
  },
);

test("a failure of the system or of SQLite has words for an operator; a bug has none", () => {
  const failure = (members: object) => Object.assign(new Error("it failed"), members);
  expect(wordsOf(failure({ code: "EACCES", path: "/a/b" }))).toEqual({
    message: expect.stringMatching(/^\/a\/b cannot be read or written .*\(EACCES\)\.\nRun this as/),
    code: 1,
  });
  expect(wordsOf(failure({ cause: failure({ code: "SQLITE_FULL" }) }))?.message).toMatch(
    /^A database in \S+ cannot be written: the disk is full \(SQLITE_FULL\)\.\nFree some space/,
  );
  expect(wordsOf(failure({ code: "ENOSPC" }))?.message).toMatch(
    /^A file cannot be written: the disk is full \(ENOSPC\)\.\nFree some space/,
  );
  // So ends the opening of a store whose log finds no space.
  expect(wordsOf(failure({ code: "SQLITE_IOERR_SHMSIZE" }))?.message).toMatch(
    /: the disk is full, or reports an error .*\n.*\(df\).*\(dmesg, smartctl\)/,
  );
  for (const bug of [{}, { code: "SQLITE_ERROR" }, { code: "ECONNREFUSED" }, { code: "EACCES" }])
    expect(wordsOf(failure(bug))).toBeNull();
});

test("an address that is taken, or is not this machine's, is named with what helps", async () => {
  const app = { handle: async () => new Response() };
  const options = { onError: () => new Response() };
  const baseUrl = "http://localhost";
  const first = listen(app, { host: "127.0.0.1", port: 0, baseUrl }, options);
  const again = (host: string) => () => listen(app, { host, port: first.port, baseUrl }, options);
  expect(again("127.0.0.1")).toThrow(
    /^Cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)\.\nSomething else listens there/,
  );
  expect(again("192.0.2.1")).toThrow(/\(EADDRNOTAVAIL\)\.\nThis machine .*ALMONER_HOST/);
  await first.stop();
});
