import { changesEvent, donationEvent } from "#content/operation/webhook-events.ts";
import { webhookAgeMaxMs } from "#content/operation/webhook-retries.ts";
import type { Clock } from "#content/contract/time.ts";
import { feedEntriesMax } from "#content/contract/feed.ts";
import { changesPerMessageMax } from "#content/contract/webhook.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { feedEntries } from "#content/feed/feed.ts";
import type { Store } from "#content/store/open.ts";
import {
  moveCursor,
  queueEvent,
  untoldDonations,
  webhookCursor,
} from "#content/operation/webhook-queue.ts";

export type CollectContext = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  urls: readonly string[];
  /** The newest change that the published profiles show; absent where nothing is published beside this process. */
  publishedTo?: (() => number) | undefined;
};

/** How much earlier than the newest a donation may have been noted and become visible only now. */
const donationOverlapMs = 2 * 3_600_000;
const donationsAtOnce = 200;

/**
 * Makes events of what happened since the last time, in the transaction that moves the cursor on. True when there may
 * be more. The very first time it begins with the present: what happened before webhooks were switched on is not sent.
 */
export async function collectEvents(context: CollectContext): Promise<boolean> {
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
}: CollectContext): Promise<boolean> {
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

async function collectDonations({ store, clock, baseUrl, urls }: CollectContext): Promise<boolean> {
  const now = clock();
  const cursor = await webhookCursor(store, "donations");
  if (cursor === null) {
    await store.write((tx) => moveCursor(tx, "donations", now.getTime() + donationOverlapMs + 1));
    return false;
  }
  const since = Math.max(cursor - donationOverlapMs, now.getTime() - webhookAgeMaxMs);
  const found = await untoldDonations(store, { since, limit: donationsAtOnce });
  const last = found.at(-1);
  if (last === undefined) return false;
  await store.write(async (tx) => {
    for (const donation of found) {
      await queueEvent(tx, donationEvent(donation, { baseUrl, now }), { urls, now });
    }
    await moveCursor(tx, "donations", last.recorded_at);
  });
  return found.length === donationsAtOnce;
}
