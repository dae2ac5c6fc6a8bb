import { micro } from "./money.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { packed, unpacked } from "#content/store/packed.ts";

/**
 * Something that was handed in and is not settled yet. payment: signed, and ours to broadcast; proof: a signature that
 * somebody named; watch: a memo whose transfer somebody waits for.
 */
export type DonationIntent = {
  id: number;
  kind: "payment" | "proof" | "watch";
  nonprofit_id: number;
  /** Signature of the transaction; of a watch the memo. */
  proof: string;
  /** The wallet in effect when it first came; null without one. */
  recipient: string | null;
  /** What was asked for. */
  amount_micro_usdc: MicroUsdc;
  /** The signed transaction in base64, while it may still be broadcast. */
  payment: string | null;
  blockhash: string | null;
  status: "waiting" | "settled" | "refused" | "lapsed";
  outcome: string | null;
  /** How often the sweep has looked. */
  checks: number;
  /** How often a clear answer was that it is not there, at a time when it would have been. */
  unknown: number;
  created_at: number;
};

const columns = [
  "id",
  "kind",
  "nonprofit_id",
  "proof",
  "recipient",
  "amount_micro_usdc",
  "payment",
  "blockhash",
  "status",
  "outcome",
  "checks",
  "unknown",
  "created_at",
];

/** So many unsettled proofs and watches are kept; whoever floods the directory with made-up signatures fills no disk. */
const waitingMax = 20_000;

export type NewIntent = Pick<
  DonationIntent,
  "kind" | "nonprofit_id" | "proof" | "recipient" | "amount_micro_usdc" | "payment" | "blockhash"
> & { now: Date; check_at: number };

/**
 * Keeps an intent, so that the sweep follows it. One that is there already stays what it was, with its instant and
 * recipient, but waits anew; a settled one is left alone. Payments are always kept, proofs and watches while there is room.
 */
export async function keepIntent(tx: WriteTransaction, given: NewIntent): Promise<void> {
  const {
    kind,
    nonprofit_id,
    proof,
    recipient,
    amount_micro_usdc,
    payment,
    blockhash,
    now,
    check_at,
  } = given;
  await tx.raw.execute({
    sql: `INSERT INTO donation_intents
            (kind, nonprofit_id, proof, amount_micro_usdc, payment, blockhash, status, check_at, created_at, recipient)
          SELECT ?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8, ?9
          WHERE ?1 = 'payment' OR ${waitingMax} > (
            SELECT count(*) FROM (
              SELECT 1 FROM donation_intents WHERE status = 'waiting' LIMIT ${waitingMax}
            )
          )
          ON CONFLICT (nonprofit_id, proof) DO UPDATE SET
            kind = CASE WHEN excluded.kind = 'payment' THEN 'payment' ELSE kind END,
            payment = coalesce(excluded.payment, payment),
            blockhash = coalesce(excluded.blockhash, blockhash),
            checks = 0, unknown = 0, check_at = excluded.check_at, status = 'waiting', outcome = NULL
          WHERE status <> 'settled'`,
    args: [
      kind,
      nonprofit_id,
      proof,
      amount_micro_usdc,
      payment,
      blockhash,
      check_at,
      now.getTime(),
      recipient,
    ],
  });
}

/** What was handed in for a nonprofit under this proof, null for nothing. Index: donation_intents_once. */
export async function intentOf(
  store: Queryable,
  nonprofitId: number,
  proof: string,
): Promise<DonationIntent | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${packed(columns)} FROM donation_intents WHERE nonprofit_id = ? AND proof = ?`,
    args: [nonprofitId, proof],
  });
  return intentsFrom(rows)[0] ?? null;
}

/** Whether it is a payment that a process of this directory is broadcasting, or the sweep is. */
export const isUnderWay = (intent: DonationIntent | null): boolean =>
  intent?.kind === "payment" && intent.status === "waiting";

/** Notes that a clear answer did not know it, though it should have landed by now if it ever will. */
export async function noteUnknown(tx: WriteTransaction, { id }: { id: number }): Promise<void> {
  await tx.raw.execute({
    sql: "UPDATE donation_intents SET unknown = unknown + 1 WHERE id = ?",
    args: [id],
  });
}

/** How an intent ended. A settled one stays settled. */
export async function closeIntent(
  tx: WriteTransaction,
  one: Pick<DonationIntent, "nonprofit_id" | "proof"> & {
    status: "settled" | "refused" | "lapsed";
    outcome: string | null;
  },
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE donation_intents SET status = ?, outcome = ?, payment = NULL
          WHERE nonprofit_id = ? AND proof = ? AND status <> 'settled'`,
    args: [one.status, one.outcome, one.nonprofit_id, one.proof],
  });
}

/** Whether the sweep has anything to look at. Index: donation_intents_by_check. */
export async function isAnyDue(store: Queryable, now: Date): Promise<boolean> {
  const { rows } = await store.raw.execute({
    sql: "SELECT 1 FROM donation_intents WHERE status = 'waiting' AND check_at <= ? LIMIT 1",
    args: [now.getTime()],
  });
  return rows.length > 0;
}

/**
 * Takes the intents that are due, payments first (anybody can make up proofs), then the longest due, and puts each off:
 * doubled from `firstMs`, at most `mostMs`
 * (of a watch ten times that). A process that stops while it looks leaves them to the next. Index:
 * donation_intents_by_check.
 */
export async function takeDueIntents(
  tx: WriteTransaction,
  { now, limit, firstMs, mostMs }: { now: Date; limit: number; firstMs: number; mostMs: number },
): Promise<DonationIntent[]> {
  const { rows } = await tx.raw.execute({
    sql: `UPDATE donation_intents
          SET checks = checks + 1,
            check_at = ?1 + min(?3 << min(checks, 16), CASE kind WHEN 'watch' THEN 10 * ?4 ELSE ?4 END)
          WHERE id IN (
            SELECT id FROM donation_intents
            WHERE status = 'waiting' AND check_at <= ?1
            ORDER BY kind <> 'payment', check_at
            LIMIT ?2
          )
          RETURNING ${packed(columns)}`,
    args: [now.getTime(), limit, firstMs, mostMs],
  });
  return intentsFrom(rows);
}

/** Forgets what ended before an instant, at most `limit` of them. Answers how many. */
export async function forgetIntents(
  tx: WriteTransaction,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `DELETE FROM donation_intents WHERE id IN (
            SELECT id FROM donation_intents WHERE status <> 'waiting' AND created_at < ? LIMIT ?
          )`,
    args: [before.getTime(), limit],
  });
  return rowsAffected;
}

type Packed = Omit<DonationIntent, "amount_micro_usdc"> & { amount_micro_usdc: number };

const intentsFrom = (rows: Parameters<typeof unpacked>[0]): DonationIntent[] =>
  unpacked<Packed>(rows).map((row) => ({
    ...row,
    // What is asked for is at most 10,000 USDC.
    amount_micro_usdc: micro(BigInt(row.amount_micro_usdc)),
  }));
