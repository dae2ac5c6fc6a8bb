import { insertMany, unpacked } from "#content/store/query.ts";
import type { WriteTransaction } from "#content/store/open.ts";

/** Answers are honoured for 24 h. Source: decisions.md. */
const keptMs = 86_400_000;
const swept = 20;

type Key = { route: string; key: string };
/** A key that came with a request; whose it is stands in the key. `at`: milliseconds since 1970. */
export type AskedKey = Key & { digest: string; at: number };
export type NewAnswer = AskedKey & { status: number; body: string };
export type KeptAnswer = { kind: "none" } | { kind: "same"; body: string } | { kind: "other" };

/** The answer kept under a key: "same" for the same request, "other" when the key was used for another one. */
export async function keptAnswer(
  tx: WriteTransaction,
  { route, key }: Key,
  digest: string,
  now: Date,
): Promise<KeptAnswer> {
  const [found] = await keptAnswers(tx, [{ route, key, digest, at: now.getTime() }]);
  return found ?? { kind: "none" };
}

/** Keeps an answer, in the transaction that it tells of. */
export const keepAnswer = (
  tx: WriteTransaction,
  { route, key }: Key,
  answer: { digest: string; status: number; body: string },
  now: Date,
): Promise<void> => keepAnswers(tx, [{ route, key, ...answer, at: now.getTime() }]);

/** The answers kept under these keys, in their order: "other" when a key was used for another request. */
export async function keptAnswers(
  tx: WriteTransaction,
  asked: readonly AskedKey[],
): Promise<KeptAnswer[]> {
  const answers: KeptAnswer[] = asked.map(() => ({ kind: "none" }));
  if (asked.length === 0) return answers;
  const { rows } = await tx.raw.execute({
    sql: `SELECT json_object('at', w.key, 'digest', k.request_digest, 'body', k.body) AS packed
          FROM json_each(?) AS w
          CROSS JOIN idempotency_keys AS k ON k.route = w.value ->> 0 AND k.key = w.value ->> 1
          WHERE k.created_at > w.value ->> 2`,
    args: [JSON.stringify(asked.map(({ route, key, at }) => [route, key, at - keptMs]))],
  });
  for (const found of unpacked<{ at: number; digest: string; body: string }>(rows)) {
    const same = found.digest === asked[found.at]?.digest;
    answers[found.at] = same ? { kind: "same", body: found.body } : { kind: "other" };
  }
  return answers;
}

const columns = ["route", "key", "request_digest", "status", "body", "created_at"];

/** Keeps answers, in the transaction that they tell of, and sweeps out a few that are too old. */
export async function keepAnswers(
  tx: WriteTransaction,
  answers: readonly NewAnswer[],
): Promise<void> {
  const oldest = Math.min(...answers.map(({ at }) => at));
  await tx.raw.execute({
    sql: `DELETE FROM idempotency_keys WHERE rowid IN (
            SELECT rowid FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?
          )`,
    args: [oldest - keptMs, swept * answers.length],
  });
  await insertMany(
    tx,
    "idempotency_keys",
    columns,
    answers.map(({ route, key, digest, status, body, at }) => [
      route,
      key,
      digest,
      status,
      body,
      at,
    ]),
    `ON CONFLICT (route, key) DO UPDATE SET
       request_digest = excluded.request_digest, status = excluded.status, body = excluded.body,
       created_at = excluded.created_at`,
  );
}
