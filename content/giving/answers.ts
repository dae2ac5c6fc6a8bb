import type {
  Cluster,
  DonationHistory,
  RecentDonation,
  Settlement,
} from "#content/contract/donation.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { usdcNumber } from "#content/contract/base/money.ts";
import { explorerUrl } from "./network.ts";
import type { Donation, DonateTarget, DonationTotals } from "./store.ts";

/** What an answer needs of a recorded donation. */
type Given = Pick<Donation, "id" | "amount_micro_usdc" | "tx_signature" | "donor" | "settled_at">;
type Nonprofit = Pick<DonateTarget, "name" | "slug">;
type Place = { cluster: Cluster; baseUrl: string };

/** 200 of a donate request: the five fields of the contract, and all that published clients read beside them. */
export function settlementOf(given: Given, { name, slug }: Nonprofit, place: Place): Settlement {
  const amount = usdcNumber(given.amount_micro_usdc);
  return {
    success: true,
    donation_id: given.id,
    nonprofit: name,
    amount,
    currency: "USDC",
    tx_signature: given.tx_signature,
    cluster: place.cluster,
    ...linksOf(given, slug, place),
    donation: {
      id: given.id,
      nonprofit: name,
      slug,
      amount_usdc: amount,
      network: "solana",
      tx_hash: given.tx_signature,
      confirmed: true,
      settled_at: isoTime(given.settled_at),
    },
  };
}

/** Source: the decisions of the spec, "recent_donations item". */
export const recentDonationsMax = 50;

/** GET /api/donations/{slug}. */
export const historyOf = (
  { name, slug }: Nonprofit,
  { count, donors, total, recent }: DonationTotals & { recent: readonly Given[] },
  place: Place,
): DonationHistory => ({
  nonprofit: name,
  slug,
  total_donated_usdc: usdcNumber(total),
  donation_count: count,
  donor_count: donors,
  currency: "USDC",
  cluster: place.cluster,
  recent_donations: recent.map((given) => recentOf(given, slug, place)),
});

const recentOf = (given: Given, slug: string, place: Place): RecentDonation => ({
  id: given.id,
  amount_usdc: usdcNumber(given.amount_micro_usdc),
  network: "solana",
  tx_hash: given.tx_signature,
  tx_signature: given.tx_signature,
  donor: given.donor,
  settled_at: isoTime(given.settled_at),
  ...linksOf(given, slug, place),
});

const linksOf = ({ id, tx_signature }: Given, slug: string, { baseUrl, cluster }: Place) => ({
  explorer_url: explorerUrl(tx_signature, cluster),
  receipt_url: `${baseUrl}/api/donations/${slug}/${id}`,
});
