import { openChain, type OpenChain } from "#api/chain/open-chain.ts";
import { BadSetting, type Config } from "#api/config.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { sampleTrouble } from "#content/operation/directory-facts-store.ts";
import type { Store } from "#content/store/open.ts";
import type { GivingWorld } from "#content/giving/world.ts";
import { every } from "#content/runtime/timing.ts";
import { confirmDonations, sweepDonations } from "#content/giving/sweep.ts";

/** Throws BadSetting when sample nonprofits would be offered for real money. */
export async function refuseSample(
  { network }: Pick<Config, "network">,
  store: Store,
): Promise<void> {
  const trouble = await sampleTrouble(store, network);
  if (trouble !== null) throw new BadSetting(trouble);
}

/** A failing node fails often, so one warning about it in this time is enough. */
const warnAgainAfterMs = 60_000;

/**
 * Opens the chain that the settings name. Throws BadSetting when a node serves another network or the sponsor's key is
 * invalid. Unreachable nodes do not stop the start.
 */
export async function openDonationChain(
  config: Pick<Config, "network" | "solanaRpcUrls" | "commitment">,
  { secrets, log, clock }: { secrets: Secrets; log: Log; clock: Clock },
): Promise<OpenChain> {
  const warnedAtMs = new Map<string, number>();
  const chainResult = await openChain({
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
  if (!chainResult.ok) throw new BadSetting(chainResult.failure.message);
  return chainResult.value;
}

const sweepEveryMs = 2_000;
/** Stopping waits no longer. The next start finds donations that are not recorded by then. */
const stopWaitMs = 2_500;

/** Follows donations until they are final: at once, because a crash may have left some, then every 2 s. */
export const startSweep = (
  world: GivingWorld,
  log: Pick<Log, "warn" | "info" | "error">,
): { stop(): Promise<void> } =>
  every(
    async () => {
      const { looked, recorded } = await sweepDonations(world);
      if (recorded > 0) log.info({ looked, recorded }, "donations found on chain");
      const voided = await confirmDonations(world);
      for (const { id, tx_signature } of voided) {
        log.error(
          { id, tx_signature },
          "a recorded donation vanished from the chain and is voided",
        );
      }
    },
    {
      everyMs: sweepEveryMs,
      stopWaitMs,
      onFailure: (error) =>
        log.warn({ err: error }, "open donations could not be checked; trying again"),
    },
  );
