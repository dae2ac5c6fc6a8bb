import { join } from "node:path";
import { systemClock } from "#content/rules/time.ts";
import { countActivity } from "#content/store/activity.ts";
import { openStore } from "#content/store/open.ts";
import { watchChanges } from "#content/store/watch.ts";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { keepFresh } from "./kept.ts";
import { openLog } from "./log.ts";
import type { Parts } from "./parts.ts";
import { openLimits } from "./rate-limit.ts";
import { openSearch } from "./search/engine.ts";
import { loadSecrets } from "./secrets.ts";

export type Service = {
  app: App;
  parts: Parts;
  /** Writes what is still in memory and closes everything. */
  close(): Promise<void>;
};

/** Parts that the caller brings; undefined is as good as absent. */
export type Given = { [Name in keyof Parts]?: Parts[Name] };

const flushEveryMs = 1_000;

/**
 * Opens all that the service needs: store, secrets, limits, log and counters. `given` replaces or adds parts, for
 * example the bundle and the wait for publication when a publisher runs in the same process.
 */
export async function openService(config: Config, given: Given = {}): Promise<Service> {
  const clock = given.clock ?? systemClock;
  const log = given.log ?? openLog(config);
  const secrets = given.secrets ?? loadSecrets(config);
  const store =
    given.store ?? (await openStore({ url: config.databaseUrl, authToken: config.databaseToken }));
  const watch = watchChanges(store);
  const search = given.search ?? openSearch(store, watch, { databaseUrl: config.databaseUrl });
  const parts: Parts = {
    store,
    clock,
    config,
    secrets,
    log,
    limits: openLimits(join(config.dataDir, "limits.db"), { config, secrets, log }),
    kept: keepFresh(watch),
    search,
    activity: countActivity(store, clock),
    ...given,
  };
  let failing = false;
  const flush = async () => {
    try {
      await parts.activity.flush();
      failing = false;
    } catch (error) {
      // The counts are kept for the next time; one line says so, not one a second.
      if (!failing) log.warn({ err: error }, "counters could not be stored yet");
      failing = true;
    }
  };
  const timer = setInterval(() => void flush(), flushEveryMs);
  return {
    app: createApp(parts),
    parts,
    close: async () => {
      clearInterval(timer);
      await flush();
      parts.limits.close();
      if (given.search === undefined) search.close();
      if (given.store === undefined) store.close();
    },
  };
}
