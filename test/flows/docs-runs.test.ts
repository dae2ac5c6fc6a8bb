import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openStore } from "#content/store/open.ts";
import { blocks, mentioned, ours, root } from "#test/support/documented-commands.ts";
import { putCompiledSite, runScript } from "#test/support/processes.ts";

// Our own commands in README and docs are run as they are written, in a fresh folder and in an order in which each finds
// what it needs. What is not run here is in a list, with the reason.

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

/** Commands that are not run here, by how they begin: why, and what runs them. */
const notRun: readonly (readonly [begins: RegExp, reason: string])[] = [
  [/^(?:bun|npm) start|--watch|^bun run (?:chain$|mcp|service)/, "goes on until it is stopped"],
  [/^bun test\/bench\/|^npm run (?:soak|promises)|^bun run bench:/, "a measurement"],
  [/^bun run edge$/, "writes into the checkout: test/house/addresses.test.ts"],
  [/s3:\/\//, "wants a bucket: backup.test.ts and upload.test.ts have one"],
  [/--fetch\b/, "fetches from a register: import-fetch.test.ts"],
  [/^bun run import irs-bmf eo1|^bun run import ukcat/, "files of a country: import.test.ts"],
  [/^bun run import-hits (?:--all )?cloudflare/, "a log of a CDN: import-hits.test.ts"],
  [/^bun run chain /, "wants the local chain: test/scripts/chain"],
  [/^bun run verify\b/, "wants another directory, or a receipt: verify.test.ts"],
  [/^bun run ready\b/, "wants a running directory: docs-commands.test.ts has one"],
  [/--heads https:/, "wants a copy elsewhere: review.test.ts"],
  [/^bun run review list --kind (?:hold|link|draft)$/, "as with another kind"],
  [/^bun run review (?:show|approve|reject|check|erase|revert|agent)/, "wants what somebody sent"],
  [/^bun run review health$/, "warns where no publisher runs: damaged-store.test.ts"],
  [/^bun run review (?:revoke .*\[|profile\b)/, "wants two profiles of one: review.test.ts"],
  [/^bun run seed --profiles \d+ --(?:add|seed-number)/, "seed-command.test.ts"],
  [/^bun run publish --/, "publish.test.ts"],
  [/^bun run restore\b/, "backup.test.ts, backup-messages.test.ts"],
  [/^bun run (?:upgrade|upkeep|doctor)\b/, "a test of its own in test/scripts"],
  [/^bun run export --site plain/, "export-plain.test.ts"],
  [/^bun run import irs-bmf eo_nv.csv.gz --withdraw-many$/, "import.test.ts"],
  [/^bun run import-hits \/var/, "as with one file"],
  [/^bun run review pick (?:add|edit|remove)/, "picks.test.ts"],
  [/^bun run seed(?: --as-of .*| --profiles 2000)?$/, "as above, with more profiles"],
];

const written = new Set(
  [...blocks, ...mentioned].map(({ text }) => text).filter((text) => ours(text) !== null),
);
const run = new Set(runs.flatMap(([, ...commands]) => commands));

test("every command of ours is run here, or listed with the reason", () => {
  const isRun = (text: string) => [...run].some((one) => `${one} `.startsWith(`${text} `));
  const unknown = [...written].filter(
    (text) => !isRun(text) && !notRun.some(([begins]) => begins.test(text)),
  );
  expect(unknown).toEqual([]);
  expect([...run].filter((text) => !written.has(text))).toEqual([]);
  expect(
    notRun.filter(([begins]) => ![...written].some((text) => !isRun(text) && begins.test(text))),
  ).toEqual([]);
});

describe("in a fresh folder", () => {
  let folder: string;
  const folderOf = (dataDir: string) => join(folder, dataDir);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "almoner-runs-"));
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
    rmSync(folder, { recursive: true, force: true });
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
