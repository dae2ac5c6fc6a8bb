import { openChain, type OpenChain } from "#api/chain/open-chain.ts";
import { BadSetting, type Config } from "#api/config.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { sampleTrouble } from "#content/operation/directory-facts-store.ts";
import type { Store } from "#content/store/open.ts";

/** Throws BadSetting when invented nonprofits would be offered for real money. */
export async function refuseSample(
  { network }: Pick<Config, "network">,
  store: Store,
): Promise<void> {
  const trouble = await sampleTrouble(store, network);
  if (trouble !== null) throw new BadSetting(trouble);
}

/** A node that fails once fails often: one warning about it in this time is enough. */
const warnAgainAfterMs = 60_000;

/**
 * Opens the chain that the settings name. Throws BadSetting when a node serves another network or the sponsor's key is
 * not a valid key. Nodes that cannot be reached do not stop the start.
 */
export async function openDonationChain(
  config: Pick<Config, "network" | "solanaRpcUrls" | "commitment">,
  { secrets, log, clock }: { secrets: Secrets; log: Log; clock: Clock },
): Promise<OpenChain> {
  const warnedAtMs = new Map<string, number>();
  const opened = await openChain({
    network: config.network,
    rpcUrls: config.solanaRpcUrls,
    sponsorKey: secrets.sponsorKey,
    commitment: config.commitment,
    clock,
    onTrouble: (trouble) => {
      log.debug(trouble, "an RPC node gave no clear answer");
      const now = performance.now();
      if (now - (warnedAtMs.get(trouble.host) ?? -Infinity) < warnAgainAfterMs) return;
      warnedAtMs.set(trouble.host, now);
      log.warn(trouble, "an RPC node is failing");
    },
  });
  if (!opened.ok) throw new BadSetting(opened.failure.message);
  return opened.value;
}
