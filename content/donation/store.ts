import { createHash } from "node:crypto";
import { micro } from "./money.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { countsHere } from "./network.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { jsonOf, unpacked } from "#content/store/packed.ts";

/** A recorded donation with the evidence that the chain gave. */
export type Donation = {
  id: string;
  nonprofit_id: number;
  /** What arrived. */
  amount_micro_usdc: MicroUsdc;
  /** CAIP-2. */
  network: string;
  tx_signature: string;
  slot: number;
  commitment: "confirmed" | "finalized";
  /** The token account that lost the money; null when several did, or when that was not kept yet. */
  source: string | null;
  /** The wallet that was paid. */
  recipient: string;
  /** Its token account. */
  destination: string;
  mint: string;
  donor: string | null;
  memo: string | null;
  /** Block time, milliseconds since 1970. */
  settled_at: number;
  recorded_at: number;
};

/** `fresh`: this call recorded it; otherwise it was there already. */
export type Recorded = { donation: Donation; fresh: boolean };

const texts = [
  "id",
  "network",
  "tx_signature",
  "commitment",
  "source",
  "recipient",
  "destination",
  "mint",
  "donor",
  "memo",
] as const;
const numbers = ["nonprofit_id", "slot", "settled_at", "recorded_at"] as const;

// Money leaves the store as text: a double would round what a whale gives.
const packedDonation = `json_patch(${jsonOf([...texts, ...numbers])},
  json_object('amount_micro_usdc', CAST(amount_micro_usdc AS TEXT))) AS packed`;

type Packed = Omit<Donation, "amount_micro_usdc"> & { amount_micro_usdc: string };

const donationOf = (row: Packed): Donation => ({
  ...row,
  donor: row.donor ?? null,
  source: row.source ?? null,
  memo: row.memo ?? null,
  amount_micro_usdc: micro(BigInt(row.amount_micro_usdc)),
});

/**
 * Records a donation, or finds it recorded already: the database holds one credit for each transfer, whoever comes
 * first. The answer may name another nonprofit than was asked for: then the transfer is that one's.
 */
export async function recordDonation(
  tx: WriteTransaction,
  given: Omit<Donation, "id">,
): Promise<Recorded> {
  const donation = { ...given, id: idOf(given) };
  const names = [...texts, ...numbers, "amount_micro_usdc"] as const;
  const { rowsAffected } = await tx.raw.execute({
    sql: `INSERT INTO donations (${names.join(", ")})
          VALUES (${names.map(() => "?").join(", ")})
          ON CONFLICT DO NOTHING`,
    args: names.map((name) => donation[name]),
  });
  if (rowsAffected === 1) return { donation, fresh: true };
  const there = (await donationsOf(tx, given.tx_signature)).find(
    ({ destination }) => destination === given.destination,
  );
  if (there === undefined) throw new Error(`no donation came back for ${donation.id}`);
  return { donation: there, fresh: false };
}

/** The same for every process that sees the transfer. 22 characters that stand in a path as they are. */
const idOf = ({ tx_signature, destination }: Pick<Donation, "tx_signature" | "destination">) =>
  createHash("sha256").update(`${tx_signature}\n${destination}`).digest("base64url").slice(0, 22);

/** A transaction can pay many accounts; these are more than fit into one. */
const perTransactionMax = 64;

/** What one transaction gave. Index: one_credit_per_transfer. */
export const donationsOf = (store: Queryable, txSignature: string): Promise<Donation[]> =>
  select(store, `WHERE tx_signature = ? LIMIT ${perTransactionMax}`, [txSignature]);

/** What was given for a memo, the oldest first. Index: donations_by_memo. */
export const donationsFor = (store: Queryable, memo: string): Promise<Donation[]> =>
  select(store, `WHERE memo = ? ORDER BY settled_at LIMIT ${perTransactionMax}`, [memo]);

/** One donation of a nonprofit, null when it has none by this id. */
export async function donationById(
  store: Queryable,
  nonprofitId: number,
  id: string,
): Promise<Donation | null> {
  const [found] = await select(store, "WHERE id = ? AND nonprofit_id = ?", [id, nonprofitId]);
  return found ?? null;
}

export type DonationTotals = { count: number; total: MicroUsdc };

/** Number and sum of a nonprofit's donations. Index: donations_by_nonprofit. */
export async function donationTotals(
  store: Queryable,
  nonprofitId: number,
): Promise<DonationTotals> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS count, CAST(coalesce(sum(amount_micro_usdc), 0) AS TEXT) AS total
          FROM donations
          WHERE nonprofit_id = ? AND ${countsHere}`,
    args: [nonprofitId],
  });
  const [row] = rows;
  return { count: Number(row?.["count"] ?? 0), total: micro(BigInt(String(row?.["total"] ?? 0))) };
}

/** The newest donations of a nonprofit, newest first. Index: donations_by_nonprofit. */
export const recentDonations = (
  store: Queryable,
  nonprofitId: number,
  limit: number,
): Promise<Donation[]> =>
  select(store, `WHERE nonprofit_id = ? AND ${countsHere} ORDER BY settled_at DESC, id LIMIT ?`, [
    nonprofitId,
    limit,
  ]);

async function select(
  store: Queryable,
  where: string,
  args: (string | number)[],
): Promise<Donation[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${packedDonation} FROM donations ${where}`,
    args,
  });
  return unpacked<Packed>(rows).map(donationOf);
}
