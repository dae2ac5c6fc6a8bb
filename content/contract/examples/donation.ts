import type {
  DonationHistory,
  DonationStatus,
  PaymentRequirements,
  PendingDonation,
  Settlement,
  SignedReceipt,
} from "#content/contract/donation.ts";
import { origin, slug, summary } from "./directory.ts";

const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const memo = "AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq";
const reference = "9mXGxjSwYwZ2QhTzLNJoHyr5PNyCrUjdQr5cYoWp5Jmi";
const sponsor = "9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde";
export const txSignature =
  "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
const resource = `${origin}/api/donate/${slug}?amount=2.5`;

export const requirements: PaymentRequirements = {
  x402: true,
  recipient: wallet,
  amount: 2.5,
  currency: "USDC",
  network: "solana",
  nonprofit: summary.name,
  slug,
  cluster: "mainnet",
  mint,
  decimals: 6,
  amount_atomic: "2500000",
  memo,
  reference,
  solana_pay: `solana:${wallet}?amount=2.5&spl-token=${mint}&reference=${reference}&memo=${memo}&label=${encodeURIComponent(summary.name)}`,
  expires_in: 300,
  status_url: `${origin}/api/donate/${slug}/status?memo=${memo}`,
  code: "payment_required",
  error:
    "No money has moved. Pay with an x402 client, or transfer USDC to the recipient with this memo and POST {tx_signature}.",
  x402Version: 1,
  accepts: [
    {
      scheme: "exact",
      network: "solana",
      maxAmountRequired: "2500000",
      asset: mint,
      payTo: wallet,
      maxTimeoutSeconds: 300,
      resource,
      description: `Donation of 2.5 USDC to ${slug}`,
      mimeType: "application/json",
      extra: { feePayer: sponsor, memo, decimals: 6, name: "USDC" },
    },
  ],
};

const id = "mC4l0bUq8dWm3s1Yc7RkZg";
const explorer_url = `https://explorer.solana.com/tx/${txSignature}`;
const receipt_url = `${origin}/api/donations/${slug}/${id}`;
const settled_at = "2026-05-24T10:00:00Z";

export const settlement: Settlement = {
  success: true,
  donation_id: id,
  nonprofit: summary.name,
  amount: 2.5,
  currency: "USDC",
  tx_signature: txSignature,
  cluster: "mainnet",
  explorer_url,
  receipt_url,
  donation: {
    id,
    nonprofit: summary.name,
    slug,
    amount_usdc: 2.5,
    network: "solana",
    tx_hash: txSignature,
    confirmed: true,
    settled_at,
  },
};

export const pending: PendingDonation = {
  status: "pending",
  tx_signature: txSignature,
  retry_after_s: 2,
  message:
    "The chain does not show this transaction yet. Send the same request again; do not pay again.",
};

export const status: DonationStatus = { status: "received", memo, retry_after_s: 60, settlement };

export const history: DonationHistory = {
  nonprofit: summary.name,
  slug,
  total_donated_usdc: 2.5,
  donation_count: 1,
  currency: "USDC",
  cluster: "mainnet",
  recent_donations: [
    {
      id,
      amount_usdc: 2.5,
      network: "solana",
      tx_hash: txSignature,
      tx_signature: txSignature,
      donor: "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2",
      settled_at,
      explorer_url,
      receipt_url,
    },
  ],
};

export const receipt: SignedReceipt = {
  receipt: {
    type: "almoner-donation-receipt/1",
    id,
    issuer: origin,
    nonprofit: {
      slug,
      name: summary.name,
      registrations: [{ country: "Kenya", type: "NGO number", registration_number: "218/051" }],
      identifiers: [],
    },
    amount_usdc: 2.5,
    amount_atomic: "2500000",
    currency: "USDC",
    settled_at,
    recorded_at: "2026-05-24T10:00:03Z",
    evidence: {
      cluster: "mainnet",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      tx_signature: txSignature,
      slot: 312_000_000,
      commitment: "confirmed",
      mint,
      source: "HzMoc78z1VNNf9nwD4Czt6CDYEb9LVD8KQVGP46FEmyJ",
      recipient: wallet,
      destination: "7UX2i7SucgLMQcfZ75s3VXmZZY4YRUyJN9X1RgfMoDUi",
      donor: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
      memo,
    },
  },
  signature:
    "eyJhbGciOiJFZERTQSIsImtpZCI6IjRLajJ2In0..hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6d",
  keys_url: `${origin}/.well-known/almoner-keys.json`,
  page_url: `${origin}/receipt?nonprofit=${slug}&id=${id}`,
  explorer_url,
};
