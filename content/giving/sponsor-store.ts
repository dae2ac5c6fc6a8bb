import { and, eq, gte, isNotNull, sql } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import { donationIntents as intents } from "#content/store/tables/giving.ts";
import { type PaymentFacts, priorityFeeLamportsMax } from "./payment-checks.ts";

/** Lamports that the sponsor may spend in 24 hours: on all, on one donor, on gifts to one nonprofit. */
export type SponsorBudget = { day: number; donor: number; nonprofit: number };

export const budgetDayMs = 24 * 3_600_000;

const signatureLamports = 5_000;
/** The least fee of a sponsored payment: the sponsor's signature, and the donor's. */
const feeLamportsMin = 2 * signatureLamports;

/** Whether a budget has room for one more payment. */
export const hasBudget = (spent: number, budget: number): boolean =>
  spent + feeLamportsMin <= budget;

/** The network fee of a payment, in lamports. Source: Solana, "Fees": each signature, and the price of the compute units. */
export function feeLamports({
  signers,
  compute_units,
  compute_unit_price,
}: Pick<PaymentFacts, "signers" | "compute_units" | "compute_unit_price">): number {
  const microLamports = BigInt(compute_units ?? 0) * (compute_unit_price ?? 0n);
  return signers.length * signatureLamports + Number((microLamports + 999_999n) / 1_000_000n);
}

const { sponsored_lamports, sponsored_donor, nonprofit_id, created_at } = intents;

const reservedSince = (since: number) =>
  // As the partial index says it. Index: donation_intents_sponsored.
  and(isNotNull(sponsored_lamports), gte(created_at, since));

/**
 * Lamports that sponsored payments since an instant cost, those under way included: all, of a donor, to a nonprofit, and of
 * this donor to this nonprofit.
 */
export async function sponsoredSince(
  store: Queryable,
  since: number,
  of: { donor: string | null; nonprofit_id: number },
): Promise<SponsorBudget & { pair: number }> {
  const sum = sql`coalesce(sum(${sponsored_lamports})`;
  const isDonor = eq(sponsored_donor, of.donor ?? "");
  const isNonprofit = eq(nonprofit_id, of.nonprofit_id);
  const [spent] = await store.db
    .select({
      day: sql<number>`${sum}, 0)`,
      donor: sql<number>`${sum} FILTER (WHERE ${isDonor}), 0)`,
      nonprofit: sql<number>`${sum} FILTER (WHERE ${isNonprofit}), 0)`,
      pair: sql<number>`${sum} FILTER (WHERE ${isDonor} AND ${isNonprofit}), 0)`,
    })
    .from(intents)
    .where(reservedSince(since));
  return spent ?? { day: 0, donor: 0, nonprofit: 0, pair: 0 };
}

/**
 * Why the sponsor does not pay a fee. `sponsor_budget`: it has paid as much in the last 24 hours as it may;
 * `sponsored_today`: it paid the fee of a gift from this donor to this nonprofit in that time.
 */
export type NotPaid = "sponsor_budget" | "sponsored_today";

/** Why the sponsor does not pay the fee of a gift, in lamports; null when it does. */
export async function whyNotPaid(
  store: Queryable,
  fee: number,
  of: { donor: string | null; nonprofit_id: number },
  { now, budget }: { now: Date; budget: SponsorBudget },
): Promise<NotPaid | null> {
  const spent = await sponsoredSince(store, now.getTime() - budgetDayMs, of);
  const isOver = (["day", "donor", "nonprofit"] as const).some(
    (whose) => spent[whose] + fee > budget[whose],
  );
  if (isOver) return "sponsor_budget";
  return spent.pair > 0 ? "sponsored_today" : null;
}

/** Lamports spent on each nonprofit since an instant. */
export async function sponsoredByNonprofit(
  store: Queryable,
  since: number,
): Promise<Map<number, number>> {
  const rows = await store.db
    .select({ id: nonprofit_id, spent: sql<number>`sum(${sponsored_lamports})` })
    .from(intents)
    .where(reservedSince(since))
    .groupBy(nonprofit_id);
  return new Map(rows.map(({ id, spent }) => [id, spent]));
}

/** What an account without data must keep. Source: Solana, rent-exempt minimum of 0 bytes. */
export const sponsorReserveLamports = 890_880;
/** The highest fee of a sponsored payment: two signatures, and the bound of the priority fee. */
const feeLamportsMax = feeLamportsMin + Number(priorityFeeLamportsMax);

/** Whether a balance pays one more fee; one that is not known is taken to. */
export const canPay = (balance: number | null): boolean =>
  balance === null || balance >= sponsorReserveLamports + feeLamportsMax;
