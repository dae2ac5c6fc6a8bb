import type { DonationNetwork } from "#content/contract/network.ts";
import type { Queryable } from "#content/store/open.ts";

/**
 * Why this store must not be served or published on a network, null when nothing speaks against it. Anybody can compute
 * the keys of a sample's wallets: real money that is sent to one is gone.
 */
export async function sampleTrouble(
  store: Queryable,
  network: DonationNetwork,
): Promise<string | null> {
  if (network !== "solana") return null;
  const { rows } = await store.raw.execute({
    sql: "SELECT 1 FROM directory_facts WHERE name LIKE 'sample:%' LIMIT 1",
    args: [],
  });
  if (rows.length === 0) return null;
  return "ALMONER_NETWORK: the store holds invented nonprofits, whose wallets belong to nobody, and on `solana` money is real. Name a data folder without a sample (ALMONER_DATA_DIR), filled by bun run import";
}
