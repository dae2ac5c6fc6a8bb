import {
  DailyNumbers,
  daysLimit,
  type OperatorHealth,
  OperatorNumbers,
} from "#content/contract/operator.ts";
import columnsOfKinds from "#content/editorial/counted-columns.json";
import { statfs } from "node:fs/promises";
import { dayMs, hourMs, isoDay, isoTime } from "#content/contract/base/time.ts";
import {
  canPay,
  hasBudget,
  sponsorReserveLamports,
  sponsoredSince,
} from "#content/giving/intent-store.ts";
import { unsettledBefore, voidedSince } from "#content/giving/finality-store.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import {
  countedByDay,
  donationsByDay,
  followThroughsByDay,
} from "#content/operation/activity-store.ts";
import { lastBackup } from "#content/operation/backup-store.ts";
import { healthWarnings } from "#content/operation/checks.ts";
import {
  countedSince,
  firstChangeAfter,
  storeBytes,
} from "#content/operation/directory-facts-store.ts";
import {
  openedByRank,
  recommendationFunnel,
  funnelOf,
} from "#content/recommendation/follow-through-store.ts";
import { newestFetches } from "#content/register/import-store.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import type { OperatorContext } from "./operators.ts";

const refusedHours = 24;

/** The facts that an operator needs first. Asks the chain two questions at once, and waits at most 3 s for them. */
export async function operatorHealth(context: OperatorContext): Promise<OperatorHealth> {
  const { store, clock } = context;
  const { dataDir } = context.config;
  const now = clock().getTime();
  const newest = await newestSequence(store);
  const [chain, sponsor] = await Promise.all([
    chainHealth(context.chain),
    sponsorHealth(context, now),
  ]);
  const health = {
    at: isoTime(now),
    publication: await publicationHealth(context, newest, now),
    chain,
    sponsor,
    donations: await troubledDonations(context, now),
    registers: await fetchedRegisters(store, now),
    ...backupHealth(dataDir, now),
    refused: {
      hours: refusedHours,
      requests: await countedSince(store, "limited:", now - (refusedHours + 1) * hourMs),
    },
    access: await accessCounts(store, now),
    store: {
      bytes: await storeBytes(store),
      free_bytes: await freeBytes(dataDir),
      newest_change: newest,
    },
  };
  const warnings = healthWarnings({
    ...health,
    silent_s: silenceOf(context),
    misplaced: misplacedWhy(store),
    limits_alone: context.limits?.alone() === true,
  });
  return { ...health, warnings };
}

/** Why the store takes no more writes, if its files were moved or changed; null when they are in place. */
function misplacedWhy(store: OperatorContext["store"]): string | null {
  try {
    store.assertInPlace();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Failed sign-ins and requests of untrusted proxies in the last 24 hours. */
export async function accessCounts(
  store: OperatorContext["store"],
  now: number,
): Promise<OperatorHealth["access"]> {
  const counts = await countedSince(store, "access:", now - (refusedHours + 1) * hourMs);
  return {
    hours: refusedHours,
    failed_sign_ins: counts["failed_sign_ins"] ?? 0,
    untrusted_proxy_requests: counts["untrusted_proxy_requests"] ?? 0,
  };
}

const secondsBetween = (fromMs: number, toMs: number): number =>
  Math.max(0, Math.round((toMs - fromMs) / 1_000));

/** Seconds since the publisher's last sign of life; null when none runs. */
export function silenceOf({ publication }: Pick<OperatorContext, "publication">): number | null {
  const silentMs = publication?.().silentMs ?? null;
  return silentMs === null ? null : Math.round(silentMs / 1_000);
}

/** The state of publishing; null for a process without a publisher. */
export async function publicationHealth(
  { store, publication }: Pick<OperatorContext, "store" | "publication">,
  newest: number,
  now: number,
): Promise<OperatorHealth["publication"]> {
  if (publication === undefined) return null;
  const { release, held, failures, ...published } = publication();
  return { release, held, ...(await waitingChanges(store, published, { newest, now })), failures };
}

/** The number of changes that readers do not see yet, in profiles and in lists, and the age of the oldest. */
export async function waitingChanges(
  store: OperatorContext["store"],
  { profilesTo, listsTo }: { profilesTo: number; listsTo: number },
  { newest, now }: { newest: number; now: number },
) {
  const waitingSince = await firstChangeAfter(store, Math.min(profilesTo, listsTo));
  return {
    profiles_behind: Math.max(0, newest - profilesTo),
    lists_behind: Math.max(0, newest - listsTo),
    oldest_waiting_s: waitingSince === null ? null : secondsBetween(waitingSince, now),
  };
}

const chainWaitMs = 3_000;
/** The state of the chain, at most a second old, asked for at most 3 s. Null for a command without a service. */
export async function chainHealth(
  chain: OperatorContext["chain"],
): Promise<OperatorHealth["chain"]> {
  if (chain === null) return null;
  const { why, took_ms } = await chain.health();
  return {
    cluster: chain.cluster,
    answers: why === null,
    took_ms,
    why,
    nodes: chain.nodes,
    disagreements: chain.disagreements(),
  };
}

const weekDays = 7;

async function sponsorHealth(
  { store, chain, config }: Pick<OperatorContext, "store" | "chain" | "config">,
  now: number,
): Promise<OperatorHealth["sponsor"]> {
  if (chain === null || chain.sponsor === null) return null;
  const answer = await withTimeout(chain.balanceOf(chain.sponsor), chainWaitMs);
  const balance = answer?.ok === true ? answer.value : null;
  const noDonor = { donor: null, nonprofit_id: 0 };
  const { day: spent } = await sponsoredSince(store, now - dayMs, noDonor);
  const { day: inWeek } = await sponsoredSince(store, now - weekDays * dayMs, noDonor);
  const usable = balance === null ? null : Math.max(0, balance - sponsorReserveLamports);
  const { day: budget } = config.sponsorBudget;
  return {
    address: chain.sponsor,
    balance_lamports: balance,
    spent_lamports: spent,
    budget_lamports: budget,
    runway_days: usable === null || inWeek === 0 ? null : Math.floor((usable * weekDays) / inWeek),
    refuses: !canPay(balance) ? "no_sol" : hasBudget(spent, budget) ? null : "budget",
  };
}

const voidedDays = 30;

async function troubledDonations(
  { store, chain }: Pick<OperatorContext, "store" | "chain">,
  now: number,
): Promise<OperatorHealth["donations"]> {
  const { count, newest } = await voidedSince(store, now - voidedDays * dayMs);
  const newest_voided = newest === null ? null : `/api/donations/${newest.slug}/${newest.id}`;
  const network = chain?.caip2 ?? "";
  const unsettled = await unsettledBefore(store, { network, before: now - hourMs });
  return { voided: count, newest_voided, unsettled };
}

/** An import that is still running after this time was killed. */
const importMaxMs = 12 * hourMs;

async function fetchedRegisters(
  store: OperatorContext["store"],
  now: number,
): Promise<OperatorHealth["registers"]> {
  const newest = await newestFetches(store);
  return newest.map(({ format, status, started_at, problem }) => {
    const killed = status === "running" && now - started_at > importMaxMs;
    return {
      register: format,
      fetched_at: isoTime(started_at),
      problem: killed ? "it was interrupted" : problem,
    };
  });
}

function backupHealth(
  dataDir: string,
  now: number,
): Pick<OperatorHealth, "backup" | "backup_problem"> {
  const { at, problem } = lastBackup(dataDir);
  const backup = at === null ? null : { at: isoTime(at), age_s: secondsBetween(at, now) };
  return { backup, backup_problem: problem };
}

/** Free bytes on the disk of a folder; null if the system does not tell. */
export async function freeBytes(dataDir: string): Promise<number | null> {
  const disk = await statfs(dataDir).catch(() => null);
  return disk === null ? null : disk.bavail * disk.bsize;
}

/** Columns of DailyNumbers that are stored under another name. */
const columnOf: Readonly<Record<string, string>> = columnsOfKinds;

/** The numbers of each of the last days, including today so far. Days are in UTC. */
export async function dailyNumbers(
  { store, clock }: Pick<OperatorContext, "store" | "clock">,
  { days: count = daysLimit.default }: { days?: number | undefined },
): Promise<DailyNumbers> {
  const today = Math.floor(clock().getTime() / dayMs);
  const days = Array.from({ length: count }, (_, at) => today - count + 1 + at);
  const since = (today - count + 1) * dayMs;
  const counts = [
    ...(await countedByDay(store, Object.keys(columnOf), since)),
    ...(await followThroughsByDay(store, since)),
    ...(await donationsByDay(store, since)),
  ];
  const sums = new Map<string, number>();
  for (const { name, day, number } of counts) {
    const cell = `${columnOf[name] ?? name} ${day}`;
    sums.set(cell, (sums.get(cell) ?? 0) + number);
  }
  const columns = Object.keys(DailyNumbers.shape).map((name) => [
    name,
    days.map((day) => sums.get(`${name} ${day}`) ?? 0),
  ]);
  return DailyNumbers.parse({
    ...Object.fromEntries(columns),
    days: days.map((day) => isoDay(day * dayMs)),
  });
}

/** Daily numbers, with the results of recommendations over these days. Reads their whole log. */
export async function operatorNumbers(
  context: Pick<OperatorContext, "store" | "clock">,
  query: { days?: number | undefined },
): Promise<OperatorNumbers> {
  const numbers = await dailyNumbers(context, query);
  const sinceMs = Date.parse(numbers.days[0] ?? "");
  return OperatorNumbers.parse({
    ...numbers,
    funnel: funnelOf(await recommendationFunnel(context.store, sinceMs)),
    opened_by_rank: await openedByRank(context.store, sinceMs),
  });
}
