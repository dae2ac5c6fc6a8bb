import type { DonationNetwork } from "#content/contract/transfer.ts";

/** What tells one Solana from another. */
export type Cluster = {
  readonly cluster: "mainnet" | "devnet" | "local";
  /** Name in x402 v1; the local chain borrows devnet's, because stock clients know no other. */
  readonly network: "solana" | "solana-devnet";
  /** Base58 hash of the first block. */
  readonly genesis: string;
  /** The token that counts as USDC: six decimals, of the classic token program. */
  readonly mint: string;
};

/** Source: Circle's list of USDC mints; the genesis hashes are those of the public clusters. */
export const clusters: Readonly<Record<DonationNetwork, Cluster>> = {
  solana: {
    cluster: "mainnet",
    network: "solana",
    genesis: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  },
  "solana-devnet": {
    cluster: "devnet",
    network: "solana-devnet",
    genesis: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
    mint: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
  },
  // Both are derived from words in scripts/chain/svm.ts; any local chain is the same chain.
  local: {
    cluster: "local",
    network: "solana-devnet",
    genesis: "5boDubJGEaQMaNYgL9uH74p9Sr35r2kQC7F5V5Dh3Uza",
    mint: "3Ngu8CjDtYjaqSyG4ZqrCxdELgEdcYYQry8AbK4EW9EG",
  },
};

const caip2HashLength = 32;

/** The CAIP-2 id of a chain: "solana:" and the first 32 characters of its genesis hash. */
export const caip2Of = ({ genesis }: Pick<Cluster, "genesis">): string =>
  `solana:${genesis.slice(0, caip2HashLength)}`;

/** What people call a chain with this genesis hash. */
export const nameOf = (genesis: string): string =>
  Object.values(clusters).find((one) => one.genesis === genesis)?.cluster ?? "an unknown chain";
