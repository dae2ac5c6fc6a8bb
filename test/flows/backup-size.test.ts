import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { everyPath } from "#content/runtime/files.ts";
import { isFull, measured, shown } from "#test/support/measured.ts";
import { aFolder } from "#test/support/at-file-top.ts";

const profiles = 41_000;
const backedUpWithinSeconds = 10;
const restoredWithinSeconds = 60;

const digests = (folder: string) =>
  new Map(
    [...everyPath(folder)]
      .sort()
      .map((path) => [path, Bun.hash(readFileSync(join(folder, path))).toString(36)]),
  );

// Promise 6 is of a whole directory; test/flows/backup.test.ts has the same with 30 profiles.
test.skipIf(!isFull)(
  "41,000 profiles come back within 60 s, and show the same bytes",
  async () => {
    using folder = aFolder();
    const run = async (dataDir: string, ...words: string[]) => {
      const child = Bun.spawn([process.execPath, ...words], {
        env: {
          ...process.env,
          ALMONER_DATA_DIR: folder(dataDir),
          ALMONER_BACKUP_PASSPHRASE: "correct horse battery staple",
          ALMONER_SEARCH_INDEX: "off",
          ALMONER_PICTURES: "off",
          ALMONER_LOG_LEVEL: "silent",
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const out = await new Response(child.stdout).text();
      expect([words[0] ?? "", await child.exited]).toEqual([words[0] ?? "", 0]);
      return out;
    };
    await run("own", "scripts/seed.ts", "--profiles", String(profiles));
    await run("own", "scripts/publish.ts");
    const published = digests(folder("own/public"));
    const to = folder("backups");
    const beganMs = performance.now();
    await run("own", "scripts/backup.ts", "--to", to, "--quiet");
    const backupSeconds = (performance.now() - beganMs) / 1_000;
    const restore = ["scripts/restore.ts", "--from", to, "--same-feed", "--json"];
    const { seconds } = JSON.parse(await run("restored", ...restore)) as { seconds: number };
    const restored = digests(folder("restored/public"));
    const differing = [...published].filter(([path, digest]) => restored.get(path) !== digest);
    measured(
      `backed up in ${shown(backupSeconds)} s, restored and published in ${shown(seconds)} s, ${differing.length} of ${shown(published.size)} files differ`,
    );
    expect(differing.slice(0, 5)).toEqual([]);
    expect(restored.size).toBe(published.size);
    expect(backupSeconds).toBeLessThanOrEqual(backedUpWithinSeconds);
    expect(seconds).toBeLessThanOrEqual(restoredWithinSeconds);
  },
  3_600_000,
);
