import { rmSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "#api/config.ts";
import { softwareVersion } from "#content/store/software.ts";
import { storeBytes } from "#content/operation/directory-facts-store.ts";
import { CannotStart, explainStart } from "#content/runtime/start-error.ts";
import { copyStore } from "#content/store/file-work.ts";
import { openEmbeddedClient } from "#content/store/embedded-client.ts";
import { storeAddress, type Store } from "#content/store/open.ts";
import {
  migrateAmongOthers,
  pendingMigrations,
  rowsWritten,
  storeVersion,
} from "#content/store/upgrade.ts";
import { flag, print, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore } from "./support/config.ts";

/** Space for a migration, as a multiple of the store's size: it writes a log, and may rebuild a table. */
const roomFactor = 2;

export const command = wordedCommand("upgrade", {
  args: {
    check: flag,
    json: flag,
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const check = args.check === true;
    const { plan, missing, trial } = await look(config, check);
    if (missing && !check) throw new CannotStart(noRoom(plan), "Free some space first.");
    const startedMs = performance.now();
    if (!check) (await openExistingStore(config)).close();
    const took_s = check ? null : secondsSince(startedMs);
    print(args, { ...plan, trial, took_s }, () => linesOf({ ...plan, trial, took_s }));
    if (missing) process.exitCode = 1;
  },
});

/** What an upgrade would do and, with `check`, the result of a trial. */
async function look(config: Config, check: boolean) {
  using store = await openExistingStore(config, { migrated: true });
  const plan = await planOf(config, store);
  const { pending, room } = plan;
  const missing = room !== null && room.free_bytes < room.needed_bytes && pending.length > 0;
  const tries = check && !missing && pending.length > 0 && store.embedded;
  const failed = (error: unknown) => explainStart(error, plan.store);
  return { plan, missing, trial: tries ? await tryOnCopy(config).catch(failed) : null };
}

async function planOf({ databaseUrl }: Config, store: Store) {
  const bytes = store.embedded ? await storeBytes(store) : null;
  const disk = bytes === null ? null : await statfs(dirname(storeAddress(databaseUrl)));
  return {
    store: storeAddress(databaseUrl),
    from: await storeVersion(store.raw),
    to: softwareVersion(),
    pending: await pendingMigrations(store.raw),
    room:
      bytes === null || disk === null
        ? null
        : { free_bytes: disk.bavail * disk.bsize, needed_bytes: bytes * roomFactor },
  };
}

type Plan = Awaited<ReturnType<typeof planOf>>;

/** Runs the migrations on a copy beside the store, to measure their time and space. */
async function tryOnCopy({ databaseUrl }: Config) {
  const copy = join(dirname(storeAddress(databaseUrl)), `upgrade-trial-${process.pid}.db`);
  try {
    await copyStore(storeAddress(databaseUrl), copy);
    const client = openEmbeddedClient(pathToFileURL(copy).href, { timeout: 0 });
    const before = await storeBytes({ raw: client });
    const startedMs = performance.now();
    await migrateAmongOthers(client);
    const took_s = secondsSince(startedMs);
    const written_rows = await rowsWritten(client);
    const grows_bytes = Math.max(0, ((await storeBytes({ raw: client })) ?? 0) - (before ?? 0));
    client.close();
    return { took_s, written_rows, grows_bytes };
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${copy}${end}`, { force: true });
  }
}

function linesOf(
  outcome: Plan & { trial: Awaited<ReturnType<typeof tryOnCopy>> | null; took_s: number | null },
): string[] {
  const { store, from, to, pending, room, trial, took_s } = outcome;
  const head = `${store}: tables of ${from === null ? "an earlier version" : `Almoner ${from}`}; this is ${to}.`;
  if (pending.length === 0) return [head, "Nothing is to be done: the tables are up to date."];
  const names = pending.map((name) => `  ${name}`);
  if (took_s !== null) return [head, ...names, `Upgraded in ${took_s} s.`];
  if (room !== null && room.free_bytes < room.needed_bytes)
    return [head, ...names, noRoom(outcome)];
  return [
    head,
    `${pending.length} migrations wait:`,
    ...names,
    trial === null
      ? "The store is on a server: the migrations were not tried."
      : `Tried on a copy: ${trial.took_s} s, ${trial.written_rows.toLocaleString("en")} rows written, ${megabytes(trial.grows_bytes)} more. There are ${megabytes(room?.free_bytes ?? 0)} free.`,
    "Writes wait meanwhile, and after a second are answered 503; reads go on. Make a backup, then restart the service, or stop it and: bun run upgrade",
  ];
}

const noRoom = ({ store, room }: Plan): string =>
  `The disk of ${store} has ${megabytes(room?.free_bytes ?? 0)} free, and the upgrade may need ${megabytes(room?.needed_bytes ?? 0)}.`;

const megabytes = (bytes: number): string =>
  `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

const secondsSince = (startedMs: number): number =>
  Number(((performance.now() - startedMs) / 1_000).toFixed(2));

if (import.meta.main) await runCommand(command);
