import type { ChainUnclear } from "#api/chain/rpc.ts";
import { type Chain, openChain } from "#api/chain/open-chain.ts";
import { BadSetting, type Config } from "#api/config.ts";
import type { Log } from "#api/log.ts";
import type { Secrets } from "#api/secrets.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { sampleTrouble } from "#content/operation/directory-facts-store.ts";
import { within } from "#content/runtime/with-timeout.ts";
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
): Promise<Chain> {
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

/** While the chain is out of reach, a request is answered within 3 s: this is what it may spend waiting for nodes. */
const chainWaitMs = 2_700;

/** How much longer a request may wait for the chain. */
export type Deadline = { leftMs: () => number };

export function chainDeadline(): Deadline {
  const endMs = performance.now() + chainWaitMs;
  return { leftMs: () => Math.max(0, endMs - performance.now()) };
}

/** What the chain answers before the deadline; after it nothing is known. */
export async function beforeDeadline<Value, Failure>(
  { leftMs }: Deadline,
  call: Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | ChainUnclear>> {
  const answer = await within(call, leftMs());
  return answer ?? fail({ kind: "chain_unclear", why: "the chain took too long" });
}

/** Whether the chain knows a transaction, at any commitment. Asks in two ways, because nodes lag and forget. */
export async function isOnChain(
  chain: Chain,
  txSignature: string,
): Promise<Result<boolean, ChainUnclear>> {
  const [known, landed] = await Promise.all([
    chain.known([txSignature]),
    chain.landed(txSignature),
  ]);
  if (!known.ok) return known;
  if (!landed.ok) return landed;
  return ok(known.value[0] === true || landed.value !== null);
}
