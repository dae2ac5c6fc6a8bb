import { type DailyNumbers, daysLimit, type OperatorHealth } from "#content/contract/operator.ts";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { isoDay, isoTime } from "#content/contract/time.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import {
  type ByDay,
  countedByDay,
  donationsByDay,
  followThroughsByDay,
} from "#content/operation/activity-store.ts";
import { healthWarnings } from "#content/operation/health.ts";
import {
  firstChangeAfter,
  oldestPendingWebhook,
  refusedSince,
  storeBytes,
} from "#content/operation/directory-facts-store.ts";
import { deliveriesWith } from "#content/operation/webhook-store.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { OperatorContext } from "./operators.ts";

const hourMs = 3_600_000;
const refusedHours = 24;
const countedMax = 100_000;
/** The file whose time is that of the last backup: anyone who makes backups touches it. */
export const backupMark = "last-backup";

/** What an operator looks at first. Asks the chain one question, and waits for it at most 3 s. */
export async function operatorHealth(context: OperatorContext): Promise<OperatorHealth> {
  const { store, clock } = context;
  const { dataDir, webhookUrls } = context.config;
  const now = clock().getTime();
  const newest = await newestSequence(store);
  const pendingSince = await oldestPendingWebhook(store);
  const health = {
    at: isoTime(now),
    publication: await publicationHealth(context, newest, now),
    chain: await chainHealth(context.chain),
    backup: await lastBackup(dataDir, now),
    refused: {
      hours: refusedHours,
      requests: await refusedSince(store, now - (refusedHours + 1) * hourMs),
    },
    store: {
      bytes: await storeBytes(store),
      free_bytes: await freeBytes(dataDir),
      newest_change: newest,
    },
    webhooks: {
      receivers: webhookUrls.length,
      pending: await deliveriesWith(store, "pending", countedMax),
      failed: await deliveriesWith(store, "failed", countedMax),
      oldest_pending_s: pendingSince === null ? null : secondsBetween(pendingSince, now),
    },
  };
  return { ...health, warnings: healthWarnings(health) };
}

const secondsBetween = (fromMs: number, toMs: number): number =>
  Math.max(0, Math.round((toMs - fromMs) / 1_000));

async function publicationHealth(
  { store, publication }: Pick<OperatorContext, "store" | "publication">,
  newest: number,
  now: number,
): Promise<OperatorHealth["publication"]> {
  if (publication === undefined) return null;
  const { release, held, profilesTo, listsTo, failures } = publication();
  const waitingSince = await firstChangeAfter(store, Math.min(profilesTo, listsTo));
  return {
    release,
    held,
    profiles_behind: Math.max(0, newest - profilesTo),
    lists_behind: Math.max(0, newest - listsTo),
    oldest_waiting_s: waitingSince === null ? null : secondsBetween(waitingSince, now),
    failures,
  };
}

const chainWaitMs = 3_000;
/** Base58 of 32 zeros: a question that every node can answer, and that leaves nothing behind. */
const noBlockhash = "1".repeat(32);

async function chainHealth(chain: OperatorContext["chain"]): Promise<OperatorHealth["chain"]> {
  if (chain === null) return null;
  const startedAt = performance.now();
  const answer = await within(chain.stillValid(noBlockhash), chainWaitMs);
  return {
    cluster: chain.cluster,
    answers: answer?.ok === true,
    took_ms: Math.round(performance.now() - startedAt),
    why: answer === null ? "no answer in 3 s" : answer.ok ? null : answer.failure.why,
  };
}

async function lastBackup(dataDir: string, now: number): Promise<OperatorHealth["backup"]> {
  const found = await stat(join(dataDir, backupMark)).catch(() => null);
  if (found === null) return null;
  return { at: isoTime(found.mtimeMs), age_s: secondsBetween(found.mtimeMs, now) };
}

async function freeBytes(dataDir: string): Promise<number | null> {
  const found = await statfs(dataDir).catch(() => null);
  return found === null ? null : found.bavail * found.bsize;
}

const dayMs = 86_400_000;

/** What happened on each of the last days, today so far included. Days are those of UTC. */
export async function dailyNumbers(
  { store, clock }: Pick<OperatorContext, "store" | "clock">,
  { days: count = daysLimit.default }: { days?: number | undefined },
): Promise<DailyNumbers> {
  const today = Math.floor(clock().getTime() / dayMs);
  const days = Array.from({ length: count }, (_, at) => today - count + 1 + at);
  const since = (today - count + 1) * dayMs;
  const counted = (...kinds: Parameters<typeof countedByDay>[1]) =>
    countedByDay(store, kinds, since);
  const numbers = (found: ByDay) => days.map((day) => found.get(day) ?? 0);
  const donations = await donationsByDay(store, since);
  return {
    days: days.map((day) => isoDay(day * dayMs)),
    submissions: numbers(await counted("enrich:submitted")),
    applied: numbers(await counted("enrich:applied")),
    searches: numbers(await counted("query:search")),
    mcp_searches: numbers(await counted("query:mcp")),
    recommendations: numbers(await counted("query:recommend")),
    profiles_opened: numbers(await followThroughsByDay(store, "profile", since)),
    donate_requests: numbers(await followThroughsByDay(store, "donate", since)),
    donations: numbers(donations.number),
    donated_usdc: numbers(donations.microUsdc).map((micro) => micro / 1_000_000),
    refused: numbers(
      await counted(
        "limited:enrich",
        "limited:onboard",
        "limited:donate",
        "limited:read",
        "limited:admin",
      ),
    ),
  };
}
