import { randomInt } from "node:crypto";
import { isoTime } from "#content/contract/base/time.ts";
import { micro, usdcDecimals, usdcNumber, usdcText } from "#content/contract/base/money.ts";
import notSponsored from "#content/editorial/not-sponsored.json";
import {
  type Cluster,
  type DonationHistory,
  type PaymentExtra,
  type PaymentQuote,
  type PendingDonation,
  type RecentDonation,
  type Settlement,
  unknownSignature,
} from "#content/contract/donation.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import { referenceOf, solanaPayLink, writeMemo } from "./memo.ts";
import { bazaar, explorerUrl } from "./network.ts";
import type { Donation, DonateTarget } from "./store.ts";
import type { GivingWorld } from "./world.ts";

/** How long a client has to sign, as x402 tells it. */
const expiresInSeconds = 300;
/** A slow node must not keep a donor waiting: without an answer in this time the account counts as unknown. */
const canReceiveWaitMs = 400;
const nonces = 2 ** 24;

type DemandInput = {
  target: DonateTarget & { usdc_wallet: string };
  amount: MicroUsdc;
  /** Wallet of a donor who pays the network fee; null: the sponsor pays it, if there is one. */
  payer: string | null;
};

/** A demand for payment in the formats of all clients. */
export type Demand = Awaited<ReturnType<typeof demandPayment>>;

/** Demands a payment. Nothing is stored: the memo carries all that recording the gift needs (docs/decisions/24-memos.md). */
export async function demandPayment(
  world: GivingWorld,
  input: DemandInput,
  why: { code: string; error: string },
) {
  const { target, amount } = input;
  const { chain, baseUrl, seal } = world;
  const { mint } = chain;
  const recipient = target.usdc_wallet;
  const issued_at_s = Math.floor(world.clock().getTime() / 1_000);
  const nonce = randomInt(nonces);
  const memo = writeMemo({ nonprofit_id: target.id, amount, issued_at_s, nonce }, recipient, seal);
  const reference = referenceOf(memo);
  const amount_atomic = amount.toString();
  const donateUrl = `${baseUrl}/api/donate/${target.slug}`;
  const url = `${donateUrl}?amount=${usdcText(amount)}`;
  const test = chain.cluster === "mainnet" ? "" : ` (${chain.cluster}: no real money moves)`;
  const description = `Donation of ${usdcText(amount)} USDC to ${target.slug}${test}`;
  const mimeType = "application/json" as const;
  const terms = { asset: mint, payTo: recipient, maxTimeoutSeconds: expiresInSeconds };
  const { whyUnpaid, ...extra } = await extraOf(world, input, memo);
  const isReason = whyUnpaid !== null && why.code === "payment_required";
  const reason = isReason ? { ...why, error: `${why.error} ${whyUnpaid}` } : why;
  const accepts: PaymentQuote["accepts"] = [
    {
      scheme: "exact",
      network: chain.network,
      maxAmountRequired: amount_atomic,
      ...terms,
      resource: url,
      description,
      mimeType,
      extra,
    },
  ];
  const contractFields = {
    x402: true,
    recipient,
    amount: usdcNumber(amount),
    currency: "USDC",
    network: "solana",
    nonprofit: target.name,
    slug: target.slug,
  } as const;
  const link = { recipient, amount, mint, reference, memo, label: target.name };
  const body: PaymentQuote & typeof why = {
    ...contractFields,
    cluster: chain.cluster,
    mint,
    decimals: usdcDecimals,
    amount_atomic,
    memo,
    reference,
    solana_pay: solanaPayLink(link),
    ...(await unsignedIn(world, input, { memo, reference })),
    expires_in: expiresInSeconds,
    status_url: `${donateUrl}/status?memo=${memo}`,
    local_chain: localChainOf(world),
    ...reason,
    x402Version: 1,
    accepts,
  };
  return {
    body,
    /** x402 version 2: the header PAYMENT-REQUIRED. */
    v2: {
      x402Version: 2,
      error: reason.error,
      resource: { url, description, mimeType },
      accepts: [
        {
          scheme: "exact",
          network: world.offeredNetwork,
          amount: amount_atomic,
          ...terms,
          extra,
        },
      ],
      extensions: { bazaar: bazaar(target.slug, usdcText(amount)) },
    },
    /** The header X-PAYMENT-REQUIRED. */
    contract: {
      ...contractFields,
      wallet: recipient,
      mint,
      memo,
      x402Version: 1,
      resource: url,
      accepts,
    },
  };
}

/** An unsigned transaction for a wallet that signs and sends what it receives; absent when no node provides a blockhash. */
async function unsignedIn(
  { chain }: GivingWorld,
  { target, amount, payer }: DemandInput,
  { memo, reference }: { memo: string; reference: string },
): Promise<Pick<PaymentQuote, "transaction">> {
  if (payer === null) return {};
  const payment = { to: target.usdc_wallet, amount, memo, references: [reference] };
  const unsigned = await withTimeout(chain.unsigned(payer, payment), canReceiveWaitMs);
  return unsigned?.ok === true ? { transaction: unsigned.value } : {};
}

/** How to try a gift on the local chain, where no money is real; null on other chains. */
const localChainOf = ({ localRpcUrl }: GivingWorld): PaymentQuote["local_chain"] =>
  localRpcUrl === null
    ? null
    : {
        rpc_url: localRpcUrl,
        test_money: `POST ${localRpcUrl}/faucet with {"wallet": "<your wallet>", "sol": 1, "usdc": 100} creates the wallet's USDC account and fills it.`,
      };

/** When no node says whether the recipient's account exists, the sponsor pays only from this many times its minimum on. */
const unknownAccountTimes = 10n;

type FeePaid = Pick<PaymentExtra, "feePayer" | "fee_paid_by"> & {
  /** Why the sponsor does not pay the network fee, as a sentence; null when it pays or need not. */
  whyUnpaid: string | null;
};

const unpaid = (why: keyof typeof notSponsored, least = ""): FeePaid => ({
  fee_paid_by: "payer",
  whyUnpaid: notSponsored[why].replace("{least}", least),
});

/** Who pays the network fee. */
async function feeOf(
  { chain, sponsoredMin, sponsorship }: GivingWorld,
  { target, amount, payer }: DemandInput,
): Promise<FeePaid> {
  const refused = payer === null ? sponsorship.whyNot(target.id) : null;
  if (refused !== null) return unpaid(refused);
  const answer = await withTimeout(chain.canReceive(target.usdc_wallet), canReceiveWaitMs);
  const hasAccount = answer?.ok === true ? answer.value : null;
  // A payment into a missing account fails before it is sent, so no money moves.
  if (hasAccount === false) return unpaid("no_account");
  if (payer !== null) return { feePayer: payer, fee_paid_by: "payer", whyUnpaid: null };
  const least = hasAccount === null ? sponsoredMin * unknownAccountTimes : sponsoredMin;
  if (amount < least) return unpaid("too_little", usdcText(micro(least)));
  return { feePayer: chain.sponsor ?? "", fee_paid_by: "sponsor", whyUnpaid: null };
}

/** What x402 clients need to sign. Without a fee payer they stop instead of signing what cannot land. */
const extraOf = async (world: GivingWorld, input: DemandInput, memo: string) => ({
  ...(await feeOf(world, input)),
  memo,
  decimals: usdcDecimals,
  name: input.target.name,
  slug: input.target.slug,
  asset_name: "USDC" as const,
});

/** A recorded donation as shown to the donor. */
export type RecordedGift = {
  kind: "recorded";
  settlement: Settlement;
  /** The wallet that gave; null when the chain does not name it. */
  payer: string | null;
};

export const recordedGift = (
  { chain, baseUrl }: GivingWorld,
  target: DonateTarget,
  donation: Donation,
): RecordedGift => ({
  kind: "recorded",
  settlement: settlementOf(donation, target, { cluster: chain.cluster, baseUrl }),
  payer: donation.donor,
});

/** The chain does not show the transaction yet. */
export type Pending = { kind: "pending"; pending: PendingDonation };

export const pendingAnswer = (
  { slug }: DonateTarget,
  txSignature: string,
  waitedMs = 0,
): Pending => ({
  kind: "pending",
  pending: {
    status: "pending",
    tx_signature: txSignature,
    retry_after_s: askAgainSeconds(waitedMs, 2),
    message: `The chain does not show this transaction yet. Do not pay again: POST {"tx_signature": "${txSignature}"} to /api/donate/${slug}, or wait; it is recorded as soon as it lands. If no node knows it for ${unknownSignature.waitText}, the answer is 422.`,
  },
});

const askAgainMaxS = 30;

/** Seconds until a client should ask again; they increase with the time it has waited. */
export const askAgainSeconds = (waitedMs: number, firstS: number): number =>
  Math.min(askAgainMaxS, Math.max(firstS, Math.round(waitedMs / 20_000)));

/** The part of a recorded donation that an answer needs. */
type PublicDonation = Pick<
  Donation,
  "id" | "amount_micro_usdc" | "tx_signature" | "donor" | "settled_at"
>;
type Nonprofit = Pick<DonateTarget, "name" | "slug">;
type Place = { cluster: Cluster; baseUrl: string };

/** The body of a donate request's 200: five fields of the contract, and all that clients in use read beside them. */
export function settlementOf(
  donation: PublicDonation,
  { name, slug }: Nonprofit,
  place: Place,
): Settlement {
  const amount = usdcNumber(donation.amount_micro_usdc);
  return {
    success: true,
    donation_id: donation.id,
    nonprofit: name,
    amount,
    currency: "USDC",
    tx_signature: donation.tx_signature,
    cluster: place.cluster,
    ...linksOf(donation, slug, place),
    donation: {
      id: donation.id,
      nonprofit: name,
      slug,
      amount_usdc: amount,
      network: "solana",
      tx_hash: donation.tx_signature,
      confirmed: true,
      settled_at: isoTime(donation.settled_at),
    },
  };
}

type DonationSummary = {
  count: number;
  donors: number;
  total: MicroUsdc;
  recent: readonly PublicDonation[];
};
export const nothingGiven: DonationSummary = { count: 0, donors: 0, total: micro(0n), recent: [] };

/** GET /api/donations/{slug}. */
export const donationHistory = (
  { name, slug }: Nonprofit,
  { count, donors, total, recent }: DonationSummary,
  place: Place,
): DonationHistory => ({
  nonprofit: name,
  slug,
  total_donated_usdc: usdcNumber(total),
  donation_count: count,
  donor_count: donors,
  currency: "USDC",
  cluster: place.cluster,
  recent_donations: recent.map((donation) => recentOf(donation, slug, place)),
});

const recentOf = (donation: PublicDonation, slug: string, place: Place): RecentDonation => ({
  id: donation.id,
  amount_usdc: usdcNumber(donation.amount_micro_usdc),
  network: "solana",
  tx_hash: donation.tx_signature,
  tx_signature: donation.tx_signature,
  donor: donation.donor,
  settled_at: isoTime(donation.settled_at),
  ...linksOf(donation, slug, place),
});

const linksOf = (
  { id, tx_signature }: PublicDonation,
  slug: string,
  { baseUrl, cluster }: Place,
) => ({
  explorer_url: explorerUrl(tx_signature, cluster),
  receipt_url: `${baseUrl}/api/donations/${slug}/${id}`,
});
