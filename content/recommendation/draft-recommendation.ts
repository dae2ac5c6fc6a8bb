import {
  admit,
  type ProposalCall,
  type ProposalFailure,
  type ProposalRefusal,
  planProposalOnce,
  type ProposalWorld,
} from "#content/enrichment/proposal.ts";
import { storedAnswerBytes, rowBytes, sizeOf } from "#content/requests/quota.ts";
import type { DraftAnswer, DraftBody, GovernancePhase } from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wireTime } from "#content/contract/base/time.ts";
import { foldAgentId, secretRefusal, storedName } from "#content/enrichment/agent.ts";
import { agentKey } from "#content/enrichment/agent-key-store.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { carryOut, type Plan, planned, type Write } from "#content/operation/plan.ts";
import {
  draftNote,
  type DraftRequest,
  readDraft,
  type DraftCase,
  type DraftJob,
  type DraftOutcome,
  type DraftPlan,
  planDraft,
} from "./draft.ts";
import {
  agentsBehindDraft,
  closeDraft,
  insertDraft,
  nextDraftId,
  operatorRefused,
  ownDrafts,
  type RefusedDraft,
  refusedDrafts,
  waitingDrafts,
  waitingFrom,
} from "./draft-store.ts";
import { addPick, isInFile, pickOf } from "./pick-store.ts";
import { normaliseIntents, type PickFault } from "./pick-text.ts";
import type { Queryable } from "#content/store/open.ts";

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
 * Accepts an agent's proposal to recommend a nonprofit. In phase 2 it waits for the operator; in phase 3 two agreeing agents
 * make it a recommendation. Nothing is fetched from the web (docs/decisions/29-recommendations.md).
 */
export async function draftRecommendation(
  world: DraftWorld,
  call: ProposalCall & { body: DraftBody },
): Promise<Result<DraftAnswer, DraftRefusal>> {
  const { phase } = world;
  if (phase === 1) return fail({ kind: "drafts_not_open" });
  const draftResult = readDraft(call.body);
  if (!draftResult.ok) {
    const kind = draftResult.failure.every(({ claims }) => claims)
      ? "wording_claims_too_much"
      : "invalid_draft";
    return fail({ kind, errors: draftResult.failure });
  }
  const request = draftResult.value;
  const admission = await admit(world, call, { agent_id: request.agent_id, proposals: 1 });
  if (!admission.ok) return admission;
  const job = { ...admission.value, request, phase };
  const outcome = await world.store.write(async (tx) => {
    const { plan, bytes } = await planStored(tx, job);
    const result = await carryOut(tx, plan);
    return result.ok ? ok({ ...result.value, bytes }) : result;
  });
  if (!outcome.ok) return outcome;
  call.countStored?.(outcome.value.bytes);
  if (outcome.value.decision.kind === "promoted") world.onRecommended();
  return ok(answerOf(outcome.value, world, phase));
}

function answerOf(
  { draft_id, slug, name, status, decision, confidence, sensitive_claims, refusals }: StoredOutcome,
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
    prior_rejections: refusals.map(({ recommended_for, reason, decided_at, ...agent }) => ({
      agent: publicName(agent),
      recommended_for,
      reason: reason ?? "",
      rejected_at: wireTime(new Date(decided_at)),
    })),
    profile_url: `${baseUrl}/nonprofits/${slug}`,
  };
}

/** The result of the transaction: plain data that can be stored under an Idempotency-Key. */
type StoredOutcome = DraftOutcome & {
  draft_id: number;
  slug: string;
  name: string;
  sensitive_claims: string[];
  refusals: RefusedDraft[];
};

/** Plans to store a draft, and to promote the profile if agents agree. `bytes`: what it takes in the store. */
async function planStored(
  store: Queryable,
  job: DraftJob,
): Promise<{ plan: Plan<StoredOutcome, DraftFailure>; bytes: number }> {
  const { agent_id, slug, sensitive_claims } = job.request;
  const refusal = secretRefusal(agent_id, await agentKey(store, agent_id), job.secret);
  if (refusal !== null) return { plan: fail(refusal), bytes: 0 };
  let bytes = 0;
  const plan = await planProposalOnce<StoredOutcome, DraftFailure>(
    store,
    "draft",
    job,
    job.request,
    async () => {
      bytes = storedAnswerBytes(job.idempotencyKey, agent_id, 3);
      const record = await recordBySlug(store, slug);
      if (record === null) return fail({ kind: "nonprofit_not_found", slug });
      if (record.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
      const draftPlan = planDraft(await draftCase(store, job, record.id));
      if (!draftPlan.ok) return draftPlan;
      const { outcome, draft } = draftPlan.value;
      const draft_id = typeof draft === "number" ? draft : await nextDraftId(store);
      if (typeof draft === "object") bytes += draftBytes(job.request);
      const refusals = await refusedDrafts(store, record.id);
      const details = { draft_id, slug, name: record.name, sensitive_claims, refusals };
      return planned(ok({ ...outcome, ...details }), ...writesOf(job, draftPlan.value, draft_id));
    },
  );
  return { plan, bytes };
}

const draftBytes = (request: DraftRequest): number =>
  rowBytes + 2 * sizeOf(request.agent_id) + sizeOf(JSON.stringify(request));

/** Reads the state of the profile and of its drafts. */
async function draftCase(
  store: Queryable,
  job: DraftJob,
  nonprofit_id: number,
): Promise<DraftCase> {
  const { request, network } = job;
  const { agent_id, slug, normalised } = request;
  const namedAgent = foldAgentId(request.agent_name);
  const namesAnother = namedAgent !== agent_id && (await agentKey(store, namedAgent)) !== null;
  return {
    job,
    nonprofit_id,
    agent_name: storedName(request, await agentKey(store, agent_id), { namesAnother }),
    ownDrafts: await ownDrafts(store, { nonprofit_id, agent_id }),
    waitingDrafts: await waitingDrafts(store, { nonprofit_id, normalised }),
    otherAgents: await agentsBehindDraft(
      store,
      { nonprofit_id, normalised },
      { besides: agent_id },
    ),
    ofNetwork: network === null ? 0 : await waitingFrom(store, { nonprofit_id, network }),
    live: await livePick(store, { nonprofit_id, slug }),
    isRefused: await operatorRefused(store, { nonprofit_id, slug }),
  };
}

async function livePick(store: Queryable, of: { nonprofit_id: number; slug: string }) {
  if (isInFile(of.slug)) return { by_consensus: false, normalised_value: "" };
  const pick = await pickOf(store, of.nonprofit_id);
  if (pick === null) return null;
  return {
    by_consensus: pick.origin === "consensus",
    normalised_value: normaliseIntents(pick.recommended_for),
  };
}

function writesOf(job: DraftJob, { closed, draft, promotion }: DraftPlan, id: number): Write[] {
  return [
    ...(closed === null ? [] : [closeDraft(closed.id, closed.closing)]),
    ...(typeof draft === "number" ? [] : [insertDraft({ ...draft, id })]),
    ...(promotion === null ? [] : promotionWrites(job, { ...promotion, draft_id: id })),
  ];
}

function promotionWrites(
  { request, now }: DraftJob,
  {
    text,
    winner,
    agreeingDrafts,
    draft_id,
  }: NonNullable<DraftPlan["promotion"]> & { draft_id: number },
): Write[] {
  const at = now.getTime();
  const { nonprofit_id } = winner;
  const pickOrigin = { origin: "consensus", draft_id: winner.id, added_by: "consensus" } as const;
  const closure = { status: "applied", reason: null, decided_by: "consensus", at } as const;
  const entry = {
    operator: "consensus",
    action: "recommendation.promoted",
    subject: request.slug,
    detail: {
      drafts: [...new Set([...agreeingDrafts.map(({ id }) => id), draft_id])],
      agents: [...new Set([...agreeingDrafts.map(({ agent_id }) => agent_id), request.agent_id])],
      sources: [
        ...new Set([...agreeingDrafts.map(({ source_url }) => source_url), request.source_url]),
      ],
      ...text,
    },
    at,
  };
  return [
    ...addPick({ nonprofit_id, ...text, causes: null, ...pickOrigin, updated_at: at }),
    ...agreeingDrafts.map(({ id }) => closeDraft(id, closure)),
    entry,
  ];
}
