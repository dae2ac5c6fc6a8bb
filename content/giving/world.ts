import { offeredCaip2Of } from "./network.ts";
import { batcher, singleFlight } from "#content/runtime/concurrency.ts";
import type { MemoSeal } from "./memo.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { type DonateTarget, donateTargets } from "./store.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import {
  budgetDayMs,
  canPay,
  hasBudget,
  type SponsorBudget,
  sponsoredByNonprofit,
} from "./sponsor-store.ts";
import type { Store } from "#content/store/open.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Chain } from "./chain.ts";

/** One look at the chain serves all who wait for a memo, for this long: less than the 3 s after which they ask again. */
const lookSharedMs = 2_500;
const looksMax = 10_000;

/** What all steps of a donation work with. */
export type GivingWorld = ReturnType<typeof givingWorld>;

/** The settings of the operator that giving follows. */
type GivingSettings = {
  solanaRpcUrls: readonly string[];
  /** Without a trailing slash. */
  baseUrl: string;
  commitment: "confirmed" | "finalized";
  finalizedAbove: MicroUsdc;
  donationWindowMs: number;
  sponsoredMin: MicroUsdc;
  sponsorBudget: SponsorBudget;
};

export function givingWorld({
  store,
  clock,
  chain,
  config,
  secrets,
}: {
  store: Store;
  clock: Clock;
  chain: Chain;
  config: GivingSettings;
  secrets: { donationMemoKey: Uint8Array };
}) {
  // Requests of one turn of the event loop share a statement: preparing it costs more than what it finds.
  const targets = batcher((slugs: readonly string[]) => donateTargets(store, slugs, clock()));
  const seal: MemoSeal = { key: secrets.donationMemoKey, network: chain.caip2 };
  return {
    store,
    clock,
    chain,
    /** The nonprofit with this slug as it is now, withdrawn ones too; null when there is none. */
    targetOf: (slug: string): Promise<DonateTarget | null> => targets.ask(slug),
    seal,
    /** Memos that were just looked for. */
    looked: countedCache<true>(looksMax, {
      ttl: lookSharedMs,
      ttlResolution: 0,
      perf: { now: () => clock().getTime() },
    }),
    /** CAIP-2 id under which the chain is offered to x402 clients of version 2: one that they know. See decisions 0053 and 0058. */
    offeredNetwork: offeredCaip2Of(chain.cluster, chain.caip2),
    /** Where the local chain listens, for those who try a gift; null on every other network. */
    localRpcUrl: chain.cluster === "local" ? (config.solanaRpcUrls[0] ?? null) : null,
    /** Without a trailing slash. */
    baseUrl: config.baseUrl,
    /** From here on a landed transfer counts. */
    commitment: config.commitment,
    /** A gift of more than this counts only when it is finalized. */
    finalizedAbove: config.finalizedAbove,
    /** How old a transfer that does not carry our memo may be. */
    windowMs: config.donationWindowMs,
    /** The sponsor pays fees for donations from this amount on, where there is an account to pay into. */
    sponsoredMin: config.sponsoredMin,
    sponsorBudget: config.sponsorBudget,
    sponsorship: openSponsorship({ store, clock, chain, budget: config.sponsorBudget }),
    /** Waits; tests let it pass quickly. */
    pause: (ms: number): Promise<void> => Bun.sleep(ms),
  };
}

const refreshEveryMs = 10_000;

/**
 * What is known of the sponsor's money without asking: a demand for payment must not wait for it. Asked again in the
 * background, at most every 10 s while demands come. What counts is counted in the store when a payment is claimed.
 */
function openSponsorship({
  store,
  clock,
  chain,
  budget,
}: {
  store: Store;
  clock: Clock;
  chain: Pick<Chain, "sponsor" | "balanceOf">;
  budget: SponsorBudget;
}) {
  const self = {};
  let askedAtMs = -Infinity;
  let latest = { balance: null as number | null, spent: new Map<number, number>(), all: 0 };
  const refresh = () =>
    singleFlight(self, "sponsorship", async () => {
      const now = clock().getTime();
      askedAtMs = now;
      const spent = await sponsoredByNonprofit(store, now - budgetDayMs);
      const answer = chain.sponsor === null ? null : await chain.balanceOf(chain.sponsor);
      const all = [...spent.values()].reduce((sum, lamports) => sum + lamports, 0);
      latest = { balance: answer?.ok === true ? answer.value : latest.balance, spent, all };
    });
  const look = () => void refresh().catch(() => undefined);
  if (chain.sponsor !== null) look(); // So that the first demand knows.
  return {
    /** Why the sponsor may not be offered for a gift to this nonprofit; null where it may. */
    whyNot: (nonprofitId: number): "no_sponsor" | "no_budget" | "no_money" | null => {
      if (chain.sponsor === null) return "no_sponsor";
      if (clock().getTime() - askedAtMs >= refreshEveryMs) look();
      const { balance, spent, all } = latest;
      const ofNonprofit = spent.get(nonprofitId) ?? 0;
      if (!hasBudget(all, budget.day) || !hasBudget(ofNonprofit, budget.nonprofit))
        return "no_budget";
      return canPay(balance) ? null : "no_money";
    },
  };
}
