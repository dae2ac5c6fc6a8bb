import { createHash } from "node:crypto";
import type { ConsensusMode } from "#content/rules/consensus.ts";
import type { EnrichmentRequest } from "#content/rules/read-enrichment.ts";
import { fail, ok, type Result } from "#content/shapes/result.ts";
import {
  type EnrichTarget,
  enrichTarget,
  type OwnSubmission,
} from "#content/store/enrich-target.ts";
import type { EnrichmentTally } from "#content/store/enrichment-tally.ts";
import { newestChangeOf } from "#content/store/history.ts";
import { keepAnswer, keptAnswer } from "#content/store/idempotency.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import {
  fieldStanding,
  type Rejection,
  runningConfidence,
  type StoredSubmission,
} from "#content/store/submissions.ts";
import { corroborates, storeSubmission } from "./store-submission.ts";

export type StoreFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "idempotency_key_reused" };

export type StoredItem = Pick<
  StoredSubmission,
  "id" | "field" | "field_type" | "status" | "audit_only" | "confidence" | "reason"
> & {
  corroborates: boolean;
  rivals: boolean;
  prior_rejections: Rejection[];
};

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
export type EnrichOutcome = {
  slug: string;
  name: string;
  items: StoredItem[];
  /** The newest change that made one of these values live; null when none is live. */
  sequence: number | null;
};

export type EnrichJob = {
  request: EnrichmentRequest;
  slug: string;
  idempotencyKey: string | null;
  network: string | null;
  mode: ConsensusMode;
  now: Date;
};

/** Stores all submissions of one request, or none, inside the caller's transaction. */
export async function storeEnrichment(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  job: EnrichJob,
): Promise<Result<EnrichOutcome, StoreFailure>> {
  const { request, slug, idempotencyKey, now } = job;
  // An agent's keys are its own: another one may use the same text.
  const kept = { route: "enrich", key: `${request.agent_id} ${idempotencyKey ?? ""}` };
  const digest = idempotencyKey === null ? "" : digestOf(job);
  if (idempotencyKey !== null) {
    const found = await keptAnswer(tx, kept, digest, now);
    if (found.kind === "same") return ok(JSON.parse(found.body) as EnrichOutcome);
    if (found.kind === "other") return fail({ kind: "idempotency_key_reused" });
  }
  const target = await enrichTarget(tx.raw, slug, request.agent_id);
  if (target === null) return fail({ kind: "nonprofit_not_found", slug });
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const items: StoredItem[] = [];
  let sequence: number | null = null;
  for (const item of request.items) {
    const stored = await oneItem(tx, tally, { job, target, item });
    items.push(stored.item);
    sequence = Math.max(sequence ?? 0, stored.sequence ?? 0) || null;
  }
  const outcome = { slug: target.slug, name: target.name, items, sequence };
  if (idempotencyKey !== null) {
    await keepAnswer(tx, kept, { digest, status: 200, body: JSON.stringify(outcome) }, now);
  }
  return ok(outcome);
}

export type OneItem = {
  job: EnrichJob;
  target: EnrichTarget;
  item: EnrichmentRequest["items"][number];
};

/** An agent that sends the same value again is answered with the submission it has; else a new one is stored. */
async function oneItem(tx: WriteTransaction, tally: EnrichmentTally, one: OneItem) {
  const { target, item } = one;
  const own = target.own.find(
    ({ field, normalised_value, status }) =>
      field === item.field && normalised_value === item.normalised_value && status !== "rejected",
  );
  if (own === undefined || !stillStands(own, target)) {
    const stored = await storeSubmission(tx, tally, one);
    return { item: described(stored.submission, stored), sequence: stored.sequence };
  }
  const waits = own.status === "pending" && own.audit_only === 0 && own.field_type === "structured";
  const { rivals, rejections } = await fieldStanding(tx.raw, own);
  const confidence =
    waits || own.status === "applied" ? 1 : (await runningConfidence(tx.raw, own)) - 1;
  const sequence = own.status === "applied" ? await newestChangeOf(tx.raw, target.id) : null;
  const again = { ...own, confidence: Math.max(own.confidence, confidence) };
  return { item: described(again, { rivals: waits && rivals, rejections }), sequence };
}

/** False when the field was emptied since: then the value counts anew. */
function stillStands(own: OwnSubmission, target: EnrichTarget): boolean {
  if (target.live(own.field) !== null) return true;
  if (own.status === "applied") return own.field === "programme" || own.field === "impact_metric";
  return own.audit_only === 0;
}

const described = (
  one: OwnSubmission,
  { rivals, rejections }: { rivals: boolean; rejections: Rejection[] },
): StoredItem => ({
  id: one.id,
  field: one.field,
  field_type: one.field_type,
  status: one.status,
  audit_only: one.audit_only,
  confidence: one.confidence,
  reason: one.reason,
  corroborates: one.reason === corroborates,
  rivals,
  prior_rejections: rejections,
});

const digestOf = ({ slug, request }: EnrichJob): string =>
  createHash("sha256")
    .update(JSON.stringify([slug, request]))
    .digest("base64url");
