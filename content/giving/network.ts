import given from "#content/editorial/networks.json";
import words from "#content/editorial/payable.json";
import type { Cluster } from "#content/contract/donation.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { addresses } from "#content/contract/addresses.ts";
import { donationMax, micro, usdcText } from "#content/contract/base/money.ts";

/** A Solana network on which donations are made. */
export type Network = {
  readonly cluster: Cluster;
  /** Its name in x402 v1. The local chain uses devnet's, because standard clients know no other. */
  readonly network: "solana" | "solana-devnet";
  /** Base58 hash of the first block. */
  readonly genesis: string;
  /** The token that counts as USDC: six decimals, classic token program. */
  readonly mint: string;
  /** What pages call the network. `notice` must appear wherever people see a wallet; null where money is real. */
  readonly words: { readonly name: string; readonly notice: string | null };
};

/**
 * Source: Circle's list of USDC mints; genesis hashes of the public clusters. The local chain has a fixed hash of its own
 * and, for clients that know no other token, devnet's mint.
 */
export const networks = given as Readonly<Record<DonationNetwork, Network>>;

const networkWhere = (is: (network: Network) => boolean): Network | undefined =>
  Object.values(networks).find(is);

const caip2HashLength = 32;

/** The CAIP-2 id of a chain: "solana:" and the first 32 characters of its genesis hash. */
export const caip2Of = ({ genesis }: Pick<Network, "genesis">): string =>
  `solana:${genesis.slice(0, caip2HashLength)}`;

/**
 * The CAIP-2 id shown to clients and in receipts. x402 clients know only Solana's own networks, so the local chain uses
 * devnet's (docs/decisions/23-local-chain.md).
 */
export const offeredCaip2Of = (cluster: Cluster, caip2: string): string =>
  cluster === "local" ? caip2Of(networks["solana-devnet"]) : caip2;

/** The name of the chain with this genesis hash. */
export const nameOf = (genesis: string): string =>
  networkWhere((network) => network.genesis === genesis)?.cluster ?? "an unknown chain";

/** The cluster of a CAIP-2 id; an unknown id is a local chain. A donation stays on its chain even if the directory moves. */
export const clusterOfChain = (caip2: string): Cluster =>
  networkWhere((network) => caip2Of(network) === caip2)?.cluster ?? "local";

/** The explorer page of a transaction; null for the local chain, which no explorer shows. */
export function explorerUrl(txSignature: string, cluster: Cluster): string | null {
  if (cluster === "local") return null;
  const query = cluster === "devnet" ? "?cluster=devnet" : "";
  return `https://explorer.solana.com/tx/${txSignature}${query}`;
}

// The route of giving, as told to programs that look for something to pay.

const routeTemplate = addresses.donate.path.replace("{slug}", ":slug");

/** In OpenAPI: `x-payment-info` of an operation that answers 402. Source: x402scan, "Discovery & Registration". */
export const paymentInfo = {
  price: { mode: "dynamic", currency: "USD", min: usdcText(micro(1n)), max: usdcText(donationMax) },
  protocols: [{ x402: {} }],
};

/** In a 402: the extension for catalogues, small because it is sent as a header. Source: x402, "Extension: bazaar". */
export const bazaar = (slug: string, amount: string) => ({
  info: {
    input: { type: "http", method: "GET", pathParams: { slug }, queryParams: { amount } },
    output: { type: "json" },
  },
  schema: words.schema,
  routeTemplate,
});

/** How many nonprofits /.well-known/x402 names: scanners request each address. The template covers all others. */
export const payablesMax = 20;

/** /.well-known/x402: some payable addresses, and the template of all. `baseUrl` has no trailing slash. */
export const payables = (baseUrl: string, network: DonationNetwork, slugs: readonly string[]) => ({
  version: 1,
  x402Version: 2,
  resources: slugs.map((slug) => `${baseUrl}${routeTemplate.replace(":slug", slug)}`),
  template: `${baseUrl}${addresses.donate.path}{?amount,payer}`,
  network: offeredCaip2Of(networks[network].cluster, caip2Of(networks[network])),
  asset: networks[network].mint,
  cluster: networks[network].cluster,
  ...paymentInfo,
  instructions: words.instructions.replaceAll("{base_url}", baseUrl),
});
