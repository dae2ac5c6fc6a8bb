import { createHash } from "node:crypto";
import { and, eq, gt, sql } from "drizzle-orm";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { idempotencyKeys } from "#content/store/tables/enrichment.ts";

/** Answers are honoured for 24 h. Source: decisions.md. */
const keptMs = 86_400_000;
const sweptMax = 20;

type Key = { route: string; key: string };
export type KeptAnswer = { kind: "none" } | { kind: "same"; body: string } | { kind: "other" };

/** An agent's request: its keys are its own, another agent may use the same text. A null key asks for nothing. */
type AgentRequest = {
  route: string;
  agent_id: string;
  idempotencyKey: string | null;
  /** What makes two requests the same: plain data. */
  request: unknown;
  now: Date;
};

/**
 * Does what an agent asks for once, however often it sends the request with the same Idempotency-Key: the outcome,
 * plain data, is kept in the transaction that it is about, and answers the repetitions. A refusal is not kept.
 */
export async function answerOnce<Value, Failure>(
  tx: WriteTransaction,
  { route, agent_id, idempotencyKey, request, now }: AgentRequest,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | { kind: "idempotency_key_reused" }>> {
  if (idempotencyKey === null) return work();
  const key = { route, key: `${agent_id} ${idempotencyKey}` };
  const digest = createHash("sha256").update(JSON.stringify(request)).digest("base64url");
  const kept = await keptAnswer(tx, key, digest, now);
  // It was written below, by this version or the one before, so its shape is known.
  if (kept.kind === "same") return ok(JSON.parse(kept.body) as Value);
  if (kept.kind === "other") return fail({ kind: "idempotency_key_reused" });
  const outcome = await work();
  if (!outcome.ok) return outcome;
  await keepAnswer(tx, key, { digest, status: 200, body: JSON.stringify(outcome.value) }, now);
  return outcome;
}

/** The answer kept under a key: "same" for the same request, "other" when the key was used for another one. */
export async function keptAnswer(
  tx: WriteTransaction,
  { route, key }: Key,
  digest: string,
  now: Date,
): Promise<KeptAnswer> {
  const [kept] = await tx.db
    .select({ digest: idempotencyKeys.request_digest, body: idempotencyKeys.body })
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.route, route),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.created_at, now.getTime() - keptMs),
      ),
    );
  if (kept === undefined) return { kind: "none" };
  return kept.digest === digest ? { kind: "same", body: kept.body } : { kind: "other" };
}

/** Keeps an answer, in the transaction that it is about, and deletes a few that are too old. */
export async function keepAnswer(
  tx: WriteTransaction,
  { route, key }: Key,
  { digest, status, body }: { digest: string; status: number; body: string },
  now: Date,
): Promise<void> {
  const created_at = now.getTime();
  await tx.db.delete(idempotencyKeys).where(
    sql`rowid IN (
      SELECT rowid FROM ${idempotencyKeys}
      WHERE ${idempotencyKeys.created_at} <= ${created_at - keptMs}
      ORDER BY ${idempotencyKeys.created_at}
      LIMIT ${sweptMax}
    )`,
  );
  const answer = { request_digest: digest, status, body, created_at };
  await tx.db
    .insert(idempotencyKeys)
    .values({ route, key, ...answer })
    .onConflictDoUpdate({ target: [idempotencyKeys.route, idempotencyKeys.key], set: answer });
}
