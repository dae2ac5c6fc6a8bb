import type { ParsedArgs } from "citty";
import { eventsTo, openLog } from "#api/log.ts";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { isDamaged } from "#content/runtime/files.ts";
import { PublisherBusy } from "#site/publisher/lock.ts";
import {
  dropDamagedManifest,
  openPublisher,
  type Publisher,
} from "#site/publisher/open-publisher.ts";
import type { PublisherContext } from "#site/publisher/context.ts";
import { type PurgeConfig, startPurger } from "#site/delivery/purge.ts";
import { askPublisher } from "./publish/ask-publisher.ts";
import { drainOnce, goBack, heldMessage, keepPublicSettings, publishFull } from "./publish/once.ts";
import { showStatus } from "./publish/status.ts";
import {
  type Bucket,
  bringToBucket,
  bucketOf,
  purgeConfigOf,
  targetOrExit,
} from "./publish/to-bucket.ts";
import { turnDay, watch } from "./publish/watch.ts";
import { checkedSigningKey, configOrExit, stopWith } from "./support/config.ts";
import { flag, runCommand, textOption, wordedCommand } from "./support/command.ts";

const args = {
  full: flag,
  watch: flag,
  rollback: textOption,
  resume: flag,
  status: flag,
  processes: textOption,
  to: textOption,
  extensionless: flag,
  json: flag,
} as const;

export const command = wordedCommand("publish", {
  args,
  run: async ({ args: flags }) => {
    const config = configOrExit();
    const log = openLog(config);
    const json = flags.json === true;
    const verbs = [
      flags.full,
      flags.watch,
      flags.resume,
      flags.status,
      flags.rollback !== undefined,
    ];
    if (verbs.filter(Boolean).length > 1) {
      stopWith("Give one of --full, --watch, --rollback, --resume and --status.", 2);
    }
    if (flags.status === true) return showStatus(config, json);
    const bucket = bucketOf(flags, config);
    // A target that cannot be used is reported before the work, not after it.
    if (bucket !== null) targetOrExit(bucket.to, config);
    const by = await publish(flags, config, log, bucket).catch((error: unknown) => {
      // The next one begins without it: one that the service supervises is started again at once.
      if (isDamaged(error)) dropDamagedManifest(config.dataDir, log);
      throw error;
    });
    // A running publisher fills the bucket of the settings by itself.
    const filled = by === "watch" || (by === "resident" && flags.to === undefined);
    if (bucket === null || filled) return;
    const warn: PurgeConfig["log"] = (event, detail) => log.warn(detail ?? {}, event);
    if (!(await bringToBucket(config, { ...bucket, json }, warn))) process.exitCode = 1;
  },
});

type PublishOptions = ParsedArgs<typeof args>;

/** Brings the bundle in step; answers who did it: this command, a running publisher, or this command as one. */
async function publish(
  flags: PublishOptions,
  config: Config,
  log: Logger,
  bucket: Bucket | null,
): Promise<"once" | "resident" | "watch"> {
  const json = flags.json === true;
  const processes = processesOf(flags);
  const isBesideService = flags.watch === true && process.connected;
  // Until it publishes, it ends at once with the service that started it.
  const leave = () => process.exit(0);
  if (isBesideService) process.on("disconnect", leave);
  const signingKey = await checkedSigningKey(config);
  const opening = () =>
    openPublisher({
      ...config,
      signingKey,
      apart: flags.watch === true,
      log: eventsTo(log),
    }).catch((error: unknown) => {
      if (error instanceof PublisherBusy) return null;
      throw error;
    });
  const publisher = (await opening()) ?? (isBesideService ? await whenFree(opening, log) : null);
  if (publisher === null) {
    if (flags.watch === true)
      stopWith("Another process is already publishing into this data folder.");
    await askPublisher(config, flags, { json, heldToo: bucket !== null });
    return "resident";
  }
  await keepPublicSettings(publisher.context, config);
  if (flags.watch === true) {
    process.off("disconnect", leave);
    await watch(publisher, config, log, bucket);
    return "watch";
  }
  try {
    await publishOnce(publisher, flags, { processes, config, bucket });
    if (bucket === null) await purgeOnce(publisher.context, config);
  } finally {
    publisher.close();
  }
  return "once";
}

function processesOf({ processes }: PublishOptions): number | undefined {
  if (processes === undefined) return undefined;
  const number = Number(processes);
  if (Number.isInteger(number) && number >= 1 && number <= 64) return number;
  return stopWith("--processes: give a whole number from 1 to 64.", 2);
}

const lookAgainAfterMs = 5_000;

/** A second service on this data folder: the publisher of the first one works for both, and this one takes over after it. */
async function whenFree(open: () => Promise<Publisher | null>, log: Logger): Promise<Publisher> {
  log.info("another process publishes into this data folder; this one waits until it ends");
  for (;;) {
    await Bun.sleep(lookAgainAfterMs);
    const publisher = await open();
    if (publisher !== null) return publisher;
  }
}

async function publishOnce(
  publisher: Publisher,
  flags: PublishOptions,
  {
    processes,
    config,
    bucket,
  }: { processes: number | undefined; config: Config; bucket: Bucket | null },
): Promise<void> {
  const json = flags.json === true;
  const { manifest } = publisher.context;
  if (flags.rollback !== undefined) return goBack(publisher, flags.rollback, json);
  const { held_at } = manifest.state();
  if (flags.resume === true) manifest.setState({ held_at: 0 });
  else if (held_at > 0) {
    // What is held can be brought to a bucket all the same.
    if (bucket === null || flags.full === true) stopWith(heldMessage(held_at));
    return console.error(heldMessage(held_at));
  }
  const { source, clock } = publisher.context;
  await turnDay(source.store, publisher.signer, clock());
  const full = flags.full === true || publisher.isOutdated();
  const failed = full
    ? await publishFull(publisher, processes, json)
    : await drainOnce(publisher, { json, releasesKept: config.releasesKept });
  if (failed > 0) process.exitCode = 1;
}

/** Tells caches in front of the bundle what these releases changed. */
async function purgeOnce({ manifest, log }: PublisherContext, config: Config): Promise<void> {
  const purger = startPurger(manifest, purgeConfigOf(config, log));
  purger.notice();
  await purger.idle();
}

if (import.meta.main) await runCommand(command, { rollback: "-1" });
