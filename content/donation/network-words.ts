import type { Cluster } from "#content/contract/donation.ts";
import type { DonationNetwork } from "#content/contract/network.ts";

/** What a page says of the chain that a donation travels on. */
export type NetworkWords = {
  name: string;
  /** Must stand wherever people see a wallet; null where money is real. */
  notice: string | null;
};

const words: Record<Cluster, NetworkWords> = {
  mainnet: { name: "Solana (mainnet)", notice: null },
  devnet: {
    name: "Solana devnet, a test network",
    notice:
      "This directory settles on Solana devnet, a test network: no real money moves. Never send real USDC to an address shown here.",
  },
  local: {
    name: "a local test chain",
    notice:
      "This directory runs on a local test chain: no real money moves. Never send real USDC to an address shown here.",
  },
};

const clusterOf: Record<DonationNetwork, Cluster> = {
  solana: "mainnet",
  "solana-devnet": "devnet",
  local: "local",
};

/** CAIP-2 ids, as CAIP-30 lists them. Whatever is neither is a chain for development. */
const publicChains: Readonly<Record<string, Cluster>> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "mainnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "devnet",
};

/** A donation stays on the chain where it was made, wherever the directory settles now. */
export const clusterOfChain = (caip2: string): Cluster => publicChains[caip2] ?? "local";

export const wordsOfCluster = (cluster: Cluster): NetworkWords => words[cluster];
export const wordsOfNetwork = (network: DonationNetwork): NetworkWords => words[clusterOf[network]];
