import { join } from "node:path";
import { Cron } from "croner";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { dayMs } from "#content/contract/base/time.ts";
import { lastBackup } from "#content/operation/backup-store.ts";
import { newestFetches, noteFetch } from "#content/register/import-store.ts";
import { type Child, startChild } from "#content/runtime/supervised-child.ts";
import type { Store } from "#content/store/open.ts";

type Log = Pick<Logger, "info" | "warn" | "error">;
type Env = Record<string, string | undefined>;

/** Commands at times that the operator set, in UTC: each in a process of its own that gives way to more urgent work. */
function openSchedule(log: Log, env: Env) {
  const children = new Set<Child>();
  const crons: Cron[] = [];
  let stopped = false;
  return {
    isStopped: () => stopped,
    /** Runs one; answers its exit code, or the signal that ended it. */
    command: async (name: string, ...args: string[]): Promise<string> => {
      const end = Promise.withResolvers<string>();
      const child = startChild({
        script: join(import.meta.dirname, `../${name}.ts`),
        args,
        env,
        nice: 19,
        onExit: end.resolve,
      });
      children.add(child);
      const cause = await end.promise;
      children.delete(child);
      return cause;
    },
    at: (schedule: string, name: string, run: () => Promise<void>): void => {
      if (schedule === "off") return;
      const onError = (error: unknown) =>
        log.error({ err: error, command: name }, "a scheduled command could not start");
      crons.push(new Cron(schedule, { timezone: "UTC", protect: true, catch: onError }, run));
    },
    stop: async (): Promise<void> => {
      stopped = true;
      for (const cron of crons) cron.stop();
      await Promise.all([...children].map((child) => child.stop()));
    },
  };
}

/** Ends of the command after which it noted itself what became of it. */
const notedItself = new Set(["0", "1", "130"]);

/** Fetches the registers that were fetched before, one after the other. What fails is noted in the store, for the health page. */
export function scheduleImports(
  { importSchedule }: Pick<Config, "importSchedule">,
  store: Store,
  log: Log,
  env: Env = process.env,
): { run(): Promise<void>; stop(): Promise<void> } {
  const schedule = openSchedule(log, env);
  const importOne = async (format: string): Promise<void> => {
    const cause = await schedule.command("import", format, "--fetch");
    if (cause === "0") return log.info({ register: format }, "register imported");
    log.error({ register: format, cause }, "the scheduled import failed");
    if (notedItself.has(cause) || schedule.isStopped()) return;
    const note = { format, fetched: [], problem: `it ended with ${cause}`, now: new Date() };
    await store.write((tx) => noteFetch(tx, note));
  };
  const run = async (): Promise<void> => {
    const fetches = await newestFetches(store);
    if (fetches.length === 0) {
      log.warn("no register was fetched yet: run `bun run import <register> --fetch` once");
    }
    for (const { format } of fetches) if (!schedule.isStopped()) await importOne(format);
  };
  schedule.at(importSchedule, "import", run);
  return { run, stop: schedule.stop };
}

/** A directory that was off at the time of its backup, or is new, gets one this long after its start. */
const soonMs = 60_000;

/** Makes backups, and tidies up. What a backup that fails says is noted in the data folder, for the health page. */
export function scheduleUpkeep(
  { dataDir, databaseUrl, backup, upkeepSchedule }: Config,
  log: Log,
  { env = process.env, afterMs = soonMs }: { env?: Env; afterMs?: number } = {},
): { stop(): Promise<void> } {
  const schedule = openSchedule(log, env);
  const run = async (name: "backup" | "upkeep"): Promise<void> => {
    const cause = await schedule.command(name, "--quiet");
    if (cause !== "0") return log.error({ command: name, cause }, "a scheduled command failed");
    log.info({ command: name }, "scheduled command done");
    if (name === "backup" && backup.passphrase === null) {
      log.warn(
        "the backup holds no keys: set ALMONER_BACKUP_PASSPHRASE, or copy `secrets` elsewhere",
      );
    }
  };
  // A server's backups are its own.
  const backs = databaseUrl.startsWith("file:") && backup.schedule !== "off";
  const isDue = backs && Date.now() - (lastBackup(dataDir).at ?? 0) > dayMs;
  const soon = isDue ? setTimeout(() => void run("backup"), afterMs) : undefined;
  if (backs) schedule.at(backup.schedule, "backup", () => run("backup"));
  schedule.at(upkeepSchedule, "upkeep", () => run("upkeep"));
  return {
    stop: () => {
      clearTimeout(soon);
      return schedule.stop();
    },
  };
}
