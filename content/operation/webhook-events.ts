import type { FeedEntry } from "#content/contract/feed.ts";
import { isoTime } from "#content/contract/time.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { WebhookEvent } from "#content/contract/webhook.ts";
import { usdcText } from "#content/contract/money.ts";

/** The event of some changes; null when none of them is of a profile. `baseUrl` has no trailing slash. */
export function changesEvent(
  entries: readonly FeedEntry[],
  { baseUrl, now }: { baseUrl: string; now: Date },
): WebhookEvent | null {
  const changes = entries.flatMap(({ slug, ...entry }) =>
    slug === null || entry.kind === "directory"
      ? []
      : [{ slug, ...entry, ...addressesOf(slug, baseUrl) }],
  );
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return null;
  return {
    id: `changes-${first.sequence}-${last.sequence}`,
    message: {
      type: "profiles.changed",
      timestamp: isoTime(now.getTime()),
      data: { changes },
    },
  };
}

/** What is announced of a donation: what anybody can read on the chain, and nothing of the donor beside it. */
export type AnnouncedDonation = {
  id: string;
  slug: string;
  amount_micro_usdc: MicroUsdc;
  network: string;
  tx_signature: string;
  settled_at: number;
};

export function donationEvent(
  { id, slug, amount_micro_usdc, network, tx_signature, settled_at }: AnnouncedDonation,
  { baseUrl, now }: { baseUrl: string; now: Date },
): WebhookEvent {
  return {
    id: `donation-${id}`,
    message: {
      type: "donation.recorded",
      timestamp: isoTime(now.getTime()),
      data: {
        donation_id: id,
        slug,
        amount_usdc: usdcText(amount_micro_usdc),
        network,
        tx_signature,
        settled_at: isoTime(settled_at),
        profile_url: addressesOf(slug, baseUrl).profile_url,
      },
    },
  };
}

/** What an operator sends to see whether a receiver answers. */
export const testEvent = (id: string, now: Date): WebhookEvent => ({
  id: `test-${id}`,
  message: {
    type: "webhook.test",
    timestamp: isoTime(now.getTime()),
    data: {
      message: "This is a test message: an operator checks that this address receives webhooks.",
    },
  },
});

const addressesOf = (slug: string, baseUrl: string) => ({
  profile_url: `${baseUrl}/nonprofits/${slug}`,
  api_url: `${baseUrl}/api/nonprofits/${slug}`,
});

const firstDelayMs = 5_000;
const longestDelayMs = 2 * 3_600_000;
const jitterShare = 0.2;

/** A message is tried so often, over about half a day. */
export const webhookAttemptsMax = 12;
/** What could not be delivered by then is given up, and what happened longer ago is not sent any more. */
export const webhookAgeMaxMs = 24 * 3_600_000;

/**
 * How long to wait after an attempt that failed: 5 s, then three times as long each time, at most 2 h, give or take a
 * fifth. `attempts` were made so far, from 1; `chance` is a random number from 0 to 1; `askedMs` is what the
 * receiver's Retry-After asked for, which counts when it is longer, up to 2 h.
 */
export function retryDelayMs(attempts: number, chance: number, askedMs = 0): number {
  const steady = Math.min(firstDelayMs * 3 ** Math.min(attempts - 1, 20), longestDelayMs);
  const jittered = Math.round(steady * (1 - jitterShare + 2 * jitterShare * chance));
  return Math.max(jittered, Math.min(askedMs, longestDelayMs));
}

/** Whether a message that failed again is given up. */
export const isGivenUp = (attempts: number, ageMs: number): boolean =>
  attempts >= webhookAttemptsMax || ageMs >= webhookAgeMaxMs;

const pauseMaxMs = 60_000;

/** How long a receiver is left alone after this many failures in a row: 1 s, doubled each time, at most a minute. */
export const pauseMs = (failuresInARow: number): number =>
  failuresInARow === 0 ? 0 : Math.min(1_000 * 2 ** Math.min(failuresInARow - 1, 20), pauseMaxMs);

/** Milliseconds that a Retry-After header asks for, as seconds or as a date; 0 for none. */
export function retryAfterMs(header: string | null, now: Date): number {
  if (header === null) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
