import { join } from "node:path";
import { Cron } from "croner";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { newestFetches, noteFetch } from "#content/register/import-store.ts";
import { type Child, startChild } from "#content/runtime/supervised-child.ts";
import type { Store } from "#content/store/open.ts";

/** Ends of the command after which it noted itself what became of it. */
const notedItself = new Set(["0", "1", "130"]);

/**
 * Fetches the registers that were fetched before, at the times the operator set, in UTC: one after the other, each in a
 * process of its own that gives way to more urgent work. What fails is noted in the store, for the health page.
 */
export function scheduleImports(
  { importSchedule }: Pick<Config, "importSchedule">,
  store: Store,
  log: Logger,
  env: Record<string, string | undefined> = process.env,
): { run(): Promise<void>; stop(): Promise<void> } {
  let child: Child | null = null;
  let stopped = false;
  const importOne = async (format: string): Promise<void> => {
    const ended = Promise.withResolvers<string>();
    child = startChild({
      script: join(import.meta.dirname, "../import.ts"),
      args: [format, "--fetch"],
      env,
      lowPriority: true,
      onExit: ended.resolve,
    });
    const cause = await ended.promise;
    child = null;
    if (cause === "0") return log.info({ register: format }, "register imported");
    log.error({ register: format, cause }, "the scheduled import failed");
    if (notedItself.has(cause) || stopped) return;
    const note = { format, fetched: [], problem: `it ended with ${cause}`, now: new Date() };
    await store.write((tx) => noteFetch(tx, note));
  };
  const run = async (): Promise<void> => {
    const known = await newestFetches(store);
    if (known.length === 0) {
      log.warn("no register was fetched yet: run `bun run import <register> --fetch` once");
    }
    for (const { format } of known) if (!stopped) await importOne(format);
  };
  const onError = (error: unknown) =>
    log.error({ err: error }, "the scheduled import could not start");
  const cron =
    importSchedule === "off"
      ? null
      : new Cron(importSchedule, { timezone: "UTC", protect: true, catch: onError }, run);
  return {
    run,
    stop: async () => {
      stopped = true;
      cron?.stop();
      await child?.stop();
    },
  };
}
