import { sha256Of } from "#content/runtime/digest.ts";
import { and, eq, gt, sql } from "drizzle-orm";
import { fail, ok } from "#content/contract/base/result.ts";
import { dayMs } from "#content/contract/base/time.ts";
import type { Queryable } from "#content/store/open.ts";
import { builder, statement } from "#content/store/query.ts";
import { idempotencyKeys } from "#content/store/tables/enrichment.ts";
import { type Plan, planned } from "./plan.ts";

const deletionsMax = 20;

/** A request with its Idempotency-Key. Each sender has its own keys: two senders may use the same text. */
type KeyedRequest = {
  route: string;
  /** The sender: the id of an agent, or the digest of an address. */
  sender: string;
  /** Null: carry out the request every time. */
  idempotencyKey: string | null;
  /** Equal for equal requests; see `requestDigest`. */
  digest: () => string;
  now: Date;
};

/** Whether an Idempotency-Key is printable, so that every proxy passes it on unchanged. */
export const isUsableKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/.test(key);

/** A digest by which two requests, as plain data, are compared. */
export const requestDigest = (request: unknown): string =>
  sha256Of(JSON.stringify(request), "base64url");

/**
 * Plans a request once, however often it comes with the same Idempotency-Key. The outcome, plain data, is stored in the same
 * transaction and answers repetitions. Refusals are not stored. Also deletes a few expired answers.
 */
export async function planOnce<Value, Failure>(
  store: Queryable,
  { route, sender, idempotencyKey, digest, now }: KeyedRequest,
  plan: () => Promise<Plan<Value, Failure>>,
): Promise<Plan<Value, Failure | { kind: "idempotency_key_reused" }>> {
  if (idempotencyKey === null) return plan();
  const k = idempotencyKeys;
  const key = `${sender} ${idempotencyKey}`;
  const request_digest = digest();
  const created_at = now.getTime();
  // Answers are stored for 24 h.
  const tooOld = created_at - dayMs;
  const [storedAnswer] = await store.db
    .select({ digest: k.request_digest, body: k.body })
    .from(k)
    .where(and(eq(k.route, route), eq(k.key, key), gt(k.created_at, tooOld)));
  if (storedAnswer !== undefined) {
    // This version or the one before wrote it below, so its shape is known.
    return storedAnswer.digest === request_digest
      ? planned(ok(JSON.parse(storedAnswer.body) as Value))
      : fail({ kind: "idempotency_key_reused" });
  }
  const outcome = await plan();
  if ("failure" in outcome || !outcome.outcome.ok) return outcome;
  const old = sql`SELECT rowid FROM ${k} WHERE ${k.created_at} <= ${tooOld} ORDER BY ${k.created_at} LIMIT ${deletionsMax}`;
  const json = JSON.stringify(outcome.outcome.value);
  const body = outcome.outcomeSql?.(json) ?? json;
  const answer = { request_digest, status: 200, body, created_at };
  const insertion = builder
    .insert(k)
    .values({ route, key, ...answer })
    .onConflictDoUpdate({ target: [k.route, k.key], set: answer });
  const deletion = builder.delete(k).where(sql`rowid IN (${old})`);
  return planned(outcome.outcome, ...outcome.writes, statement(deletion), statement(insertion));
}
