import { Cron } from "croner";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { isJsonLog } from "#api/log.ts";
import { isoDay, dayMs } from "#content/contract/base/time.ts";
import { keepAgentAnswers } from "#content/enrichment/leaderboard-store.ts";
import { needsTotals } from "#content/enrichment/needs-store.ts";
import type { Signer } from "#content/feed/signing-keys.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { checkpointCounters } from "#content/operation/activity-store.ts";
import { auditHeadsFact, headsWithDay } from "#content/operation/audit-store.ts";
import { lastBackup } from "#content/operation/backup-store.ts";
import { openLease } from "#content/operation/lease-store.ts";
import { newestFetches, noteFetch } from "#content/register/import-store.ts";
import { type Child, startChild } from "#content/runtime/supervised-child.ts";
import {
  every,
  type EveryOptions,
  withTimeout,
  type FollowingWork,
} from "#content/runtime/timing.ts";
import { storeCharts } from "#content/statistics/charts-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import type { Store } from "#content/store/open.ts";
import { stopSignal } from "#scripts/support/config.ts";
import { startProgress } from "#scripts/support/progress.ts";
import { startPurger } from "#site/delivery/purge.ts";
import { startUploader } from "#site/delivery/upload.ts";
import type { PublisherContext } from "#site/publisher/context.ts";
import { isSmall } from "#site/publisher/full-build.ts";
import { startHeartbeat } from "#site/publisher/lock.ts";
import { dropDamagedManifest, type Publisher } from "#site/publisher/open-publisher.ts";
import { runPublishLoop, openWorkSignal } from "#site/publisher/publish-loop.ts";
import { requestRepair, requestScheduledBuild } from "#site/publisher/requests.ts";
import { heldMessage, type Bucket, purgeConfigOf, targetOrExit } from "./once.ts";

const listDelayMs = 400;
const besideServiceEveryMs = 1_500;
/** A log line names at most this many of the files that a full build found to differ. */
const differingPathsMax = 20;
/** When the process is asked to stop, it still notifies caches and buckets for at most this long. */
const lastWordMs = 2_000;
/** How long a lease on a bucket lasts, which publishers share. */
const uploadLeaseMs = 30_000;
/** How often the others look whether it is free. */
const uploadLookEveryMs = 5_000;

/** Publishes until the process is asked to stop, or until the service that started it is gone. */
export async function watch(
  publisher: Publisher,
  config: Config,
  log: Logger,
  bucket: Bucket | null,
): Promise<void> {
  const { context } = publisher;
  const stopping = new AbortController();
  stopSignal().addEventListener("abort", () => stopping.abort());
  process.on("disconnect", () => stopping.abort());
  // The service that started this process reports its writes; writes of other commands are noticed a little later.
  const work = openWorkSignal(context, process.connected ? besideServiceEveryMs : undefined);
  process.on("message", (message: "written" | "damaged" | { lost: string }) => {
    if (message === "damaged") {
      return dropDamagedManifest(config.dataDir, log, () => process.exit(1));
    }
    if (message !== "written") requestRepair(context, message.lost);
    work.notify();
  });
  const tell = isJsonLog(config) ? (line: string) => log.info(line) : undefined;
  const buildAll = () => buildWhole(publisher, log, { signal: stopping.signal, tell });
  const schedule = scheduleOf(config, () => requestScheduledBuild(context), log);
  const imports = scheduleImports(config, context.source.store, log);
  const upkeep = scheduleUpkeep(config, log);
  const heartbeat = startHeartbeat(context);
  context.manifest.setState({ pid: process.pid });
  const { held_at } = context.manifest.state();
  if (held_at > 0) log.warn(heldMessage(held_at));
  const days = await keepDays(publisher, log);
  const charts = await startStoringCharts(context, log);
  const following = followerOf(publisher, config, bucket, stopping.signal);
  try {
    if (publisher.isOutdated() && context.manifest.state().held_at === 0) {
      await buildAll().catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      });
    }
    process.send?.({ release: context.manifest.state().current_release });
    // An earlier process may have ended before its last release reached the bucket and the caches.
    following.notice();
    await runPublishLoop(publisher, {
      signal: stopping.signal,
      work,
      listDelayMs,
      releasesKept: config.releasesKept,
      buildAll,
      onRelease: () => following.notice(),
    });
    await withTimeout(following.idle(), lastWordMs);
  } finally {
    schedule?.stop();
    await following.stop?.();
    for (const running of [imports, upkeep, days, charts, heartbeat]) await running.stop();
    publisher.close();
    // An open channel to the service that started this process would keep it alive.
    if (process.connected) process.disconnect?.();
  }
}

/** Renders everything again and logs what differed. Work that can wait is done in the background. */
async function buildWhole(
  publisher: Publisher,
  log: Logger,
  { signal, tell }: { signal: AbortSignal; tell: ((line: string) => void) | undefined },
): Promise<void> {
  const { context } = publisher;
  const first = context.manifest.state().current_release === 0;
  const inStep = await isInStep(context);
  const progress = startProgress("Building the bundle: documents", 0, tell);
  const outcome = await publisher.buildAll({
    // In this process a build would hold up changes; one other is enough for a small directory.
    processes: (await isSmall(context.source.store)) ? 1 : 2,
    onProgress: progress.at,
    feedLater: true,
    signal,
  });
  progress.end();
  const { release, files, failed, differing, repaired, waiting } = outcome;
  const difference =
    differing === null
      ? {}
      : { differing: differing.length, paths: differing.slice(0, differingPathsMax) };
  log.info({ release, files, failed: failed.length, ...difference }, "bundle built");
  if (repaired.length > 0) {
    const detail = { repaired: repaired.length, paths: repaired.slice(0, differingPathsMax) };
    log.warn(detail, "files were damaged on the disk; they are repaired");
  }
  if (inStep && waiting === 0 && differing !== null && differing.length > 0) {
    const what = "the bundle differed from what store and code produce; it has been corrected";
    log.warn(difference, what);
  }
  publisher.tidy({ first }).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ err: error }, "the bundle could not be cleaned up");
  });
}

/** Follows each release: fills the bucket and then purges the caches, or only purges. */
function followerOf(
  { context }: Publisher,
  config: Config,
  bucket: Bucket | null,
  signal: AbortSignal,
): FollowingWork & { stop?: () => Promise<void> } {
  const { clock, log, manifest, source } = context;
  const purge = purgeConfigOf(config, log);
  if (bucket === null) return startPurger(manifest, purge);
  const target = targetOrExit(bucket.to, config, signal);
  const lease = openLease(source.store, clock, {
    name: `upload:${target.name}`,
    ms: uploadLeaseMs,
  });
  const isMine = () => lease.isHeld();
  const uploader = startUploader(context, { ...bucket, target, isMine, purge, signal });
  let held = false;
  const look = async () => {
    const before = held;
    held = await lease.hold().catch(isMine);
    if (held === before) return;
    log(held ? "this publisher fills the bucket" : "another publisher fills the bucket");
    uploader.notice();
  };
  const looking = every(look, { everyMs: uploadLookEveryMs, onFailure: () => {} });
  return { ...uploader, stop: () => looking.stop().then(() => lease.leave()) };
}

/** Whether the bundle should match store and code: no change waits, and the site is the same. */
async function isInStep({ manifest, source, inputsDigest }: PublisherContext): Promise<boolean> {
  const { slow_sequence, inputs_digest } = manifest.state();
  return inputs_digest === inputsDigest && slow_sequence >= (await newestSequence(source.store));
}

/** Schedules full rebuilds at the operator's times, in UTC. */
function scheduleOf({ rebuildSchedule }: Config, run: () => void, log: Logger): Cron | null {
  if (rebuildSchedule === "off") return null;
  const onError = (error: unknown) =>
    log.error({ err: error }, "the scheduled rebuild could not start");
  return new Cron(rebuildSchedule, { timezone: "UTC", catch: onError }, run);
}

/** Does work now, and again at intervals. */
async function startEvery(work: () => Promise<unknown>, options: EveryOptions) {
  const first = Promise.withResolvers<void>();
  const keeping = every(() => work().finally(first.resolve), options);
  await first.promise;
  return keeping;
}

/**
 * Stores the facts that pages show by the day: the publication day, the counters and the head of the audit log as of its
 * beginning, and what agents did as of now. Each is a row in the store, so that a bundle remains a function of the store.
 */
const keepDays = ({ context: { source, clock }, signer }: Publisher, log: Logger) =>
  startEvery(
    async () => {
      await turnDay(source.store, signer, clock());
      await keepAgentAnswers(source.store, clock());
    },
    {
      everyMs: 30_000,
      onFailure: (error) => log.warn({ err: error }, "the day's facts could not be stored yet"),
    },
  );

/** Stores the counts for the charts before anything is built, and again every quarter of an hour. */
const startStoringCharts = ({ source: { store }, clock }: PublisherContext, log: Logger) =>
  startEvery(() => storeCharts(store, clock()), {
    everyMs: 15 * 60_000,
    onFailure: (error) => log.error({ err: error }, "the charts are not counted"),
  });

/** Begins a new publication day. Does nothing while the stored day is today. */
export async function turnDay(store: Store, signer: Signer, now: Date): Promise<void> {
  const day = isoDay(now.getTime());
  if ((await directoryFact(store, "publication_day")) === day) return;
  await checkpointCounters(store, now);
  const totals = JSON.stringify(await needsTotals(store));
  const sign = (text: string) => signer.sign(new TextEncoder().encode(text));
  await store.write(async (tx) => {
    const before = await directoryFact(tx, auditHeadsFact);
    const heads = await headsWithDay(tx, { day, before, sign });
    await saveDirectoryFact(tx, { name: auditHeadsFact, value: heads, now });
    await saveDirectoryFact(tx, { name: "help_wanted_totals", value: totals, now });
    await saveDirectoryFact(tx, { name: "publication_day", value: day, now });
  });
}

type Log = Pick<Logger, "info" | "warn" | "error">;
type Env = Record<string, string | undefined>;

/** Commands at the operator's times, in UTC: each in a process of its own with low priority. */
function openSchedule(log: Log, env: Env) {
  const children = new Set<Child>();
  const crons: Cron[] = [];
  let stopped = false;
  return {
    isStopped: () => stopped,
    /** Runs a command. Returns its exit code, or the signal that ended it. */
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

/** Exit codes of a command that has recorded its own result. */
const notedItself = new Set(["0", "1", "130"]);

/** Fetches the registers that were fetched before, one by one. Failures are stored for the health page. */
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
    if (schedule.isStopped()) return;
    log.error({ register: format, cause }, "the scheduled import failed");
    if (notedItself.has(cause)) return;
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

/** A directory that is new, or was off at the time of its backup, gets one this long after its start. */
const soonMs = 60_000;

/** Makes backups, and tidies up. A failing backup records its error in the data folder, for the health page. */
export function scheduleUpkeep(
  { dataDir, databaseUrl, backup, upkeepSchedule }: Config,
  log: Log,
  { env = process.env, afterMs = soonMs }: { env?: Env; afterMs?: number } = {},
): { stop(): Promise<void> } {
  const schedule = openSchedule(log, env);
  const run = async (name: "backup" | "upkeep"): Promise<void> => {
    const cause = await schedule.command(name, "--quiet");
    if (cause !== "0") {
      if (!schedule.isStopped()) log.error({ command: name, cause }, "a scheduled command failed");
      return;
    }
    log.info({ command: name }, "scheduled command done");
    if (name === "backup" && backup.passphrase === null) {
      log.warn(
        "the backup holds no keys: set ALMONER_BACKUP_PASSPHRASE, or copy `secrets` elsewhere",
      );
    }
  };
  // A database server has backups of its own.
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
