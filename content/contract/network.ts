/** Where donations are settled; `local` is a chain for development, whose money is worth nothing. */
export const donationNetworks = ["local", "solana-devnet", "solana"] as const;
export type DonationNetwork = (typeof donationNetworks)[number];
