import type { Chain } from "#api/chain/chain.ts";
import { caip2Of, clusters } from "#api/chain/clusters.ts";
import type { Context } from "#api/context.ts";
import { batcher } from "#api/http/batcher.ts";
import type { Clock } from "#content/contract/time.ts";
import type { Commitment, MicroUsdc } from "#content/contract/transfer.ts";
import type { MemoSeal } from "#content/donation/memo.ts";
import { type DonateTarget, donateTargets } from "#content/donation/store.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";
import { type GroupCommit, groupCommit } from "#content/store/write-batcher.ts";

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

type Job<Value> = (tx: WriteTransaction) => Promise<Value>;

const batches = new WeakMap<Store, GroupCommit<Job<unknown>, unknown>>();

/** Writes in a transaction that it may share: donations and proofs that arrive batcher share a sync to disk. */
export async function batchedWrite<Value>(store: Store, job: Job<Value>): Promise<Value> {
  const known = batches.get(store);
  const batch = known ?? groupCommit(store, oneAfterTheOther);
  if (known === undefined) batches.set(store, batch);
  return (await batch.run(job)) as Value;
}

async function oneAfterTheOther(
  tx: WriteTransaction,
  jobs: readonly Job<unknown>[],
): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const job of jobs) values.push(await job(tx));
  return values;
}
