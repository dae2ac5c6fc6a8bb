import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ParsedArgs } from "citty";
import { eventsTo, openLog } from "#api/log.ts";
import type { Config } from "#api/config.ts";
import { missingSecrets, signingKeyFile } from "#api/secrets.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { syncAll } from "#site/bundle/durable.ts";
import { openPublisher } from "#site/publisher/open-publisher.ts";
import { bringBack, readPart, removeDrafts } from "./backup/bring-back.ts";
import { type Keys, openKeys, WrongPassphrase } from "./backup/keys.ts";
import {
  type BackupManifest,
  type BackupPlace,
  DamagedBackup,
  manifestOf,
  openPlace,
} from "./backup/place.ts";
import { flag, print, runCommand, textOption, wordedCommand } from "./support/command.ts";
import { checkedSigningKey, configOrExit, reasonOf, stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

const args = {
  from: textOption,
  name: textOption,
  "without-keys": flag,
  "same-feed": flag,
  publish: { ...flag, default: true },
  json: flag,
} as const;

export const command = wordedCommand("restore", {
  args,
  run: async ({ args: options }) => {
    const config = configOrExit({ opens: false });
    const startedMs = performance.now();
    refuseUsed(config, options["without-keys"] === true);
    const { place, name } = await find(options, config);
    const restored = bringOne(place, name, config, options);
    const { manifest, keys, epoch } = await restored.catch((error: unknown) =>
      refuse(error, place, name, config),
    );
    const release = options.publish ? await publish(config, name) : 0;
    const seconds = Number(((performance.now() - startedMs) / 1_000).toFixed(1));
    const outcome = { backup: name, rows: manifest.facts.rows, keys: Object.keys(keys), epoch };
    print(options, { ...outcome, release, seconds }, () => [
      `${name} is restored ${release > 0 ? "and published " : ""}in ${seconds} s. Start it: bun start`,
      epoch === null
        ? "The change feed goes on where the backup ended."
        : "The change feed begins a new epoch, because more may have been published since the backup: mirrors and readers of the feed start again.",
    ]);
  },
});

type RestoreArgs = ParsedArgs<typeof args>;

async function bringOne(place: BackupPlace, name: string, config: Config, flags: RestoreArgs) {
  const manifest = await manifestOf(place, name);
  const keys = await keysOf(place, manifest, config, flags["without-keys"] === true);
  console.error(`Restoring ${name} from ${place.name} …`);
  const { dataDir, databaseUrl } = config;
  const sameFeed = flags["same-feed"] === true;
  const options = { dataDir, databaseUrl, keys, sameFeed, now: systemClock() };
  return { manifest, keys, epoch: await bringBack(place, manifest, options) };
}

/** Ends the process with the reason why a backup cannot be restored and, if it is damaged, the one to try next. */
async function refuse(
  error: unknown,
  place: BackupPlace,
  name: string,
  { dataDir }: Config,
): Promise<never> {
  const what = `${name} was not restored, and nothing of it stays: `;
  if (!(error instanceof DamagedBackup)) return stopWith(what + reasonOf(error, dataDir));
  const before = (await place.names()).filter((other) => other < name).at(-1);
  const next = before === undefined ? "" : ` Try the one before: \`--name ${before}\`.`;
  return stopWith(`${what}${error.message}.${next}`);
}

/** Files that may be in the data folder before a restore: backups, and what a volume has. */
const notInTheWay = new Set(["backups", "lost+found"]);

function refuseUsed({ dataDir, databaseUrl }: Config, ownKeys: boolean): void {
  if (!databaseUrl.startsWith("file:")) {
    stopWith("A backup is restored into a file: leave ALMONER_DATABASE_URL out for this.", 2);
  }
  removeDrafts(dataDir, databaseUrl);
  const inTheWay = existsSync(dataDir)
    ? readdirSync(dataDir).filter(
        (name) => !notInTheWay.has(name) && !(ownKeys && name === "secrets"),
      )
    : [];
  const store = filePathOf(databaseUrl);
  if (existsSync(store)) inTheWay.unshift(store);
  if (inTheWay.length > 0) {
    stopWith(
      `${dataDir} is not empty (${inTheWay.slice(0, 3).join(", ")}), and nothing is overwritten: move it away first, or name an empty folder in ALMONER_DATA_DIR.`,
      2,
    );
  }
}

/** The backup to restore, and the place where it is stored. */
async function find(
  options: RestoreArgs,
  config: Config,
): Promise<{ place: BackupPlace; name: string }> {
  const from = options.from ?? config.backup.to;
  const isOne = existsSync(join(from, "manifest.json"));
  const place = openPlace(isOne ? dirname(resolve(from)) : from, config.s3);
  if (typeof place === "string") stopWith(`--from: ${place}`, 2);
  const names = isOne ? [basename(resolve(from))] : await place.names();
  if (names.length === 0 && options.name === undefined)
    stopWith(`There is no complete backup at ${place.name}. Say with --from where one is.`, 2);
  const { name = names.at(-1) ?? "" } = options;
  // A bucket may have lost the list of its backups.
  const isListed = names.includes(name);
  if (!isListed && !(await manifestOf(place, name).then(Boolean, () => false))) {
    stopWith(`${place.name} has no backup ${name}. It has: ${names.join(", ") || "none"}.`, 2);
  }
  return { place, name };
}

async function keysOf(
  place: BackupPlace,
  { name, keys }: BackupManifest,
  config: Config,
  without: boolean,
): Promise<Keys> {
  const { passphrase } = config.backup;
  if (without) {
    const missing = missingSecrets(config);
    if (missing.length > 0) console.error(withoutKeys(config, missing));
    return {};
  }
  if (keys === null) {
    return stopWith(
      "This backup holds no keys. Put the folder `secrets` into the data folder and give --without-keys. If it is lost, give that, too: `bun run rotate-key` makes a new signing key then, which mirrors refuse until their operators take it.",
      2,
    );
  }
  try {
    if (passphrase === null) throw new WrongPassphrase("ALMONER_BACKUP_PASSPHRASE is not set");
    return openKeys(await readPart(place, name, keys), passphrase);
  } catch (error) {
    if (error instanceof DamagedBackup)
      error.message += "; --without-keys restores the store alone";
    if (!(error instanceof WrongPassphrase)) throw error;
    return stopWith(`${error.message}. --without-keys restores the store alone.`, 2);
  }
}

/** Printed before the store is unpacked, while there is still time to add the keys. */
const withoutKeys = ({ dataDir }: Config, missing: readonly string[]): string =>
  [
    `WITHOUT KEYS: ${join(dataDir, "secrets")} lacks ${missing.join(", ")}.`,
    ...(missing.includes(signingKeyFile)
      ? [
          "Without the signing key nothing is published, and the service does not start, until `bun run rotate-key` makes a new one, which mirrors refuse.",
        ]
      : []),
    "Other keys are made again at the start, and what the old ones signed or opened is void.",
  ].join(" ");

/** Publishes everything except the search index for people, which the service makes after its start. */
async function publish(config: Config, name: string): Promise<number> {
  const signingKey = await checkedSigningKey(config).catch((error: unknown) => {
    if (!(error instanceof CannotStart)) throw error;
    return stopWith(`${name} is restored, and not published.\n${error.message}`);
  });
  const progress = startProgress("Publishing documents", 0);
  const publisher = await openPublisher({
    ...config,
    signingKey,
    log: eventsTo(openLog(config)),
  });
  try {
    const { release } = await publisher.buildAll({ onProgress: progress.at });
    await publisher.tidy({ first: true });
    await syncAll(publisher.context);
    return release;
  } finally {
    progress.end();
    publisher.close();
  }
}

if (import.meta.main) await runCommand(command);
