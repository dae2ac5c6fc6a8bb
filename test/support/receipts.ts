import type { Receipt } from "#content/contract/donation.ts";

/** A receipt with something in every place. */
export const aReceipt = (
  parts: Partial<Omit<Receipt, "evidence">> & { evidence?: Partial<Receipt["evidence"]> } = {},
): Receipt => ({
  type: "almoner-donation-receipt/1",
  id: "0123456789abcdefghijkl",
  issuer: "https://almoner.example",
  nonprofit: {
    slug: "lantern-school",
    name: "Lantern School",
    registrations: [{ country: "United States", type: "EIN", registration_number: "53-0196605" }],
    identifiers: ["US-EIN-530196605"],
  },
  amount_usdc: 2.5,
  amount_atomic: "2500000",
  currency: "USDC",
  settled_at: "2026-06-01T12:00:00Z",
  recorded_at: "2026-06-01T12:00:02Z",
  ...parts,
  evidence: {
    cluster: "mainnet",
    network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    tx_signature:
      "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    slot: 312_000_000,
    commitment: "confirmed",
    mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    source: "HzMoc78z1VNNf9nwD4Czt6CDYEb9LVD8KQVGP46FEmyJ",
    recipient: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
    destination: "7UX2i7SucgLMQcfZ75s3VXmZZY4YRUyJN9X1RgfMoDUi",
    donor: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
    memo: "AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq",
    ...parts.evidence,
  },
});
