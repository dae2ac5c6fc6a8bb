import { createHash } from "node:crypto";
import { corroborates } from "#content/enrichment/promotion-note.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { type EnrichTarget, enrichTargets } from "#content/enrichment/target.ts";
import { EnrichmentWrites } from "#content/enrichment/writes.ts";
import { type AskedKey, type KeptAnswer, keptAnswers } from "#content/operation/idempotency.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import type { EnrichJob, EnrichOutcome, Group, StoredItem, StoreFailure, Stored } from "./job.ts";
import { storeSubmission } from "./store-submission.ts";

type Outcome = Result<EnrichOutcome, StoreFailure>;

/** A job with its place in order of arrival, and what its Idempotency-Key asks for. */
type Placed = { job: EnrichJob; place: number; key: AskedKey | null };

/**
 * Stores all submissions of each request, or none of it, inside the caller's transaction: as if one request after the
 * other, but looked up and written together. Answers outcomes in the order of the jobs.
 */
export async function storeEnrichments(
  tx: WriteTransaction,
  jobs: readonly EnrichJob[],
): Promise<Outcome[]> {
  const writes = await EnrichmentWrites.begin(tx);
  const outcomes: Outcome[] = [];
  for (const wave of waves(jobs.map((job, place) => ({ job, place, key: askedKey(job) })))) {
    const kept = await keptAnswers(
      tx,
      wave.flatMap(({ key }) => key ?? []),
    );
    const targets = await enrichTargets(tx, wave.map(wantedBy));
    for (const [at, { job, place, key }] of wave.entries()) {
      const known = key === null ? null : outcomeOf(kept.shift());
      const target = targets[at] ?? null;
      const outcome = known ?? (await storeOne({ tx, writes, place }, job, target));
      if (key !== null && known === null && outcome.ok) {
        writes.keepAnswer({ ...key, status: 200, body: JSON.stringify(outcome.value) });
      }
      outcomes[place] = outcome;
    }
    await writes.flush();
  }
  await writes.end();
  return outcomes;
}

/**
 * Jobs parted so that no two in one wave are about the same nonprofit or use the same Idempotency-Key: those cannot see
 * each other, so one look serves them all. What may see another comes in a later wave, in the order of arrival.
 */
function waves(jobs: readonly Placed[]): Placed[][] {
  const parted: Placed[][] = [];
  const next = new Map<string, number>();
  for (const one of jobs) {
    const { job, key } = one;
    const touched = [`slug ${job.slug}`, ...(key === null ? [] : [`key ${key.key}`])];
    const wave = Math.max(...touched.map((name) => next.get(name) ?? 0));
    for (const name of touched) next.set(name, wave + 1);
    (parted[wave] ??= []).push(one);
  }
  return parted;
}

const wantedBy = ({ job: { slug, request } }: Placed) => ({
  slug,
  agent_id: request.agent_id,
  items: request.items,
});

/** An agent's keys are its own: another one may use the same text. Null for a request without a key. */
function askedKey({ idempotencyKey, request, slug, now }: EnrichJob): AskedKey | null {
  if (idempotencyKey === null) return null;
  const digest = createHash("sha256")
    .update(JSON.stringify([slug, request]))
    .digest("base64url");
  return {
    route: "enrich",
    key: `${request.agent_id} ${idempotencyKey}`,
    digest,
    at: now.getTime(),
  };
}

/** What a kept answer says; null when there is none and the request is to be done. */
function outcomeOf(kept: KeptAnswer | undefined): Outcome | null {
  if (kept === undefined || kept.kind === "none") return null;
  if (kept.kind === "other") return fail({ kind: "idempotency_key_reused" });
  return ok(JSON.parse(kept.body) as EnrichOutcome);
}

async function storeOne(
  group: Group,
  job: EnrichJob,
  target: EnrichTarget | null,
): Promise<Outcome> {
  if (target === null) return fail({ kind: "nonprofit_not_found", slug: job.slug });
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug: job.slug });
  const items: StoredItem[] = [];
  let sequence: number | null = null;
  for (const [at, item] of job.request.items.entries()) {
    const standing = target.standings[at];
    if (standing === undefined) throw new Error(`nothing was asked about ${item.field}`);
    const stored = await storeSubmission(group, { job, target, item, standing });
    items.push(described(stored));
    sequence = Math.max(sequence ?? 0, stored.sequence ?? 0) || null;
  }
  return ok({ slug: target.slug, name: target.name, items, sequence });
}

const described = ({ submission, rivals, rejections }: Stored): StoredItem => ({
  id: submission.id,
  field: submission.field,
  field_type: submission.field_type,
  status: submission.status,
  audit_only: submission.audit_only,
  confidence: submission.confidence,
  reason: submission.reason,
  corroborates: submission.reason === corroborates,
  rivals,
  prior_rejections: rejections,
});
