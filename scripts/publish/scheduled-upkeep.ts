import { join } from "node:path";
import { Cron } from "croner";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { lastBackup } from "#content/operation/backup-store.ts";
import { type Child, startChild } from "#content/runtime/supervised-child.ts";

/** A directory that was off at the time of its backup, or is new, gets one this long after its start. */
const soonMs = 60_000;
const dayMs = 86_400_000;

/**
 * Makes backups, and tidies up, at the times the operator set, in UTC: each in a process of its own that gives way to
 * more urgent work. What a backup that fails says is noted in the data folder, for the health page.
 */
export function scheduleUpkeep(
  { dataDir, databaseUrl, backup, upkeepSchedule }: Config,
  log: Pick<Logger, "info" | "warn" | "error">,
  { env = process.env, afterMs = soonMs } = {},
): { stop(): Promise<void> } {
  const children = new Set<Child>();
  const run = async (name: "backup" | "upkeep"): Promise<void> => {
    const ended = Promise.withResolvers<string>();
    const child = startChild({
      script: join(import.meta.dirname, `../${name}.ts`),
      args: ["--quiet"],
      env,
      lowPriority: true,
      onExit: ended.resolve,
    });
    children.add(child);
    const cause = await ended.promise;
    children.delete(child);
    if (cause !== "0") return log.error({ command: name, cause }, "a scheduled command failed");
    log.info({ command: name }, "scheduled command done");
    if (name === "backup" && backup.passphrase === null) {
      log.warn(
        "the backup holds no keys: set ALMONER_BACKUP_PASSPHRASE, or copy `secrets` elsewhere",
      );
    }
  };
  const at = (schedule: string, name: "backup" | "upkeep") =>
    schedule === "off"
      ? []
      : [new Cron(schedule, { timezone: "UTC", protect: true, catch: true }, () => run(name))];
  // A server's backups are its own.
  const backs = databaseUrl.startsWith("file:") && backup.schedule !== "off";
  const isDue = backs && Date.now() - (lastBackup(dataDir).at ?? 0) > dayMs;
  const soon = isDue ? setTimeout(() => void run("backup"), afterMs) : undefined;
  const crons = [...(backs ? at(backup.schedule, "backup") : []), ...at(upkeepSchedule, "upkeep")];
  return {
    stop: async () => {
      clearTimeout(soon);
      for (const cron of crons) cron.stop();
      await Promise.all([...children].map((child) => child.stop()));
    },
  };
}
