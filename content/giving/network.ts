import given from "#content/editorial/networks.json";
import words from "#content/editorial/payable.json";
import type { Cluster } from "#content/contract/donation.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { addresses } from "#content/contract/addresses.ts";
import { donationMax, micro, usdcText } from "#content/contract/base/money.ts";

/** A Solana on which donations are made. */
export type Network = {
  readonly cluster: Cluster;
  /** Name in x402 v1; the local chain borrows devnet's, because stock clients know no other. */
  readonly network: "solana" | "solana-devnet";
  /** Base58 hash of the first block. */
  readonly genesis: string;
  /** The token that counts as USDC: six decimals, of the classic token program. */
  readonly mint: string;
  /** What a page says of it. `notice` must stand wherever people see a wallet; null where money is real. */
  readonly words: { readonly name: string; readonly notice: string | null };
};

/**
 * Source: Circle's list of USDC mints; the genesis hashes are those of the public clusters. The local chain
 * has a hash of its own and, for clients that know no other token, devnet's mint; any local chain is the same chain.
 */
export const networks = given as Readonly<Record<DonationNetwork, Network>>;

const networkWhere = (is: (network: Network) => boolean): Network | undefined =>
  Object.values(networks).find(is);

const caip2HashLength = 32;

/** The CAIP-2 id of a chain: "solana:" and the first 32 characters of its genesis hash. */
export const caip2Of = ({ genesis }: Pick<Network, "genesis">): string =>
  `solana:${genesis.slice(0, caip2HashLength)}`;

/**
 * The CAIP-2 id that clients and receipts read for a chain. x402 clients know only Solana's own networks, so the local
 * chain borrows devnet's. See decision 23.
 */
export const offeredCaip2Of = (cluster: Cluster, caip2: string): string =>
  cluster === "local" ? caip2Of(networks["solana-devnet"]) : caip2;

/** What people call a chain with this genesis hash. */
export const nameOf = (genesis: string): string =>
  networkWhere((network) => network.genesis === genesis)?.cluster ?? "an unknown chain";

/** A donation stays on the chain where it was made, wherever the directory settles now. No public chain: a local one. */
export const clusterOfChain = (caip2: string): Cluster =>
  networkWhere((network) => caip2Of(network) === caip2)?.cluster ?? "local";

/** Where people look at a transaction; no explorer sees a local chain. */
export function explorerUrl(txSignature: string, cluster: Cluster): string | null {
  if (cluster === "local") return null;
  const query = cluster === "devnet" ? "?cluster=devnet" : "";
  return `https://explorer.solana.com/tx/${txSignature}${query}`;
}

// What programs that look for something to pay are told of giving, wherever they look.

const routeTemplate = addresses.donate.path.replace("{slug}", ":slug");

/** In OpenAPI, `x-payment-info` of an operation that answers 402. Source: x402scan, "Discovery & Registration". */
export const paymentInfo = {
  price: { mode: "dynamic", currency: "USD", min: usdcText(micro(1n)), max: usdcText(donationMax) },
  protocols: [{ x402: {} }],
};

/** In a 402, the extension by which it is catalogued. Small, because it is sent as a header. Source: x402, "Extension: bazaar". */
export const bazaar = (slug: string, amount: string) => ({
  info: {
    input: { type: "http", method: "GET", pathParams: { slug }, queryParams: { amount } },
    output: { type: "json" },
  },
  schema: words.schema,
  routeTemplate,
});

/** Nonprofits that /.well-known/x402 names: scanners ask each address. All others have the template. */
export const payablesMax = 20;

/** /.well-known/x402: some addresses that can be paid, and the form of all of them. `baseUrl` has no trailing slash. */
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
