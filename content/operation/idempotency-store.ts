import { createHash } from "node:crypto";
import { and, eq, gt, sql } from "drizzle-orm";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { idempotencyKeys } from "#content/store/tables/enrichment.ts";

/** Answers are honoured for 24 h. Source: the decisions of the spec. */
const keptMs = 86_400_000;
const sweptMax = 20;

/** A request with the key under which it is done once: keys are the sender's own, another may use the same text. */
type KeyedRequest = {
  route: string;
  /** Who sends it: the id of an agent, or the digest of an address. */
  sender: string;
  /** Null: the request is done however often it comes. */
  idempotencyKey: string | null;
  /** Equal for equal requests: `requestDigest`. */
  digest: () => string;
  now: Date;
};

/** Whether an Idempotency-Key is printable, so that it is the same thing to every proxy on its way. */
export const isUsableKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/.test(key);

/** What makes two requests, plain data, the same. */
export const requestDigest = (request: unknown): string =>
  createHash("sha256").update(JSON.stringify(request)).digest("base64url");

/**
 * Does what is asked for once, however often the request is sent with the same Idempotency-Key: the outcome, plain
 * data, is kept in the transaction that it is about, and answers the repetitions. A refusal is not kept. Forgets a few
 * answers that are too old.
 */
export async function answerOnce<Value, Failure>(
  tx: WriteTransaction,
  { route, sender, idempotencyKey, digest, now }: KeyedRequest,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | { kind: "idempotency_key_reused" }>> {
  if (idempotencyKey === null) return work();
  const k = idempotencyKeys;
  const key = `${sender} ${idempotencyKey}`;
  const request_digest = digest();
  const created_at = now.getTime();
  const tooOld = created_at - keptMs;
  const [known] = await tx.db
    .select({ digest: k.request_digest, body: k.body })
    .from(k)
    .where(and(eq(k.route, route), eq(k.key, key), gt(k.created_at, tooOld)));
  if (known !== undefined) {
    // It was written below, by this version or the one before, so its shape is known.
    return known.digest === request_digest
      ? ok(JSON.parse(known.body) as Value)
      : fail({ kind: "idempotency_key_reused" });
  }
  const outcome = await work();
  if (!outcome.ok) return outcome;
  const old = sql`SELECT rowid FROM ${k} WHERE ${k.created_at} <= ${tooOld} ORDER BY ${k.created_at} LIMIT ${sweptMax}`;
  await tx.db.delete(k).where(sql`rowid IN (${old})`);
  const body = JSON.stringify(outcome.value);
  const answer = { request_digest, status: 200, body, created_at };
  await tx.db
    .insert(k)
    .values({ route, key, ...answer })
    .onConflictDoUpdate({ target: [k.route, k.key], set: answer });
  return outcome;
}
