import { sha256Of } from "#content/runtime/digest.ts";
import type { InValue } from "@libsql/client";
import { and, eq, gt, isNotNull } from "drizzle-orm";
import { z } from "zod";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { appendChanges, donationsField } from "#content/nonprofit/changes-store.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import {
  type Statement,
  columnNames,
  doAll,
  query,
  rowShape,
  valuesOf,
} from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { directoryFact, noteFact } from "#content/store/facts.ts";
import { micro } from "#content/contract/base/money.ts";

/** A recorded donation with its evidence from the chain. The table describes the columns. */
export type Donation = Omit<typeof donations.$inferSelect, "amount_micro_usdc"> & {
  /** The amount that arrived. */
  amount_micro_usdc: MicroUsdc;
};

// SQL, because proofs are looked up by the thousand and recorded under the write lock; drizzle takes seven times as long.
// Amounts leave the store as text: a double would round very large gifts.
const columns = columnNames(donations);
const selected = columns.map((name) =>
  name === "amount_micro_usdc" ? `CAST(${name} AS TEXT) AS ${name}` : name,
);
const donationRow = z.intersection(
  rowShape(
    donations,
    columns.filter((name) => name !== "amount_micro_usdc"),
  ),
  z.object({ amount_micro_usdc: z.string().transform((text) => micro(BigInt(text))) }),
);

const select = (store: Queryable, rest: string, args: readonly InValue[]): Promise<Donation[]> =>
  query(store, `SELECT ${selected.join(", ")} FROM donations ${rest}`, args, donationRow);

/** Updates donations and returns them: for content/giving/finality-store.ts. */
export const updateDonations = (
  tx: WriteTransaction,
  update: string,
  args: readonly InValue[],
): Promise<Donation[]> =>
  query(tx, `UPDATE donations ${update} RETURNING ${selected.join(", ")}`, args, donationRow);

/** What is known of a transfer when it is recorded; the other columns say what happens to it later. */
export type NewDonation = Omit<
  Donation,
  "id" | "check_at" | "unknown" | "voided_at" | "void_reason"
>;

/** A block is final after 13 s. */
const firstCheckMs = 20_000;

const insertSql = `INSERT INTO donations (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

/**
 * The statements that record a donation; none if it is recorded already: each transfer has one credit, whichever call comes
 * first. The result may name another nonprofit than was asked for: the transfer is then that one's. A transfer whose
 * donation was voided is recorded again under a new id. Indexes: one_credit_per_transfer, donations_voided.
 */
export async function planDonation(
  store: Queryable,
  transfer: NewDonation,
): Promise<{ donation: Donation; statements: Statement[] }> {
  const { tx_signature, destination, nonprofit_id, recorded_at } = transfer;
  const stands = "WHERE tx_signature = ? AND destination = ? AND voided_at IS NULL";
  const [there] = await select(store, stands, [tx_signature, destination]);
  if (there !== undefined) return { donation: there, statements: [] };
  const isSame = and(
    eq(donations.tx_signature, tx_signature),
    eq(donations.destination, destination),
  );
  const voided = await store.db.$count(donations, and(isSame, isNotNull(donations.voided_at)));
  const isFinal = transfer.commitment === "finalized";
  const donation: Donation = {
    ...transfer,
    id: idOf(transfer, voided),
    check_at: isFinal ? null : recorded_at + firstCheckMs,
    unknown: 0,
    voided_at: null,
    void_reason: null,
  };
  const insert = { sql: insertSql, args: columns.map((name) => donation[name]) };
  const news = isFinal ? await newsOfDonations(store, nonprofit_id, new Date(recorded_at)) : [];
  return { donation, statements: [insert, ...news] };
}

/** Records a donation as `planDonation` plans it, and returns what is recorded. */
export async function recordDonation(
  tx: WriteTransaction,
  transfer: NewDonation,
): Promise<Donation> {
  const { donation, statements } = await planDonation(tx, transfer);
  await doAll(tx, statements);
  return donation;
}

/** Announces to the publisher and in the feed that a nonprofit's final donations have changed. */
export async function newsOfDonations(
  store: Queryable,
  nonprofit_id: number,
  now: Date,
): Promise<Statement[]> {
  const [slug = null] = await valuesOf(store, nonprofits.slug, eq(nonprofits.id, nonprofit_id));
  const change = { kind: "changed", nonprofit_id, slug } as const;
  const fields = [donationsField];
  return appendChanges([{ ...change, fields, moved_lists: [] }], { origin: "chain", now });
}

/** The id is derived from the transfer, so every process makes the same one; 22 URL-safe characters. */
const idOf = (
  { tx_signature, destination }: Pick<Donation, "tx_signature" | "destination">,
  voidedBefore: number,
): string => {
  const transfer = [tx_signature, destination, ...(voidedBefore === 0 ? [] : [voidedBefore])];
  return sha256Of(transfer.join("\n"), "base64url").slice(0, 22);
};

/** A transaction can pay many accounts; fewer than this many fit into one. */
const perTransactionMax = 64;

/** The donations of one transaction. Index: one_credit_per_transfer. */
export const donationsOf = (store: Queryable, txSignature: string): Promise<Donation[]> =>
  select(store, `WHERE tx_signature = ? AND voided_at IS NULL LIMIT ${perTransactionMax}`, [
    txSignature,
  ]);

/** The donations for a memo, oldest first. Index: donations_by_memo. */
export const donationsFor = (store: Queryable, memo: string): Promise<Donation[]> =>
  select(
    store,
    `WHERE memo = ? AND voided_at IS NULL ORDER BY settled_at LIMIT ${perTransactionMax}`,
    [memo],
  );

/** A nonprofit's donation with this id, also a voided one; null if there is none. */
export async function donationById(
  store: Queryable,
  nonprofitId: number,
  id: string,
): Promise<Donation | null> {
  const [donation] = await select(store, "WHERE id = ? AND nonprofit_id = ?", [id, nonprofitId]);
  return donation ?? null;
}

const factName = "donation_network";

/**
 * SQL condition: the row of `donations` is not voided and is on the chain where the directory settles. If no service has
 * opened the store yet, donations on all chains count.
 */
export const countsHere = `voided_at IS NULL AND network = coalesce((SELECT value FROM directory_facts WHERE name = '${factName}'), network)`;

const recentMax = 50;

/** `donationsTo`, restricted to final donations. */
export const finalDonations = (store: Queryable, ids: readonly number[]) =>
  donationsTo(store, ids, `commitment = 'finalized' AND ${countsHere}`);

/**
 * Number, donors and sum of the donations of these nonprofits, by id, with the newest 50 of each, newest first. A
 * nonprofit without donations is left out. Index: donations_by_nonprofit.
 */
export async function donationsTo(store: Queryable, ids: readonly number[], counts = countsHere) {
  const listed = JSON.stringify(ids);
  const totals = await query(
    store,
    `SELECT n.id, n.slug, n.name, count(*) AS count, count(DISTINCT donor) AS donors,
       CAST(sum(amount_micro_usdc) AS TEXT) AS total
     FROM donations JOIN nonprofits AS n ON n.id = nonprofit_id
     WHERE nonprofit_id IN (SELECT value FROM json_each(?)) AND ${counts}
     GROUP BY n.id`,
    [listed],
    totalsRow,
  );
  return Promise.all(
    totals.map(async (nonprofit) => {
      const rest = `WHERE nonprofit_id = ? AND ${counts} ORDER BY settled_at DESC, id LIMIT ?`;
      return { ...nonprofit, recent: await select(store, rest, [nonprofit.id, recentMax]) };
    }),
  );
}

const totalsRow = z.object({
  id: z.number(),
  slug: z.string(),
  name: z.string(),
  count: z.number(),
  donors: z.number(),
  total: z.string().transform((text) => micro(BigInt(text))),
});

/** Ids of nonprofits that ever received a donation, ascending, after the id `after`. Index: donations_by_nonprofit. */
export async function givenToAfter(
  store: Queryable,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await store.db
    .selectDistinct({ id: donations.nonprofit_id })
    .from(donations)
    .where(gt(donations.nonprofit_id, after))
    .orderBy(donations.nonprofit_id)
    .limit(limit);
  return rows.map(({ id }) => id);
}

/**
 * Stores on which chain the directory settles (CAIP-2). Gifts on another chain, such as a test network before launch, keep
 * their receipts but no longer count anywhere.
 */
export async function setDonationNetwork(store: Store, network: string, now: Date): Promise<void> {
  if ((await directoryFact(store, factName)) === network) return;
  // No page shows this fact, so it is no change of the directory.
  await store.write((tx) => noteFact(tx, { name: factName, value: network, now }));
}

const targetRow = rowShape(nonprofits, [
  "id",
  "slug",
  "name",
  "status",
  "usdc_wallet", // The wallet in effect at `now`; null when there is none.
  "donation_url", // Another place where it takes donations. Third-party text.
]);

/** What a donation needs of a nonprofit. */
export type DonateTarget = z.infer<typeof targetRow>;

/** The nonprofit with this slug, even a withdrawn one; null when there is none. Index: nonprofits_slug. */
export const donateTarget = (
  store: Queryable,
  slug: string,
  now: Date,
): Promise<DonateTarget | null> =>
  donateTargets(store, [slug], now).then(([target]) => target ?? null);

/** `donateTarget` for several slugs, in their order. */
export async function donateTargets(
  store: Queryable,
  slugs: readonly string[],
  now: Date,
): Promise<(DonateTarget | null)[]> {
  const values = JSON.stringify([...new Set(slugs)]);
  const targets = await targetsWhere(store, {
    where: "slug IN (SELECT value FROM json_each(?2))",
    value: values,
    now,
  });
  const bySlug = new Map(targets.map((target) => [target.slug, target]));
  return slugs.map((slug) => bySlug.get(slug) ?? null);
}

/** The nonprofit with this id, even a withdrawn one; null when there is none. */
export const donateTargetById = (
  store: Queryable,
  id: number,
  now: Date,
): Promise<DonateTarget | null> =>
  targetsWhere(store, { where: "id = ?2", value: id, now }).then(([target]) => target ?? null);

/**
 * SQL instead of drizzle, because 5,000 requests for payment a second read only this. A held change of wallet counts from
 * the millisecond at which its hold ends, whether or not it is public yet.
 */
const targetsWhere = (
  store: Queryable,
  { where, value, now }: { where: string; value: string | number; now: Date },
): Promise<DonateTarget[]> =>
  query(
    store,
    `SELECT id, slug, name, status, donation_url, coalesce(
       (SELECT wallet FROM wallet_holds AS h WHERE h.nonprofit_id = n.id AND h.status = 'held' AND effective_at <= ?1),
       usdc_wallet
     ) AS usdc_wallet
     FROM nonprofits AS n
     WHERE ${where}`,
    [now.getTime(), value],
    targetRow,
  );
