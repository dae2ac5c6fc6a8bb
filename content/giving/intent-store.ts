import { and, asc, eq, gt, gte, inArray, isNotNull, lt, lte, ne, or, sql } from "drizzle-orm";
import { type Result, fail, ok } from "#content/contract/base/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import {
  type Statement,
  builder,
  columnNames,
  query,
  rowShape,
  statement,
} from "#content/store/query.ts";
import { donationIntents as intents } from "#content/store/tables/giving.ts";
import { micro } from "#content/contract/base/money.ts";
import { type Ending, type Step, steps } from "./intent-states.ts";
import { type PaymentFacts, priorityFeeLamportsMax } from "./payment-checks.ts";

type Row = typeof intents.$inferSelect;

/**
 * Something that was handed in and has not ended. payment: a signed payment that we broadcast; proof: a signature that a
 * client named; watch: a memo whose transfer someone waits for. The table describes the columns.
 */
export type DonationIntent = Omit<Row, "amount_micro_usdc"> & { amount_micro_usdc: MicroUsdc };

export type NewIntent = Pick<
  DonationIntent,
  "kind" | "nonprofit_id" | "proof" | "recipient" | "amount_micro_usdc" | "check_at"
> &
  Partial<Pick<DonationIntent, "payment" | "blockhash" | "network" | keyof SponsorStake>> & {
    now: Date;
  };

type SponsorStake = Pick<
  DonationIntent,
  "sponsored_source" | "sponsored_lamports" | "sponsored_donor"
>;

/** About this many intents may wait, so that made-up signatures do not fill the disk. Payments are always saved. */
export const waitingMax = 20_000;

/** The most of these places that one network may use: it takes 200 networks to fill all. */
export const watchesPerNetworkMax = 100;

/**
 * Saves an intent, so that the sweep follows it; the caller has checked that there is room. A stored one keeps its time and
 * recipient and waits again; a settled one is left alone.
 */
export function saveIntent({ now, amount_micro_usdc, ...row }: NewIntent): Statement {
  const saving = builder
    .insert(intents)
    .values({
      ...row,
      // Amounts asked for are at most 10,000 USDC.
      amount_micro_usdc: Number(amount_micro_usdc),
      status: "waiting",
      created_at: now.getTime(),
    })
    .onConflictDoUpdate({
      target: [intents.nonprofit_id, intents.proof],
      set: {
        kind: sql`CASE WHEN excluded.kind = 'payment' THEN 'payment' ELSE ${intents.kind} END`,
        payment: sql`coalesce(excluded.payment, ${intents.payment})`,
        blockhash: sql`coalesce(excluded.blockhash, ${intents.blockhash})`,
        sponsored_lamports: sql`coalesce(excluded.sponsored_lamports, ${intents.sponsored_lamports})`,
        sponsored_donor: sql`coalesce(excluded.sponsored_donor, ${intents.sponsored_donor})`,
        sponsored_source: sql`coalesce(excluded.sponsored_source, ${intents.sponsored_source})`,
        checks: 0,
        unknown: 0,
        check_at: row.check_at,
        status: "waiting",
        outcome: null,
      },
      setWhere: ne(intents.status, "settled"),
    });
  return statement(saving);
}

/** `saveIntent` for a proof or watch that takes a place of its network; null when the network has no place left. */
export const planWaiting = async (store: Queryable, intent: NewIntent): Promise<Statement | null> =>
  (await hasPlace(store, intent.network ?? null)) ? saveIntent(intent) : null;

/** Whether a network may have one more place; an unknown network (null) always may. Index: donation_intents_by_network. */
const hasPlace = async (store: Queryable, network: string | null): Promise<boolean> =>
  network === null ||
  (await store.db.$count(
    intents,
    // A literal, as in the partial index: with a bound value SQLite does not use the index.
    and(eq(intents.network, network), sql`${intents.status} = 'waiting'`),
  )) < watchesPerNetworkMax;

/**
 * Whether any place is free. It is counted before the write lock is taken, so concurrent requests may exceed the limit
 * slightly. Index: donation_intents_by_check.
 */
export const hasRoom = async (store: Queryable): Promise<boolean> =>
  (await store.db.$count(intents, eq(intents.status, "waiting"))) < waitingMax;

const columns = columnNames(intents);
const intentRow = rowShape(intents, columns);
// SQL, because each proof runs it up to four times, once under the write lock; drizzle takes seven times as long.
const intentSql = `SELECT ${columns.join(", ")} FROM donation_intents WHERE nonprofit_id = ? AND proof = ?`;

/** The intent of a nonprofit with this proof; null if there is none. Index: donation_intents_once. */
export async function intentOf(
  store: Queryable,
  nonprofitId: number,
  proof: string,
): Promise<DonationIntent | null> {
  const [row] = await query(store, intentSql, [nonprofitId, proof], intentRow);
  return row === undefined ? null : intentFrom(row);
}

/** Whether the intent is a payment that waits: some process of this directory, or the sweep, is broadcasting it. */
export const isUnderWay = (intent: DonationIntent | null): boolean =>
  intent?.kind === "payment" && intent.status === "waiting";

/**
 * The statement that claims a payment before it is broadcast, so that only the caller sends it; or why the caller may not
 * send it. `elsewhere`: another request or process has claimed it. `source_busy`: a sponsored payment from the same token
 * account has not ended.
 */
export async function planClaim(
  store: Queryable,
  intent: NewIntent,
  budget: SponsorBudget,
): Promise<Result<Statement, NotClaimed>> {
  if (isUnderWay(await intentOf(store, intent.nonprofit_id, intent.proof))) {
    return fail("elsewhere");
  }
  if (await isSourceBusy(store, intent.sponsored_source ?? null)) return fail("source_busy");
  const {
    sponsored_lamports: fee = null,
    sponsored_donor: donor = null,
    nonprofit_id,
    now,
  } = intent;
  const notPaid =
    fee === null ? null : await whyNotPaid(store, fee, { donor, nonprofit_id }, { now, budget });
  return notPaid === null ? ok(saveIntent(intent)) : fail(notPaid);
}

export type NotClaimed = "elsewhere" | "source_busy" | NotPaid;

/** Whether a sponsored payment from this token account has not ended. Index: one_sponsored_payment_per_source. */
export async function isSourceBusy(store: Queryable, source: string | null): Promise<boolean> {
  if (source === null) return false;
  return (await store.db.$count(intents, eq(intents.sponsored_source, source))) > 0;
}

/** Counts a clear answer that did not know the transaction; for a payment, only once it should have landed. */
export const countUnknown = ({ id }: { id: number }): Statement =>
  statement(
    builder
      .update(intents)
      .set({ unknown: sql`${intents.unknown} + 1` })
      .where(eq(intents.id, id)),
  );

/** Ends an intent because of an observation and frees its token account. A settled intent stays settled. */
export function closeIntent(
  { nonprofit_id, proof }: Pick<DonationIntent, "nonprofit_id" | "proof">,
  sighting: Ending,
): Statement {
  const { next: status, neverLanded }: Step = steps[sighting];
  const freed = neverLanded === true ? { sponsored_lamports: null } : {};
  const outcome = status === "settled" ? null : sighting;
  const isOpen = and(
    eq(intents.nonprofit_id, nonprofit_id),
    eq(intents.proof, proof),
    ne(intents.status, "settled"),
  );
  const set = { status, outcome, payment: null, sponsored_source: null, ...freed };
  return statement(builder.update(intents).set(set).where(isOpen));
}

/** The longest delay until the next check. */
const putOffMaxMs = 600_000;

/** A `check_at` further ahead than the longest delay can only come from a clock that was set back since, so it is due. */
const isDue = (now: Date) =>
  and(
    eq(intents.status, "waiting"),
    or(lte(intents.check_at, now.getTime()), gt(intents.check_at, now.getTime() + putOffMaxMs)),
  );

const lapsedKeptMs = 3_600_000;

/** Lapsed proofs and watches: anyone can make them up, so they are kept for only an hour. */
const isOver = (now: Date) =>
  and(
    eq(intents.status, "lapsed"),
    // `check_at` is when it would have been checked next: less than four minutes after it ended.
    lt(intents.check_at, now.getTime() - lapsedKeptMs),
    ne(intents.kind, "payment"),
    // The intent of a voided gift has another outcome.
    eq(intents.outcome, "lapsed" satisfies Ending),
  );

/** Whether the sweep has anything to check or delete. Index: donation_intents_by_check. */
export async function isAnyDue(store: Queryable, now: Date): Promise<boolean> {
  const is = or(isDue(now), isOver(now));
  return (await store.db.select({ id: intents.id }).from(intents).where(is).limit(1)).length > 0;
}

/**
 * Takes the intents that are due and postpones each. Payments come first (anyone can make up proofs), then the longest due.
 * The delay doubles from `firstMs` up to `mostMs` (ten times that for a watch). If the process stops meanwhile, the next one
 * takes them. Index: donation_intents_by_check.
 */
export async function takeDueIntents(
  tx: WriteTransaction,
  { now, limit, firstMs, mostMs }: { now: Date; limit: number; firstMs: number; mostMs: number },
): Promise<DonationIntent[]> {
  const due = tx.db
    .select({ id: intents.id })
    .from(intents)
    .where(isDue(now))
    .orderBy(sql`${intents.kind} <> 'payment'`, asc(intents.check_at))
    .limit(limit);
  const waitMaxMs = sql`CASE ${intents.kind} WHEN 'watch' THEN ${10 * mostMs} ELSE ${mostMs} END`;
  const rows = await tx.db
    .update(intents)
    .set({
      checks: sql`${intents.checks} + 1`,
      check_at: sql`${now.getTime()} + min(${firstMs} << min(${intents.checks}, 16), ${waitMaxMs})`,
    })
    .where(inArray(intents.id, due))
    .returning();
  return rows.map(intentFrom);
}

const endedKeptMs = 7 * 24 * 3_600_000;

/** Deletes at most `limit` ended intents: lapsed ones after an hour, all others (payments too) after a week. */
export async function deleteEndedIntents(
  tx: WriteTransaction,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  const isOld = lt(intents.created_at, now.getTime() - endedKeptMs);
  const ended = tx.db
    .select({ id: intents.id })
    .from(intents)
    .where(or(and(ne(intents.status, "waiting"), isOld), isOver(now)))
    .limit(limit);
  await tx.db.delete(intents).where(inArray(intents.id, ended));
}

const intentFrom = (row: Row): DonationIntent => ({
  ...row,
  amount_micro_usdc: micro(BigInt(row.amount_micro_usdc)),
});

/** Lamports that the sponsor may spend in 24 hours: in total, per donor, and on gifts to one nonprofit. */
export type SponsorBudget = { day: number; donor: number; nonprofit: number };

export const budgetDayMs = 24 * 3_600_000;

const signatureLamports = 5_000;
/** The lowest fee of a sponsored payment: two signatures, the sponsor's and the donor's. */
const feeLamportsMin = 2 * signatureLamports;

/** Whether a budget covers one more payment at the lowest fee. */
export const hasBudget = (spent: number, budget: number): boolean =>
  spent + feeLamportsMin <= budget;

/** The network fee of a payment in lamports: each signature, and the price of the compute units. Source: Solana, "Fees". */
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
  // Literally as in the partial index. Index: donation_intents_sponsored.
  and(isNotNull(sponsored_lamports), gte(created_at, since));

/**
 * Lamports that sponsored payments since an instant cost, including those under way: in total, of a donor, to a nonprofit,
 * and of this donor to this nonprofit.
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
 * Why the sponsor does not pay a fee. `sponsor_budget`: a budget of the last 24 hours is spent. `sponsored_today`: it paid
 * for a gift from this donor to this nonprofit in that time.
 */
export type NotPaid = "sponsor_budget" | "sponsored_today";

/** Why the sponsor does not pay a fee of this many lamports; null when it does. */
export async function whyNotPaid(
  store: Queryable,
  fee: number,
  of: { donor: string | null; nonprofit_id: number },
  { now, budget }: { now: Date; budget: SponsorBudget },
): Promise<NotPaid | null> {
  const spent = await sponsoredSince(store, now.getTime() - budgetDayMs, of);
  const isSpent = (["day", "donor", "nonprofit"] as const).some(
    (whose) => spent[whose] + fee > budget[whose],
  );
  if (isSpent) return "sponsor_budget";
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

/** The lamports that an account without data must keep. Source: Solana, rent-exempt minimum of 0 bytes. */
export const sponsorReserveLamports = 890_880;
/** The highest fee of a sponsored payment: two signatures and the highest priority fee. */
const feeLamportsMax = feeLamportsMin + Number(priorityFeeLamportsMax);

/** Whether a balance covers one more fee; an unknown balance (null) counts as enough. */
export const canPay = (balance: number | null): boolean =>
  balance === null || balance >= sponsorReserveLamports + feeLamportsMax;
