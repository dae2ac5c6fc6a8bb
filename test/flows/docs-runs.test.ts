import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openStore } from "#content/store/open.ts";
import { blocks, mentioned, ours, root } from "#test/support/documented-commands.ts";
import { putCompiledSite, runScript } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();

// Our own commands in README and docs are run as they are written, in a fresh folder and in an order in which each finds
// what it needs. Others have tests of their own; docs-commands.test.ts holds the words of all of them against the commands.

/** Commands by the data folder that they work on. */
const runs: readonly (readonly [dataDir: string, ...commands: string[]])[] = [
  [
    "sample",
    "bun run seed --profiles 500",
    "bun run publish",
    "bun run review pick list",
    "bun run review revoke --slug <slug> --reason <why>",
    "bun run review queues",
    "bun run review list --kind onboarding",
    "bun run review numbers",
    "bun run review log",
    "bun run review audit --verify",
    "bun run import-hits access.log",
    "bun run link-registers --check",
    "bun run link-registers",
    "bun run rotate-key",
    "bun run rotate-key --compromised",
    "bun run backup",
    "bun run export --out directory.ndjson",
    "bun run export --all --out everything.ndjson",
  ],
  ["moved", "bun run import all everything.ndjson"],
  ["given", "bun run import ndjson directory.ndjson"],
  [
    "registers",
    "bun run import irs-bmf eo_nv.csv.gz --check",
    "bun run import irs-bmf eo_nv.csv.gz eo_hi.csv.gz",
    "bun run import --help",
  ],
  ["mine", "npm run import -- irs-bmf eo_ri.csv"],
];

test("what is run here is written in documentation, word for word", () => {
  const written = new Set([...blocks, ...mentioned].map(({ text }) => text));
  const commands = runs.flatMap(([, ...those]) => those);
  expect(commands.filter((text) => !written.has(text))).toEqual([]);
});

describe("in a fresh folder", () => {
  const folderOf = (dataDir: string) => join(folder, dataDir);

  beforeAll(async () => {
    await putCompiledSite(folderOf("sample"));
    for (const [name, fixture] of [
      ["eo_nv", "eo_aa"],
      ["eo_hi", "eo_bb"],
    ]) {
      const rows = readFileSync(join(root, `test/support/registers/${fixture}.csv`));
      writeFileSync(join(folder, `${name}.csv.gz`), gzipSync(rows));
    }
    copyFileSync(join(root, "test/support/registers/eo_aa.csv"), join(folder, "eo_ri.csv"));
    const hit =
      '203.0.113.9 - - [22/Nov/2026:10:00:00 +0000] "GET /llms.txt HTTP/1.1" 200 10 "-" "a"\n';
    writeFileSync(join(folder, "access.log"), hit);
  });
  beforeAll(() => process.chdir(folder));
  afterAll(() => {
    process.chdir(root);
  });

  /** What documentation writes, and what is there instead. */
  const here = async (text: string): Promise<string> => {
    using store = await openStore({ url: `file:${join(folderOf("sample"), "store.db")}` });
    const first = "SELECT slug FROM nonprofits WHERE verified = 1 ORDER BY id LIMIT 1";
    const { rows } = await store.raw.execute(first);
    return text
      .replaceAll(/hope-kitchen|<slug>/g, String(rows[0]?.["slug"]))
      .replaceAll("<why>", "why")
      .replaceAll("<folder or bucket>", join(folderOf("sample"), "backups"));
  };
  test.each(
    runs.flatMap(([dataDir, ...commands]) => commands.map((text) => [dataDir, text] as const)),
  )("%s: %s", async (dataDir, text) => {
    const command = existsSync(join(folderOf("sample"), "store.db")) ? await here(text) : text;
    const { script = "", words = [] } =
      ours(command.replace(/--profiles \d+/, "--profiles 24")) ?? {};
    const ended = await runScript(script.replace(/^scripts\/|\.ts$/g, ""), words, {
      ALMONER_DATA_DIR: folderOf(dataDir),
      ALMONER_BACKUP_PASSPHRASE: "correct horse battery staple",
      ALMONER_PICTURES: "off",
      ALMONER_SEARCH_INDEX: "off",
    });
    expect([ended.code, ended.err]).toEqual([0, expect.any(String)]);
  });
});
