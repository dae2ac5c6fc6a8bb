import type { FeedEntry } from "#content/contract/feed.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { WebhookEvent } from "#content/contract/webhook.ts";
import { usdcText } from "#content/contract/base/money.ts";

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

/** Of a donation one event says that it was recorded, and perhaps another that it was voided. */
export const donationEvents = {
  "donation.recorded": "donation-",
  "donation.voided": "donation-voided-",
} as const;
export type DonationEventType = keyof typeof donationEvents;

export function donationEvent(
  { id, slug, amount_micro_usdc, network, tx_signature, settled_at }: AnnouncedDonation,
  {
    baseUrl,
    now,
    type = "donation.recorded",
  }: { baseUrl: string; now: Date; type?: DonationEventType },
): WebhookEvent {
  return {
    id: `${donationEvents[type]}${id}`,
    message: {
      type,
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
