import { statSync } from "node:fs";
import { join } from "node:path";
import { changedSecrets, signingKeyTrouble } from "#api/secrets.ts";
import { remedyOf } from "#content/operation/checks.ts";
import type { Config } from "#api/config.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { backupMark, noteBackup } from "#content/operation/backup-store.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { OtherTables, pendingMigrations } from "#content/store/upgrade.ts";
import { version } from "#content/contract/base/version.ts";
import { readKeys } from "./backup/keys.ts";
import { openPlace } from "./backup/place.ts";
import { type BackupOutcome, takeBackup } from "./backup/take.ts";
import { flag, print, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore, reasonOf, stopWith } from "./support/config.ts";

export const command = wordedCommand("backup", {
  args: {
    to: textOption,
    json: flag,
    quiet: flag,
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const { dataDir, databaseUrl, backup } = config;
    if (!databaseUrl.startsWith("file:")) {
      throw new CannotStart(
        "The database is a server (ALMONER_DATABASE_URL), and this command copies files.",
        `Stop the service and run \`bun run export --all --out everything.ndjson && touch ${join(dataDir, backupMark)}\`, which \`bun run import all everything.ndjson\` brings back, and keep ${join(dataDir, "secrets")} with it.`,
      );
    }
    const place = openPlace(args.to ?? backup.to, config.s3);
    if (typeof place === "string") stopWith(`--to: ${place}`, 2);
    const store = filePathOf(databaseUrl);
    // Opening a missing store must not create one, and an empty file is none either.
    if (bytesOf(store) === 0) {
      stopWith(`There is no store to back up at ${store}. Correct ALMONER_DATA_DIR.`, 2);
    }
    const isQuiet = args.quiet === true;
    try {
      const troubles = await keyTroubles(config);
      const outcome = await takeBackup({
        place,
        store,
        dataDir,
        keys: readKeys(dataDir),
        passphrase: backup.passphrase,
        software: version,
        prunes: troubles.length === 0,
        now: systemClock(),
        onStep: (step) => isQuiet || args.json === true || console.error(`${step} …`),
      });
      if (troubles.length > 0) {
        throw new Error(
          `${outcome.manifest.name} holds the store, but not the keys that belong to it, so the older backups stay.\n${troubles.join("\n")}`,
        );
      }
      noteBackup(dataDir, null);
      // Printed even for a quiet backup, because the place fills up.
      for (const why of outcome.notRemoved) console.error(`Could not be removed: ${why}.`);
      if (args.json === true || !isQuiet)
        print(args, { place: place.name, ...outcome }, () => linesOf(place.name, outcome));
    } catch (error) {
      fail(dataDir, error);
    }
    if (!isQuiet) sayWithoutKeys(config);
  },
});

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** What is wrong with the keys: such a backup must not replace older ones that hold the right keys. */
async function keyTroubles(config: Config): Promise<string[]> {
  try {
    using store = await openExistingStore(config, { migrated: true });
    // The tables of an older version may not record which keys belong to them.
    if ((await pendingMigrations(store.raw)).length > 0) return [];
    const trouble = await signingKeyTrouble(config, store);
    const changed = await changedSecrets(config, store);
    const files = changed.map(
      (path) => `${path} is gone, or not as it was made. ${remedyOf("secrets")}`,
    );
    return trouble === null ? files : [`${trouble}\n${remedyOf("signing key")}`, ...files];
  } catch (error) {
    if (error instanceof OtherTables) throw error;
    return [reasonOf(error, config.dataDir)];
  }
}

function fail(dataDir: string, error: unknown): never {
  const problem = reasonOf(error, dataDir);
  try {
    noteBackup(dataDir, problem);
  } catch {
    // For example when the disk is full. The problem is printed below anyway.
  }
  return stopWith(`The backup failed: ${problem}`);
}

/** Printed last, so that it is read. */
function sayWithoutKeys({ backup: { passphrase } }: Config): void {
  if (passphrase === null) console.error(withoutKeys);
}

const withoutKeys =
  "WITHOUT KEYS: if you lose this machine, the signing key is lost. A directory restored from this backup does not start until you run `bun run rotate-key`, and mirrors refuse the new key. Set ALMONER_BACKUP_PASSPHRASE, or keep the folder `secrets` elsewhere.";

function linesOf(place: string, { manifest, bytes, removed }: BackupOutcome): string[] {
  const { name, facts, keys } = manifest;
  const rows = Object.values(facts.rows).reduce((sum, count) => sum + count, 0);
  return [
    `${name} at ${place}: ${rows.toLocaleString("en")} rows, ${(bytes / 1e6).toFixed(1)} MB, unpacked and read through.`,
    keys === null ? "The keys are not in it." : "The keys are in it, sealed.",
    ...(removed.length === 0 ? [] : [`No longer kept: ${removed.join(", ")}.`]),
  ];
}

if (import.meta.main) await runCommand(command);
