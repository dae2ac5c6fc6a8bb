import {
  admit,
  type Admitted,
  isOfAnotherNetwork,
  type ProposalCall,
  type ProposalFailure,
  type ProposalRefusal,
  storeOnce,
  type ProposalWorld,
} from "#content/enrichment/proposal.ts";
import { keptAnswerBytes, rowBytes, sizeOf } from "#content/operation/stored-bytes.ts";
import type {
  DraftAnswer,
  DraftBody,
  DraftStatus,
  GovernancePhase,
} from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wireTime } from "#content/contract/base/time.ts";
import { foldAgentId, secretRefusal } from "#content/enrichment/agent.ts";
import { agentKey } from "#content/enrichment/agent-key-store.ts";
import { rejectionReasons, waitingOfNetworkMax } from "#content/enrichment/consensus.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import {
  agentsBehindDraft,
  insertDraft,
  operatorRefused,
  ownDrafts,
  type RefusedDraft,
  refusedDrafts,
  closeDraft,
  type StoredDraft,
  waitingDrafts,
  waitingFrom,
} from "./draft-store.ts";
import {
  decideDraft,
  type DraftDecision,
  draftNote,
  type DraftRequest,
  readDraft,
} from "./draft.ts";
import { addPick, isInFile, pickOf } from "./pick-store.ts";
import { normaliseIntents, type PickFault } from "./pick-text.ts";
import type { WriteTransaction } from "#content/store/open.ts";

export type DraftWorld = ProposalWorld & {
  phase: GovernancePhase;
  /** Called when a profile became a recommendation. */
  onRecommended: () => void;
};

type DraftFailure = ProposalFailure | { kind: "draft_queue_full" };

export type DraftRefusal =
  | ProposalRefusal
  | DraftFailure
  | { kind: "drafts_not_open" }
  | { kind: "invalid_draft"; errors: PickFault[] }
  | { kind: "wording_claims_too_much"; errors: PickFault[] };

/**
 * Takes an agent's proposal to recommend a nonprofit. In phase 2 it waits for the operator; in phase 3 two agents that
 * agree make it a recommendation. Nothing is ever fetched. Source: spec, "Versioning" 3; docs/decisions/0061.
 */
export async function draftRecommendation(
  world: DraftWorld,
  call: ProposalCall & { body: DraftBody },
): Promise<Result<DraftAnswer, DraftRefusal>> {
  const { phase } = world;
  if (phase === 1) return fail({ kind: "drafts_not_open" });
  const read = readDraft(call.body);
  if (!read.ok) {
    const kind = read.failure.every(({ claims }) => claims)
      ? "wording_claims_too_much"
      : "invalid_draft";
    return fail({ kind, errors: read.failure });
  }
  const request = read.value;
  const admitted = await admit(world, call, { agent_id: request.agent_id, proposals: 1 });
  if (!admitted.ok) return admitted;
  const job = { ...admitted.value, request, phase };
  const stored = await world.store.write((tx) => storeDraft(tx, job));
  if (!stored.ok) return stored;
  call.countStored?.(stored.value.bytes);
  if (stored.value.decision.kind === "promoted") world.onRecommended();
  return ok(answerOf(stored.value, world, phase));
}

function answerOf(
  { draft_id, slug, name, status, decision, confidence, sensitive_claims, refused }: DraftOutcome,
  { baseUrl, mode }: DraftWorld,
  phase: GovernancePhase,
): DraftAnswer {
  return {
    message: `Thank you: the draft is ${status === "applied" ? "applied" : "stored and waits"}. promotion_note says what comes next.`,
    draft_id,
    slug,
    nonprofit: name,
    status,
    applied: status === "applied",
    confidence,
    consensus: confidence > 1,
    sensitive_claims,
    phase,
    promotion_note:
      decision.kind === "applied"
        ? "This draft was applied before: the profile is recommended."
        : draftNote(decision, mode),
    prior_rejections: refused.map(({ recommended_for, reason, decided_at, ...agent }) => ({
      agent: publicName(agent),
      recommended_for,
      reason: reason ?? "",
      rejected_at: wireTime(new Date(decided_at)),
    })),
    profile_url: `${baseUrl}/nonprofits/${slug}`,
  };
}

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
type DraftOutcome = {
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

type DraftJob = Admitted & {
  request: DraftRequest;
  phase: Exclude<GovernancePhase, 1>;
};

/**
 * Stores a draft, and promotes the profile when agents agree, inside the caller's transaction: all of it or nothing. `bytes`:
 * what it took in the store.
 */
async function storeDraft(
  tx: WriteTransaction,
  job: DraftJob,
): Promise<Result<DraftOutcome & { bytes: number }, DraftFailure>> {
  const { agent_id, slug, sensitive_claims } = job.request;
  const refusal = secretRefusal(agent_id, await agentKey(tx, agent_id), job.secret);
  if (refusal !== null) return fail(refusal);
  let bytes = 0;
  const onStored = () => (bytes += draftBytes(job.request));
  const kept = await storeOnce<DraftOutcome, DraftFailure>(
    tx,
    "draft",
    job,
    job.request,
    async () => {
      bytes = keptAnswerBytes(job.idempotencyKey, agent_id, 3);
      const record = await recordBySlug(tx, slug);
      if (record === null) return fail({ kind: "nonprofit_not_found", slug });
      if (record.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
      if (await replacesAnothers(tx, job, record.id)) {
        return fail({ kind: "pending_from_another_network", path: "draft" });
      }
      const request = await underOwnName(tx, job.request);
      const done = await decideAndStore(tx, { ...job, request }, record.id, onStored);
      if (done === null) return fail({ kind: "draft_queue_full" });
      const refused = await refusedDrafts(tx, record.id);
      return ok({ ...done, slug, name: record.name, sensitive_claims, refused });
    },
  );
  return kept.ok ? ok({ ...kept.value, bytes }) : kept;
}

/** Another's id as a name would pass for its owner: the agent goes by its own. */
async function underOwnName(tx: WriteTransaction, request: DraftRequest): Promise<DraftRequest> {
  const { agent_id, agent_name } = request;
  const named = foldAgentId(agent_name);
  const isAnothers = named !== agent_id && (await agentKey(tx, named)) !== null;
  return isAnothers ? { ...request, agent_name: agent_id } : request;
}

const draftBytes = (request: DraftRequest): number =>
  rowBytes + 2 * sizeOf(request.agent_id) + sizeOf(JSON.stringify(request));

/** Whether this agent's other draft, which waits, came from another network than this one. */
async function replacesAnothers(tx: WriteTransaction, job: DraftJob, nonprofit_id: number) {
  const own = await ownDrafts(tx, { nonprofit_id, agent_id: job.request.agent_id });
  const mine = own.find(({ status }) => status === "pending");
  return mine !== undefined && !isSame(mine, job.request) && isOfAnotherNetwork(mine, job);
}

/** Null, and nothing is stored, when enough of its network wait already. */
async function decideAndStore(
  tx: WriteTransaction,
  job: DraftJob,
  nonprofit_id: number,
  onStored: () => void,
): Promise<Pick<DraftOutcome, "draft_id" | "status" | "decision" | "confidence"> | null> {
  const { request, phase, mode, network } = job;
  const { agent_id, normalised } = request;
  const own = await ownDrafts(tx, { nonprofit_id, agent_id });
  const before = own.find((one) => one.status === "applied" && one.normalised === normalised);
  if (before !== undefined) {
    const confidence = await agentsBehindDraft(tx, before);
    return { draft_id: before.id, status: "applied", decision: { kind: "applied" }, confidence };
  }
  const waiting = await waitingDrafts(tx, { nonprofit_id, normalised });
  const others = waiting.filter((one) => one.agent_id !== agent_id);
  const decision = decideDraft({
    phase,
    mode,
    mine: { agent_id, network, normalised_value: normalised },
    sensitive: request.sensitive_claims.length > 0,
    test_data: request.test_data,
    waiting: others.map(voteOf),
    live: await livePick(tx, { nonprofit_id, slug: request.slug }),
    refused: await operatorRefused(tx, { nonprofit_id, slug: request.slug }),
  });
  const applied = decision.kind === "promoted" || decision.kind === "corroborates";
  const isNew = !applied && own.every(({ status }) => status !== "pending");
  // However many others wait, agents can still agree: only a network's own drafts take its room.
  if (isNew && network !== null) {
    const ownNetwork = await waitingFrom(tx, { nonprofit_id, network });
    if (ownNetwork >= waitingOfNetworkMax) return null;
  }
  const draft_id = await replaceOwn(tx, job, { nonprofit_id, own, applied, onStored });
  if (decision.kind === "promoted") {
    const agreeing = others.filter(countsTowardAgreement);
    await promote(tx, job, { agreeing, winner: decision.winner, draft_id });
  }
  const confidence = await agentsBehindDraft(tx, { nonprofit_id, normalised });
  return { draft_id, status: applied ? "applied" : "pending", decision, confidence };
}

const voteOf = (draft: StoredDraft) => ({
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

const isSame = (mine: StoredDraft, request: DraftRequest): boolean =>
  mine.normalised === request.normalised &&
  mine.why_recommended === request.why_recommended &&
  mine.source_url === request.source_url;

/** An agent has one waiting draft per nonprofit: the same again is the one it has, another one replaces it. */
async function replaceOwn(
  tx: WriteTransaction,
  { request, network, phase, now }: DraftJob,
  {
    nonprofit_id,
    own,
    applied,
    onStored,
  }: { nonprofit_id: number; own: StoredDraft[]; applied: boolean; onStored: () => void },
): Promise<number> {
  const at = now.getTime();
  const mine = own.find(({ status }) => status === "pending");
  if (mine !== undefined && isSame(mine, request)) {
    const decided_by = "consensus";
    if (applied) await closeDraft(tx, mine.id, { status: "applied", reason: null, decided_by, at });
    return mine.id;
  }
  if (mine !== undefined) {
    const reason = rejectionReasons.replaced;
    await closeDraft(tx, mine.id, { status: "rejected", reason, decided_by: "agent", at });
  }
  onStored();
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

/** The earliest agreeing draft becomes the recommendation, in its agent's words. */
async function promote(
  tx: WriteTransaction,
  { request, now }: DraftJob,
  { agreeing, winner, draft_id }: { agreeing: StoredDraft[]; winner: number; draft_id: number },
): Promise<void> {
  const at = now.getTime();
  const words = agreeing.find(({ id }) => id === winner);
  if (words === undefined) throw new Error(`draft ${winner} is not among the agreeing`);
  const { nonprofit_id } = words;
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
  // The transaction holds the write lock, so no one recommended the profile since it was read.
  if (!added) throw new Error(`nonprofit ${nonprofit_id} was recommended meanwhile`);
  for (const { id } of agreeing) {
    await closeDraft(tx, id, { status: "applied", reason: null, decided_by: "consensus", at });
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
