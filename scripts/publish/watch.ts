import { Cron } from "croner";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import type { Publisher } from "#site/publisher/open-publisher.ts";
import { defaultKeeping } from "#site/publisher/prune.ts";
import { runResident } from "#site/publisher/resident.ts";
import { startProgress } from "../support/progress.ts";
import { keepDays } from "./days.ts";
import { stopSignal } from "../support/config.ts";

/** An embedded store is asked often, for it costs little; a server over the network is spared. */
const pollEmbeddedMs = 3;
const pollRemoteMs = 100;
const secondLaneDelayMs = 400;

/** Publishes until the process is told to stop, or until the service that started it is gone. */
export async function watch(publisher: Publisher, config: Config, log: Logger): Promise<void> {
  const { parts } = publisher;
  const stopping = new AbortController();
  stopSignal().addEventListener("abort", () => stopping.abort());
  process.on("disconnect", () => stopping.abort());
  const buildAll = async () => {
    const progress = startProgress("Building the bundle: documents", 0);
    const outcome = await publisher.buildAll({ onProgress: progress.at });
    progress.end();
    const { release, files, failed, differing } = outcome;
    log.info(
      { release, files, failed: failed.length, differing: differing.length },
      "bundle built",
    );
  };
  const schedule = scheduleOf(config, () => parts.manifest.setState({ request: "full" }));
  parts.manifest.setState({ pid: process.pid });
  const days = await keepDays(parts.source.store, parts.clock, (error) =>
    log.warn({ err: error }, "the day's facts could not be stored yet"),
  );
  try {
    if (publisher.isOutdated() && parts.manifest.state().held_at === 0) await buildAll();
    process.send?.({ release: parts.manifest.state().current_release });
    await runResident(parts, {
      signal: stopping.signal,
      pollMs: parts.source.store.embedded ? pollEmbeddedMs : pollRemoteMs,
      secondLaneDelayMs,
      feedLane: publisher.feedLane,
      keeping: { ...defaultKeeping, releases: config.releasesKept },
      buildAll,
    });
  } finally {
    schedule?.stop();
    days.stop();
    publisher.close();
  }
}

/** Full rebuilds at the times the operator set, in UTC. */
function scheduleOf({ rebuildSchedule }: Config, run: () => void): Cron | null {
  return rebuildSchedule === "off" ? null : new Cron(rebuildSchedule, { timezone: "UTC" }, run);
}
