import type { Chain } from "#api/chain/chain.ts";
import { caip2Of, clusters } from "#api/chain/clusters.ts";
import type { Context } from "#api/context.ts";
import { batcher } from "#api/http/batcher.ts";
import type { Clock } from "#content/contract/time.ts";
import type { Commitment, MicroUsdc } from "#content/contract/transfer.ts";
import type { MemoSeal } from "#content/donation/memo.ts";
import { type DonateTarget, donateTargets } from "#content/donation/store.ts";
import type { Store } from "#content/store/open.ts";

/** What all steps of a donation work with. */
export type DonateContext = {
  store: Store;
  clock: Clock;
  chain: Chain;
  /** The nonprofit with this slug as it is now, withdrawn ones too; null when there is none. */
  targetOf: (slug: string) => Promise<DonateTarget | null>;
  seal: MemoSeal;
  /** CAIP-2 id under which the chain is offered to x402 clients of version 2: one that they know. See decision 0053. */
  offeredNetwork: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** From here on a landed transfer counts. */
  commitment: Commitment;
  /** How old a transfer that does not carry our memo may be. */
  windowMs: number;
  /** The sponsor pays fees for donations from this amount on. */
  sponsoredMin: MicroUsdc;
  /** Waits; tests let it pass quickly. */
  pause: (ms: number) => Promise<void>;
};

/** x402 clients know only Solana's own networks, so the local chain borrows the name of devnet. */
const devnet = caip2Of(clusters["solana-devnet"]);

export const donateContext = ({
  store,
  clock,
  chain,
  config,
  secrets,
}: Pick<Context, "store" | "clock" | "chain" | "config" | "secrets">): DonateContext => {
  // Requests of one turn of the event loop share a statement: preparing it costs more than what it finds.
  const targets = batcher((slugs: readonly string[]) => donateTargets(store, slugs, clock()));
  return {
    store,
    clock,
    chain,
    targetOf: (slug) => targets.ask(slug),
    seal: { key: secrets.donationMemoKey, network: chain.caip2 },
    offeredNetwork: chain.cluster === "local" ? devnet : chain.caip2,
    baseUrl: config.baseUrl,
    commitment: config.commitment,
    windowMs: config.donationWindowMs,
    sponsoredMin: config.sponsoredMin,
    pause: (ms) => Bun.sleep(ms),
  };
};
