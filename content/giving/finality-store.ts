import { and, count, desc, eq, gte, inArray, isNotNull, isNull, lt, lte, sql } from "drizzle-orm";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/query.ts";
import { donationIntents as intents, donations } from "#content/store/tables/giving.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { micro } from "#content/contract/base/money.ts";
import { type Ending, steps } from "./intent-states.ts";
import { saveIntent } from "./intent-store.ts";
import { type Donation, newsOfDonations, updateDonations } from "./store.ts";

/** A donation that is not final is checked after 20 s, and again each time its age has grown by half. */
const checkAgainMsMin = 20_000;

/** Whether any donation is due for a check. Index: donations_by_check. */
export async function isAnyUnfinished(store: Queryable, now: Date): Promise<boolean> {
  const due = lte(donations.check_at, now.getTime());
  const rows = await store.db.select({ id: donations.id }).from(donations).where(due).limit(1);
  return rows.length > 0;
}

/** Takes donations of a chain that are due, longest due first, and postpones each. Index: donations_by_check. */
export const takeUnfinished = (
  tx: WriteTransaction,
  { network, now, limit }: { network: string; now: Date; limit: number },
): Promise<Donation[]> =>
  // SQL, as for all reads of donations: amounts leave the store as text. Donations of other chains are postponed by a day.
  updateDonations(
    tx,
    `SET check_at = iif(network = ?2, ?1 + max(${checkAgainMsMin}, (?1 - recorded_at) / 2), ?1 + 86400000)
     WHERE id IN (SELECT id FROM donations WHERE check_at <= ?1 ORDER BY check_at LIMIT ?3)`,
    [now.getTime(), network, limit],
  ).then((taken) => taken.filter((donation) => donation.network === network));

/** Marks a donation as final, with its final slot and time, and adds it to the feed; no statements if it was voided. */
export async function planFinal(
  store: Queryable,
  { id, nonprofit_id }: Pick<Donation, "id" | "nonprofit_id">,
  { slot, settled_at, now }: Pick<Donation, "slot" | "settled_at"> & { now: Date },
): Promise<Statement[]> {
  const stands = and(eq(donations.id, id), isNull(donations.voided_at));
  if ((await store.db.$count(donations, stands)) === 0) return [];
  const set = { commitment: "finalized", check_at: null, slot, settled_at } as const;
  const marking = statement(builder.update(donations).set(set).where(stands));
  return [marking, ...(await newsOfDonations(store, nonprofit_id, now))];
}

/** Counts a clear answer that the chain no longer holds the donation, or holds something else. */
export const countVanished = (id: string): Statement =>
  statement(
    builder
      .update(donations)
      .set({ unknown: sql`${donations.unknown} + 1` })
      .where(and(eq(donations.id, id), isNull(donations.voided_at))),
  );

/**
 * Voids a donation: it no longer counts anywhere, the feed announces it, and its transfer is watched as if it had just been
 * named, because it may land again. No statements if it was voided or became final in the meantime.
 */
export async function planVoid(
  store: Queryable,
  donation: Donation,
  { reason, now }: { reason: NonNullable<Donation["void_reason"]>; now: Date },
): Promise<Statement[]> {
  const { id, nonprofit_id, tx_signature, memo, recipient } = donation;
  const at = now.getTime();
  const isOpen = and(
    eq(donations.id, id),
    isNull(donations.voided_at),
    eq(donations.commitment, "confirmed"),
  );
  if ((await store.db.$count(donations, isOpen)) === 0) return [];
  const voided = { voided_at: at, void_reason: reason, check_at: null };
  const ending = "voided" satisfies Ending;
  const proofs = [tx_signature, ...(memo === null ? [] : [memo])];
  const ended = and(eq(intents.nonprofit_id, nonprofit_id), inArray(intents.proof, proofs));
  const lapsed = { status: steps[ending].next, outcome: ending };
  const waiting = { kind: "proof", proof: tx_signature, amount_micro_usdc: micro(0n) } as const;
  return [
    statement(builder.update(donations).set(voided).where(isOpen)),
    statement(builder.update(intents).set(lapsed).where(ended)),
    saveIntent({ ...waiting, nonprofit_id, recipient, now, check_at: at }),
    ...(await newsOfDonations(store, nonprofit_id, now)),
  ];
}

/** Counts a chain's donations before an instant (ms since 1970), neither final nor voided. Index: donations_by_check. */
export const unsettledBefore = (
  store: Queryable,
  { network, before }: { network: string; before: number },
): Promise<number> =>
  store.db.$count(
    donations,
    and(
      isNotNull(donations.check_at),
      eq(donations.network, network),
      lt(donations.recorded_at, before),
    ),
  );

/** How many donations were voided since an instant (ms since 1970), and the newest. Index: donations_voided. */
export async function voidedSince(
  store: Queryable,
  since: number,
): Promise<{ count: number; newest: { slug: string; id: string } | null }> {
  const isVoided = gte(donations.voided_at, since);
  const [counted] = await store.db.select({ count: count() }).from(donations).where(isVoided);
  const [newest] = await store.db
    .select({ slug: nonprofits.slug, id: donations.id })
    .from(donations)
    .innerJoin(nonprofits, eq(nonprofits.id, donations.nonprofit_id))
    .where(isVoided)
    .orderBy(desc(donations.voided_at))
    .limit(1);
  return { count: counted?.count ?? 0, newest: newest ?? null };
}
