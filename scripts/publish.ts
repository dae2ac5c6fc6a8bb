import type { ParsedArgs } from "citty";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { eventsTo, openLog } from "#api/log.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { isDamaged } from "#content/runtime/files.ts";
import { msSinceMoment } from "#content/runtime/timing.ts";
import { startProgress } from "#scripts/support/progress.ts";
import {
  type Manifest,
  openManifest,
  type PublisherState,
  publisherFolders,
} from "#site/bundle/manifest.ts";
import { type PurgeConfig, startPurger } from "#site/delivery/purge.ts";
import type { PublisherContext } from "#site/publisher/context.ts";
import { type BuildFindings, buildFindings } from "#site/publisher/full-build.ts";
import { PublisherBusy, isPublisherAlive } from "#site/publisher/lock.ts";
import {
  dropDamagedManifest,
  openPublisher,
  type Publisher,
} from "#site/publisher/open-publisher.ts";
import {
  leaveRequest,
  type PublishRequest,
  requestText,
  withdrawRequest,
} from "#site/publisher/requests.ts";
import {
  drainOnce,
  goBack,
  heldMessage,
  keepPublicSettings,
  publishFull,
  type Bucket,
  bringToBucket,
  bucketOf,
  purgeConfigOf,
  targetOrExit,
  failuresOf,
  notKeptMessage,
  showFailed,
  findingLines,
  targetOf,
} from "./publish/once.ts";
import { showStatus } from "./publish/status.ts";
import { turnDay, watch } from "./publish/watch.ts";
import {
  flag,
  optionAlone,
  print,
  runCommand,
  textOption,
  wholeNumber,
  wordedCommand,
} from "./support/command.ts";
import { checkedSigningKey, configOrExit, stopWith, openExistingStore } from "./support/config.ts";

const args = {
  full: flag,
  watch: flag,
  rollback: optionAlone("-1"),
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
    if (new URL(config.baseUrl).port === "0") stopWith(noAddress, 2);
    const bucket = bucketOf(flags, config);
    // Report an unusable target before the work, not after it.
    if (bucket !== null) targetOrExit(bucket.to, config);
    const by = await publish(flags, config, log, bucket).catch((error: unknown) => {
      // The next publisher begins without the damaged manifest; the service restarts its own one at once.
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

const noAddress =
  "ALMONER_PORT is 0, so the address that published files name is unknown: set ALMONER_BASE_URL, or give the port of the service.";

type PublishOptions = ParsedArgs<typeof args>;

/** Brings the bundle up to date. Returns who did: this command, a running publisher, or this command as a publisher. */
async function publish(
  flags: PublishOptions,
  config: Config,
  log: Logger,
  bucket: Bucket | null,
): Promise<"once" | "resident" | "watch"> {
  const json = flags.json === true;
  const processes =
    flags.processes === undefined ? undefined : wholeNumber("--processes", flags.processes, 64);
  const isBesideService = flags.watch === true && process.connected;
  // Before it publishes, the process ends at once when the service that started it ends.
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

const lookAgainAfterMs = 5_000;

/** Waits, for a second service on this data folder, until the first one's publisher has ended. */
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
    // A bucket may still be filled while publishing is held.
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

/** Purges what these releases changed from caches in front of the bundle. */
async function purgeOnce({ manifest, log }: PublisherContext, config: Config): Promise<void> {
  const purger = startPurger(manifest, purgeConfigOf(config, log));
  purger.notice();
  await purger.idle();
}

const waitMaxMs = 30 * 60_000;
const lookEveryMs = 100;
/** A publisher that has just started compiles the site before its first heartbeat. */
const startMaxMs = 15_000;
/** The service restarts a publisher that was killed, and the new one takes up the request. */
const silentMaxMs = 60_000;

type PublishFlags = Partial<Pick<PublishOptions, "full" | "resume" | "rollback">>;

/**
 * Hands a request to the running publisher, and waits until it is done and mirrors can see it. `heldToo`: it also succeeds
 * while a rollback holds publishing.
 */
export async function askPublisher(
  config: Config,
  flags: PublishFlags,
  { json, heldToo }: { json: boolean; heldToo: boolean },
): Promise<void> {
  const manifest = openManifest(publisherFolders(config.dataDir).bundle);
  await untilResident(manifest);
  const request = requestOf(flags, manifest);
  const verb = request?.verb ?? null;
  const { held_at: heldBefore } = manifest.state();
  if (verb === "full" && heldBefore > 0) stopWith(heldMessage(heldBefore));
  const newest = await newestChange(config);
  if (request !== null && !leaveRequest(manifest, request)) {
    stopWith("The publisher is busy with another request. Try again later.");
  }
  await untilDone(manifest, request, newest);
  stopWhereHeld(manifest, request, heldToo);
  report(manifest, verb, json);
  manifest.close();
}

/** Ends the process when a rollback failed, or when it holds what was to be published. */
function stopWhereHeld(
  manifest: Manifest,
  request: ReturnType<typeof requestOf>,
  heldToo: boolean,
): void {
  const { held_at } = manifest.state();
  if (request?.verb === "rollback" && held_at !== request.release) {
    stopWith(notKeptMessage(request.release, manifest));
  }
  if (request === null && held_at > 0 && !heldToo) stopWith(heldMessage(held_at));
}

function report(manifest: Manifest, verb: PublishRequest["verb"] | null, json: boolean): void {
  const { current_release, held_at } = manifest.state();
  const findings: Partial<BuildFindings> = verb === "full" ? buildFindings(manifest) : {};
  const failed = failuresOf(manifest);
  if (failed.length > 0) process.exitCode = 1;
  if (verb === null && held_at > 0) console.error(heldMessage(held_at));
  print({ json }, { release: current_release, held_at, ...findings, failed }, ({ release }) => [
    `The running publisher is at release ${release}.`,
    ...(verb === "rollback" ? [heldMessage(held_at)] : []),
    ...findingLines(findings),
  ]);
  showFailed(failed);
}

/** Another command may also hold the publisher's lock, and takes no requests. */
async function untilResident(manifest: Manifest): Promise<void> {
  const deadlineMs = performance.now() + startMaxMs;
  while (!isPublisherAlive(manifest.state())) {
    if (performance.now() > deadlineMs) {
      stopWith("Another command is publishing into this data folder. Try again when it has ended.");
    }
    await Bun.sleep(lookEveryMs);
  }
}

async function newestChange(config: Config): Promise<number> {
  using store = await openExistingStore(config, { migrated: true });
  return await newestSequence(store);
}

async function untilDone(
  manifest: Manifest,
  request: PublishRequest | null,
  newest: number,
): Promise<void> {
  const text = request === null ? null : requestText(request);
  const progress = startProgress(`Asked the running publisher (${text ?? "publish"}), waiting`, 0);
  const startedMs = performance.now();
  const giveUp = (message: string): never => {
    if (request !== null) withdrawRequest(manifest, request);
    return stopWith(message);
  };
  for (let toList: number | null = null; ; await Bun.sleep(lookEveryMs)) {
    const state = manifest.state();
    if (toList === null && isTaken(state, text, newest)) toList = state.current_release;
    // The signed list names a release last.
    if (toList !== null && state.listed_release >= toList) break;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > waitMaxMs) giveUp("The running publisher did not finish in 30 minutes.");
    if ((msSinceMoment(state.heartbeat_at) ?? Infinity) > silentMaxMs)
      giveUp("The running publisher has ended.");
    progress.at(Math.round(waitedMs / 1_000));
  }
  progress.end();
}

/** Whether the request was taken and, unless a rollback holds, all changes are published. */
function isTaken(state: PublisherState, request: string | null, newest: number): boolean {
  if (state.request === request) return false;
  if (state.held_at > 0) return true;
  const reached = Math.min(state.fast_sequence, state.slow_sequence);
  return state.current_release > 0 && reached >= newest;
}

function requestOf(flags: PublishFlags, manifest: Manifest): PublishRequest | null {
  if (flags.rollback !== undefined) {
    return { verb: "rollback", release: targetOf(flags.rollback, manifest) };
  }
  if (flags.full === true) return { verb: "full" };
  return flags.resume === true ? { verb: "resume" } : null;
}

if (import.meta.main) await runCommand(command);
