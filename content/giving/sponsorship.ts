import type { Clock } from "#content/contract/base/time.ts";
import { priorityFeeLamportsMax } from "./payment-checks.ts";
import {
  budgetDayMs,
  hasBudget,
  type SponsorBudget,
  sponsoredByNonprofit,
} from "./sponsor-store.ts";
import { singleFlight } from "#content/runtime/single-flight.ts";
import type { Store } from "#content/store/open.ts";
import type { Chain } from "./chain.ts";

/** What an account without data must keep. Source: Solana, rent-exempt minimum of 0 bytes. */
export const sponsorReserveLamports = 890_880;
/** The highest fee of a sponsored payment: two signatures, and the bound of the priority fee. */
const feeLamportsMax = 10_000 + Number(priorityFeeLamportsMax);

/** Whether a balance pays one more fee; one that is not known is taken to. */
export const canPay = (balance: number | null): boolean =>
  balance === null || balance >= sponsorReserveLamports + feeLamportsMax;

const refreshEveryMs = 10_000;

/**
 * What is known of the sponsor's money without asking: a demand for payment must not wait for it. Asked again in the
 * background, at most every 10 s while demands come. What counts is counted in the store when a payment is claimed.
 */
export function openSponsorship({
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
  let known = { balance: null as number | null, spent: new Map<number, number>(), all: 0 };
  const refresh = () =>
    singleFlight(self, "sponsorship", async () => {
      const now = clock().getTime();
      askedAtMs = now;
      const spent = await sponsoredByNonprofit(store, now - budgetDayMs);
      const answer = chain.sponsor === null ? null : await chain.balanceOf(chain.sponsor);
      const all = [...spent.values()].reduce((sum, one) => sum + one, 0);
      known = { balance: answer?.ok === true ? answer.value : known.balance, spent, all };
    });
  const look = () => void refresh().catch(() => undefined);
  if (chain.sponsor !== null) look(); // So that the first demand knows.
  return {
    /** Whether the sponsor may be offered for a gift to this nonprofit. */
    offers: (nonprofitId: number): boolean => {
      if (chain.sponsor === null) return false;
      if (clock().getTime() - askedAtMs >= refreshEveryMs) look();
      const { balance, spent, all } = known;
      const own = spent.get(nonprofitId) ?? 0;
      return hasBudget(all, budget.day) && hasBudget(own, budget.nonprofit) && canPay(balance);
    },
  };
}
