import type { WriteTransaction } from "./open.ts";

/** Answers are honoured for 24 h. Source: decisions.md. */
const keptMs = 86_400_000;
const swept = 20;

export type KeptAnswer = { kind: "none" } | { kind: "same"; body: string } | { kind: "other" };

type Key = { route: string; key: string };

/** The answer kept under a key: "same" for the same request, "other" when the key was used for another one. */
export async function keptAnswer(
  tx: WriteTransaction,
  { route, key }: Key,
  digest: string,
  now: Date,
): Promise<KeptAnswer> {
  const { rows } = await tx.raw.execute({
    sql: `SELECT request_digest, body FROM idempotency_keys
          WHERE route = ? AND key = ? AND created_at > ?`,
    args: [route, key, now.getTime() - keptMs],
  });
  const [row] = rows;
  if (row === undefined) return { kind: "none" };
  if (row["request_digest"] !== digest) return { kind: "other" };
  return { kind: "same", body: String(row["body"]) };
}

/** Keeps an answer, in the transaction that it tells of, and sweeps out a few that are too old. */
export async function keepAnswer(
  tx: WriteTransaction,
  { route, key }: Key,
  answer: { digest: string; status: number; body: string },
  now: Date,
): Promise<void> {
  await tx.raw.execute({
    sql: `DELETE FROM idempotency_keys WHERE rowid IN (
            SELECT rowid FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ${swept}
          )`,
    args: [now.getTime() - keptMs],
  });
  await tx.raw.execute({
    sql: `INSERT INTO idempotency_keys (route, key, request_digest, status, body, created_at)
          VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT (route, key) DO UPDATE SET
            request_digest = excluded.request_digest, status = excluded.status, body = excluded.body,
            created_at = excluded.created_at`,
    args: [route, key, answer.digest, answer.status, answer.body, now.getTime()],
  });
}
