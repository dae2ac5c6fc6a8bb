import { base58Text } from "#api/chain/base58.ts";
import { caip2Of, clusters } from "#api/chain/clusters.ts";
import type { Context } from "#api/context.ts";
import { batcher } from "#api/http/batcher.ts";
import { donateTargets } from "#content/donation/target.ts";
import type { DonateContext } from "./donate-context.ts";

type Needed = Pick<Context, "store" | "clock" | "chain" | "config" | "secrets">;

/** Stock clients know no other networks than Solana's own, so the local chain borrows the name of one. */
const devnet = caip2Of(clusters["solana-devnet"]);

/** What the verbs of donating take of the service's context. */
export const donatingOf = ({ store, clock, chain, config, secrets }: Needed): DonateContext => {
  // Those who ask in one turn share a statement: preparing it costs more than what it finds.
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
    addressOf: base58Text,
    pause: (ms) => Bun.sleep(ms),
  };
};
