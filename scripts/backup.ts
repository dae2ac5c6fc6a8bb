import { statSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { systemClock } from "#content/contract/base/time.ts";
import { noteBackup } from "#content/operation/backup-store.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { version } from "#content/contract/base/version.ts";
import { readKeys } from "./backup/keys.ts";
import { openPlace } from "./backup/place.ts";
import { type BackupOutcome, takeBackup } from "./backup/take.ts";
import { runCommand } from "./support/command.ts";
import { configOrExit, stopWith } from "./support/config.ts";

const command = defineCommand({
  meta: {
    name: "backup",
    description:
      "Copies store and keys of a directory that may be running to a folder or a bucket, unpacks the copy and reads it through, and keeps the newest of 7 days and of 4 weeks. `bun run restore` brings it back. Exit code 1: it failed, and the older backups stay.",
  },
  args: {
    to: {
      type: "string",
      description:
        "A folder, or s3://bucket/prefix with the keys of ALMONER_S3_…; default: ALMONER_BACKUP_TO",
    },
    json: { type: "boolean", description: "Answer as JSON on standard output" },
    quiet: { type: "boolean", description: "Say nothing but what goes wrong" },
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const { dataDir, databaseUrl, backup } = config;
    if (!databaseUrl.startsWith("file:")) stopWith(ofServer, 2);
    const place = openPlace(args.to ?? backup.to, config.s3);
    if (typeof place === "string") stopWith(`--to: ${place}`, 2);
    const store = filePathOf(databaseUrl);
    // Asking must not make a store.
    if (statSync(store, { throwIfNoEntry: false }) === undefined) {
      stopWith(`There is no store to back up at ${store}.`, 2);
    }
    const silent = args.quiet === true || args.json === true;
    if (backup.passphrase === null && args.quiet !== true) console.error(withoutKeys);
    try {
      const outcome = await takeBackup({
        place,
        store,
        workFolder: join(dataDir, "backup-work"),
        keys: readKeys(dataDir),
        passphrase: backup.passphrase,
        software: version,
        now: systemClock(),
        onStep: (step) => silent || console.error(`${step} …`),
      });
      noteBackup(dataDir, null);
      if (args.json === true) console.log(JSON.stringify({ place: place.name, ...outcome }));
      else if (!silent) console.log(inWords(place.name, outcome));
    } catch (error) {
      fail(dataDir, error);
    }
  },
});

function fail(dataDir: string, error: unknown): never {
  const problem = error instanceof Error ? error.message : String(error);
  try {
    noteBackup(dataDir, problem);
  } catch {
    // The disk is full, say: this is told on the way out, too.
  }
  return stopWith(`The backup failed: ${problem}`);
}

const ofServer =
  "The database is a server (ALMONER_DATABASE_URL): use its own backups, or `bun run export --all --out <file>`, which `bun run import all <file>` brings back.";

const withoutKeys =
  "WITHOUT KEYS: ALMONER_BACKUP_PASSPHRASE is not set, so the keys are not in this backup. Restored without them, the directory does not start until `bun run rotate-key` takes a new key into use, which mirrors refuse. Set it, or keep the folder `secrets` elsewhere.";

function inWords(place: string, { manifest, bytes, removed }: BackupOutcome): string {
  const { name, facts, keys } = manifest;
  const rows = Object.values(facts.rows).reduce((sum, count) => sum + count, 0);
  return [
    `${name} at ${place}: ${rows.toLocaleString("en")} rows, ${(bytes / 1e6).toFixed(1)} MB, unpacked and read through.`,
    keys === null ? "The keys are not in it." : "The keys are in it, sealed.",
    ...(removed.length === 0 ? [] : [`No longer kept: ${removed.join(", ")}.`]),
  ].join("\n");
}

await runCommand(command);
