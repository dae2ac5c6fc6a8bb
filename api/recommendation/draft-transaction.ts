import { createHash } from "node:crypto";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { decideDraft, type DraftDecision } from "#content/recommendation/draft-decision.ts";
import { normaliseIntents } from "#content/recommendation/donor-intents.ts";
import type { DraftRequest } from "#content/recommendation/read-draft.ts";
import type { DraftStatus } from "#content/contract/recommendation-draft.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { logOperator } from "#content/operation/audit-log.ts";
import { isInFile } from "#content/recommendation/curation.ts";
import {
  agentsBehind,
  insertDraft,
  operatorRefused,
  ownDrafts,
  type RefusedDraft,
  refusedDrafts,
  settleDraft,
  type StoredDraft,
  waitingDrafts,
} from "#content/recommendation/drafts.ts";
import { keepAnswer, keptAnswer } from "#content/operation/idempotency.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { addPick, pickOf } from "#content/recommendation/picks.ts";
import { recordBySlug } from "#content/nonprofit/records.ts";

export type DraftFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "idempotency_key_reused" };

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
export type DraftOutcome = {
  draft_id: number;
  slug: string;
  name: string;
  status: DraftStatus;
  /** "applied": the same agent's same draft had been applied before. */
  decision: DraftDecision | { kind: "applied" };
  confidence: number;
  sensitive_claims: string[];
  refused: RefusedDraft[];
};

export type DraftJob = {
  request: DraftRequest;
  idempotencyKey: string | null;
  network: string | null;
  phase: Exclude<GovernancePhase, 1>;
  mode: ConsensusMode;
  now: Date;
};

/** Stores a draft, and promotes the profile when agents agree, inside the caller's transaction: all of it or nothing. */
export async function storeDraft(
  tx: WriteTransaction,
  job: DraftJob,
): Promise<Result<DraftOutcome, DraftFailure>> {
  const { request, idempotencyKey, now } = job;
  const kept = { route: "draft", key: `${request.agent_id} ${idempotencyKey ?? ""}` };
  const digest = createHash("sha256").update(JSON.stringify(request)).digest("base64url");
  if (idempotencyKey !== null) {
    const found = await keptAnswer(tx, kept, digest, now);
    if (found.kind === "same") return ok(JSON.parse(found.body) as DraftOutcome);
    if (found.kind === "other") return fail({ kind: "idempotency_key_reused" });
  }
  const { slug } = request;
  const record = await recordBySlug(tx, slug);
  if (record === null) return fail({ kind: "nonprofit_not_found", slug });
  if (record.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const done = await decideAndStore(tx, job, record.id);
  const { name } = record;
  const { sensitive_claims } = request;
  const refused = await refusedDrafts(tx, record.id);
  const outcome: DraftOutcome = { ...done, slug, name, sensitive_claims, refused };
  if (idempotencyKey !== null) {
    await keepAnswer(tx, kept, { digest, status: 200, body: JSON.stringify(outcome) }, now);
  }
  return ok(outcome);
}

type Done = Pick<DraftOutcome, "draft_id" | "status" | "decision" | "confidence">;

async function decideAndStore(
  tx: WriteTransaction,
  job: DraftJob,
  nonprofit_id: number,
): Promise<Done> {
  const { request, phase, mode, network } = job;
  const { agent_id, normalised } = request;
  const own = await ownDrafts(tx, { nonprofit_id, agent_id });
  const before = own.find((one) => one.status === "applied" && one.normalised === normalised);
  if (before !== undefined) {
    const confidence = await agentsBehind(tx, before);
    return { draft_id: before.id, status: "applied", decision: { kind: "applied" }, confidence };
  }
  const waiting = await waitingDrafts(tx, { nonprofit_id, normalised });
  const decision = decideDraft({
    phase,
    mode,
    mine: { agent_id, network, normalised_value: normalised },
    sensitive: request.sensitive_claims.length > 0,
    test_data: request.test_data,
    waiting: waiting.filter((one) => one.agent_id !== agent_id).map(voiceOf),
    live: await livePick(tx, { nonprofit_id, slug: request.slug }),
    refused: await operatorRefused(tx, { nonprofit_id, slug: request.slug }),
  });
  const applied = decision.kind === "promoted" || decision.kind === "corroborates";
  const draft_id = await settleOwn(tx, job, { nonprofit_id, own, applied });
  if (decision.kind === "promoted") {
    const agreeing = waiting.filter(
      (one) => one.agent_id !== agent_id && countsTowardAgreement(one),
    );
    await promote(tx, { nonprofit_id, agreeing, decision, draft_id, job });
  }
  const confidence = await agentsBehind(tx, { nonprofit_id, normalised });
  return { draft_id, status: applied ? "applied" : "pending", decision, confidence };
}

const voiceOf = (draft: StoredDraft) => ({
  id: draft.id,
  agent_id: draft.agent_id,
  network: draft.network,
  normalised_value: draft.normalised,
  counts: countsTowardAgreement(draft),
});

const countsTowardAgreement = ({ sensitive_claims, test_data }: StoredDraft): boolean =>
  sensitive_claims.length === 0 && test_data === 0;

async function livePick(tx: WriteTransaction, of: { nonprofit_id: number; slug: string }) {
  if (isInFile(of.slug)) return { by_consensus: false, normalised_value: "" };
  const pick = await pickOf(tx, of.nonprofit_id);
  if (pick === null) return null;
  return {
    by_consensus: pick.origin === "consensus",
    normalised_value: normaliseIntents(pick.recommended_for),
  };
}

/** An agent has one waiting draft per nonprofit: the same again is the one it has, another one replaces it. */
async function settleOwn(
  tx: WriteTransaction,
  { request, network, phase, now }: DraftJob,
  { nonprofit_id, own, applied }: { nonprofit_id: number; own: StoredDraft[]; applied: boolean },
): Promise<number> {
  const at = now.getTime();
  const mine = own.find(({ status }) => status === "pending");
  const isSame =
    mine?.normalised === request.normalised &&
    mine.why_recommended === request.why_recommended &&
    mine.source_url === request.source_url;
  if (mine !== undefined && isSame) {
    const decided_by = "consensus";
    if (applied)
      await settleDraft(tx, mine.id, { status: "applied", reason: null, decided_by, at });
    return mine.id;
  }
  if (mine !== undefined) {
    const reason = "replaced by the same agent";
    await settleDraft(tx, mine.id, { status: "rejected", reason, decided_by: "agent", at });
  }
  return insertDraft(tx, {
    ...request,
    nonprofit_id,
    network,
    phase,
    test_data: request.test_data ? 1 : 0,
    status: applied ? "applied" : "pending",
    decided_by: applied ? "consensus" : null,
    created_at: at,
  });
}

type Promotion = {
  nonprofit_id: number;
  /** Other agents' waiting drafts of the same donor intents that count toward agreement. */
  agreeing: readonly StoredDraft[];
  decision: Extract<DraftDecision, { kind: "promoted" }>;
  draft_id: number;
  job: DraftJob;
};

/** The earliest agreeing draft becomes the recommendation, in its agent's words. */
async function promote(tx: WriteTransaction, of: Promotion): Promise<void> {
  const { nonprofit_id, agreeing, decision, draft_id, job } = of;
  const { request, now } = job;
  const at = now.getTime();
  const words = agreeing.find(({ id }) => id === decision.winner);
  if (words === undefined) throw new Error(`draft ${decision.winner} is not among the agreeing`);
  const added = await addPick(tx, {
    nonprofit_id,
    recommended_for: words.recommended_for,
    why_recommended: words.why_recommended,
    causes: null,
    origin: "consensus",
    draft_id: words.id,
    added_by: "consensus",
    updated_at: at,
  });
  // The transaction holds the write lock, so nobody recommended the profile since it was read.
  if (!added) throw new Error(`nonprofit ${nonprofit_id} was recommended meanwhile`);
  for (const { id } of agreeing) {
    await settleDraft(tx, id, { status: "applied", reason: null, decided_by: "consensus", at });
  }
  await logOperator(tx, {
    operator: "consensus",
    action: "recommendation.promoted",
    subject: request.slug,
    detail: {
      drafts: [...new Set([...agreeing.map(({ id }) => id), draft_id])],
      agents: [...new Set([...agreeing.map((one) => one.agent_id), request.agent_id])],
      sources: [...new Set([...agreeing.map((one) => one.source_url), request.source_url])],
      recommended_for: words.recommended_for,
      why_recommended: words.why_recommended,
    },
    at,
  });
}
