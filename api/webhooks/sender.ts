import type { Context } from "#api/context.ts";
import type { Log } from "#api/log.ts";
import { feedEntriesMax } from "#content/contract/feed.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { changesPerMessageMax } from "#content/contract/webhook.ts";
import { feedEntries } from "#content/feed/store.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { openLease } from "#content/operation/lease-store.ts";
import { changesEvent, donationEvent } from "#content/operation/webhook-events.ts";
import {
  isGivenUp,
  pauseMs,
  retryDelayMs,
  webhookAgeMaxMs,
} from "#content/operation/webhook-retries.ts";
import {
  type Attempted,
  dropUnlisted,
  dueDeliveries,
  expireDeliveries,
  moveCursor,
  noteAttempts,
  pruneDeliveries,
  queueEvent,
  type StoredDelivery,
  unannouncedDonations,
  webhookCursor,
} from "#content/operation/webhook-store.ts";
import type { Store } from "#content/store/open.ts";
import { every } from "#content/runtime/every.ts";
import { openPost, type Post, type Posted } from "./post.ts";

export type Sender = {
  /** Leaves what is under way, gives the work to anyone who waits for it, and ends. */
  stop(): Promise<void>;
};

type SenderContext = {
  store: Store;
  clock: Clock;
  log: Pick<Log, "info" | "warn">;
  urls: readonly string[];
  /** Without a trailing slash. */
  baseUrl: string;
  post: Post;
  /** A random number from 0 to 1. */
  chance: () => number;
  /** The newest change that the published profiles show; absent where nothing is published beside this process. */
  publishedTo?: (() => number) | undefined;
};

const everyMs = 1_000;
const leaseMs = 30_000;
const tidyEveryMs = 60_000;
const keptMs = 30 * 86_400_000;

/**
 * Sends webhooks for as long as this process holds the lease: of several processes one does it, and another takes over
 * half a minute after it died. What was sent and not noted by then is sent once more.
 */
export function startSender(context: SenderContext): Sender {
  const { store, clock, log, urls } = context;
  const lease = openLease(store, clock, { name: "webhooks", ms: leaseMs });
  const stopping = new AbortController();
  const { signal } = stopping;
  const receivers = urls.map(newReceiver);
  const busy = new Map<string, Promise<void>>();
  const tidy = openTidying(store, clock, urls);
  const complain = (error: unknown) => log.warn({ err: error }, "webhooks not sent yet");
  let failure: Error | null = null;
  const failWith = (error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
  };
  const deliver = async (receiver: Receiver) => {
    while (lease.isHeld() && (await deliverDue(context, receiver, signal)));
  };
  const turn = async () => {
    if (!(await lease.hold())) return;
    await tidy();
    while ((await collectEvents(context)) && lease.isHeld() && !signal.aborted);
    for (const receiver of receivers) {
      const { url } = receiver;
      // A receiver that hangs keeps no one else waiting.
      if (busy.has(url)) continue;
      const work = deliver(receiver).catch(failWith);
      busy.set(
        url,
        work.finally(() => busy.delete(url)),
      );
    }
    // What went wrong with a receiver since the last turn is this turn's failure: one line says so, not one a second.
    const error = failure;
    failure = null;
    if (error !== null) throw error;
  };
  const running = every(turn, { everyMs, onFailure: complain });
  log.info({ receivers: urls.length }, "webhooks are on");
  return {
    stop: async () => {
      stopping.abort();
      await running.stop();
      await Promise.all(busy.values());
      await lease.leave().catch(complain);
    },
  };
}

/** About once a minute: gives up what can no longer be sent, and forgets what was finished long ago. */
function openTidying(store: Store, clock: Clock, urls: readonly string[]) {
  let nextMs = 0;
  return async (): Promise<void> => {
    const now = clock();
    if (now.getTime() < nextMs) return;
    nextMs = now.getTime() + tidyEveryMs;
    await store.write(async (tx) => {
      await dropUnlisted(tx, { urls, now });
      await expireDeliveries(tx, { before: new Date(now.getTime() - webhookAgeMaxMs), now });
      await pruneDeliveries(tx, new Date(now.getTime() - keptMs));
    });
  };
}

/** Starts sending webhooks; null when the operator listed no one to send to: then nothing leaves, ever. */
export function startWebhooks(context: Context): Sender | null {
  const { config, secrets, store, clock, log, publication } = context;
  if (config.webhookUrls.length === 0 || secrets.webhookSecret === null) return null;
  return startSender({
    store,
    clock,
    log,
    urls: config.webhookUrls,
    baseUrl: config.baseUrl,
    post: openPost(secrets.webhookSecret, clock),
    chance: Math.random,
    publishedTo: publication === undefined ? undefined : () => publication().profilesTo,
  });
}

/** How much earlier than the newest a donation may have been noted and become visible only now. */
const donationOverlapMs = 2 * 3_600_000;
const donationsAtOnce = 200;

/**
 * Makes events of what happened since the last time, in the transaction that moves the cursor on. True when there may
 * be more. The very first time it begins with the present: what happened before webhooks were switched on is not sent.
 */
export async function collectEvents(context: SenderContext): Promise<boolean> {
  const changes = await collectChanges(context);
  const donations = await collectDonations(context);
  return changes || donations;
}

async function collectChanges({
  store,
  clock,
  baseUrl,
  urls,
  publishedTo,
}: SenderContext): Promise<boolean> {
  const newest = await newestSequence(store);
  // A message names a profile to be read: it is sent when the profile shows the change.
  const upTo = Math.min(newest, publishedTo?.() ?? newest);
  const cursor = await webhookCursor(store, "changes");
  if (cursor === null) {
    await store.write((tx) => moveCursor(tx, "changes", newest));
    return false;
  }
  if (upTo <= cursor) return false;
  const last = Math.min(upTo, cursor + feedEntriesMax);
  const range = { number: 0, first_sequence: cursor + 1, last_sequence: last };
  const now = clock();
  const oldest = now.getTime() - webhookAgeMaxMs;
  const entries = (await feedEntries(store, range)).filter(({ at }) => Date.parse(at) >= oldest);
  await store.write(async (tx) => {
    for (let at = 0; at < entries.length; at += changesPerMessageMax) {
      const event = changesEvent(entries.slice(at, at + changesPerMessageMax), { baseUrl, now });
      if (event !== null) await queueEvent(tx, event, { urls, now });
    }
    await moveCursor(tx, "changes", last);
  });
  return last < upTo;
}

async function collectDonations({ store, clock, baseUrl, urls }: SenderContext): Promise<boolean> {
  const now = clock();
  const cursor = await webhookCursor(store, "donations");
  if (cursor === null) {
    await store.write((tx) => moveCursor(tx, "donations", now.getTime() + donationOverlapMs + 1));
    return false;
  }
  const since = Math.max(cursor - donationOverlapMs, now.getTime() - webhookAgeMaxMs);
  const asked = { since, limit: donationsAtOnce };
  const found = await unannouncedDonations(store, { type: "donation.recorded", ...asked });
  const voided = await unannouncedDonations(store, { type: "donation.voided", ...asked });
  if (found.length + voided.length === 0) return false;
  await store.write(async (tx) => {
    for (const donation of found) {
      await queueEvent(tx, donationEvent(donation, { baseUrl, now }), { urls, now });
    }
    for (const donation of voided) {
      const event = donationEvent(donation, { baseUrl, now, type: "donation.voided" });
      await queueEvent(tx, event, { urls, now });
    }
    const last = found.at(-1);
    if (last !== undefined) await moveCursor(tx, "donations", last.recorded_at);
  });
  return Math.max(found.length, voided.length) === donationsAtOnce;
}

/** A receiver that fails is left alone for a while, so that a long queue does not wear out its attempts at once. */
export type Receiver = { url: string; failuresInARow: number; pausedUntilMs: number };

export const newReceiver = (url: string): Receiver => ({
  url,
  failuresInARow: 0,
  pausedUntilMs: 0,
});

const atOnce = 4;

/**
 * Sends what is due to one address, a few at a time, and notes the outcome of it. True when there may be more to send
 * now. When `stop` fires, what is under way is left as if it had not been tried.
 */
export async function deliverDue(
  { store, clock, post, chance }: SenderContext,
  receiver: Receiver,
  stop: AbortSignal,
): Promise<boolean> {
  const { url } = receiver;
  if (clock().getTime() < receiver.pausedUntilMs) return false;
  const due = await dueDeliveries(store, { url, now: clock(), limit: atOnce });
  if (due.length === 0 || stop.aborted) return false;
  const sent = await Promise.allSettled(
    due.map(async (one) => {
      const posted = await post({ url, id: one.event_id, payload: one.payload }, stop);
      return { one, posted };
    }),
  );
  const known = sent.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const now = clock();
  if (known.length > 0) {
    const attempts = known.map(({ one, posted }) =>
      attemptOf(one, posted, { now, chance: chance() }),
    );
    await store.write((tx) => noteAttempts(tx, attempts, now));
  }
  const ailing = known.length > 0 && known.every(({ posted }) => isAiling(posted));
  receiver.failuresInARow = ailing ? receiver.failuresInARow + 1 : 0;
  receiver.pausedUntilMs = now.getTime() + pauseMs(receiver.failuresInARow);
  return !ailing && !stop.aborted;
}

function attemptOf(
  { id, attempts, created_at }: StoredDelivery,
  { delivered, status, answer, retryAfterMs }: Posted,
  { now, chance }: { now: Date; chance: number },
): Attempted {
  const made = attempts + 1;
  const noted = { id, answered_status: status, answer };
  if (delivered) return { ...noted, status: "delivered", due_at: null };
  // 410: the receiver says that it wants no more of this. Source: Standard Webhooks, "Deliverability".
  if (status === 410 || isGivenUp(made, now.getTime() - created_at)) {
    return { ...noted, status: "failed", due_at: null };
  }
  const due_at = now.getTime() + retryDelayMs(made, chance, retryAfterMs);
  return { ...noted, status: "pending", due_at };
}

/** Nothing answered, or the receiver says of itself that it cannot take anything now. */
const isAiling = ({ status }: Posted): boolean =>
  status === null || status === 429 || status >= 500;
