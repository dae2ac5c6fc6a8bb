import assert from "node:assert/strict";
import type {
  EnrichmentAnswer,
  EnrichmentSubmission,
  PriorRejection,
} from "#content/contract/enrichment-answers.ts";
import {
  type EnrichmentBody,
  proseFields,
  structuredFields,
} from "#content/contract/enrichment.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wireTime } from "#content/contract/base/time.ts";
import {
  agentsNeeded,
  type ConsensusMode,
  promotionNote,
  type SubmissionState,
} from "./consensus.ts";
import { type EnrichmentRequest, readEnrichment, type ReadItem } from "./read.ts";
import { planAgreed, planCorroboration } from "./agreed-field-store.ts";
import { isBound, secretRefusal } from "./agent.ts";
import {
  type EnrichTarget,
  enrichTarget,
  fieldState,
  insertSubmission,
  type NewSubmission,
  priorRejections,
  type Rejection,
  rejectSubmission,
  setConfidence,
  setNetwork,
  type StoredSubmission,
} from "./submission-store.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import { keptAnswerBytes } from "#content/operation/stored-bytes.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import type { Statement } from "#content/store/statement.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import {
  admit,
  type Admitted,
  type ProposalCall,
  type ProposalFailure,
  type ProposalWorld,
  type ProposalRefusal,
  planProposalOnce,
} from "./proposal.ts";
import {
  type SubmissionCase,
  type SubmissionPlan,
  planOf,
  type Step,
  type StoredItem,
} from "./plan.ts";

/** What the verb works with; the service fills it from its own world. */
export type EnrichWorld = ProposalWorld & {
  /** Waits, bounded, until a change is published; absent where nothing is published beside the service. */
  waitForPublication?: ((sequence: number) => Promise<{ release: string } | null>) | undefined;
  /** Says whether a rollback holds publishing. */
  publication?: (() => { held: boolean }) | undefined;
};

export type EnrichCall = ProposalCall & { slug: string; body: EnrichmentBody };

export type EnrichFailure =
  | ProposalRefusal
  | StoringFailure
  | { kind: "invalid_enrichment"; errors: Wrong[] };

/**
 * Takes what an agent found out about a nonprofit: stores it, and makes a structured value live when two agents agree.
 * All of it is one transaction; the answer comes after the commit is on disk and, for a value that went live, after the
 * published profile holds it or the wait for that ended. Nothing is ever fetched. Source: spec, "Enrichment".
 */
export async function enrich(
  world: EnrichWorld,
  call: EnrichCall,
): Promise<Result<EnrichmentAnswer, EnrichFailure>> {
  const read = readEnrichment(call.body, { thisYear: world.clock().getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_enrichment", errors: read.failure });
  const { agent_id, items } = read.value;
  const admitted = await admit(world, call, { agent_id, proposals: items.length });
  if (!admitted.ok) return admitted;
  const job = { ...admitted.value, request: read.value, slug: call.slug };
  // Submissions that arrive together share a transaction and a sync to disk.
  const stored = await batchedWrite(world.store, (tx) => storeEnrichment(tx, job));
  if (!stored.ok) return stored;
  call.countStored?.(stored.value.bytes);
  const published = await publicationOf(world, stored.value);
  const { baseUrl, mode } = world;
  return ok(enrichmentAnswer(stored.value, { ...published, baseUrl, mode }));
}

/** What the transaction did, with what was rejected before. */
export type EnrichOutcome = Omit<Done, "items"> & {
  /** What it took in the store; 0 when nothing was stored that was not there. */
  bytes: number;
  items: (StoredItem & { prior_rejections: readonly Rejection[] })[];
};

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
type Done = {
  nonprofit_id: number;
  slug: string;
  name: string;
  /** Whether the agent's id is bound to a secret, which came. An outcome kept by 0.3.0 has none. */
  bound?: boolean;
  items: StoredItem[];
  /** When it was done, in milliseconds since 1970. */
  at: number;
  /** The newest change that made one of these values live; null when none is live. */
  sequence: number | null;
};

type StoringFailure = ProposalFailure | { kind: "field_queue_full"; fields: string[] };

/** One request to enrich, read and checked, as it goes into a transaction. */
export type EnrichJob = Admitted & { request: EnrichmentRequest; slug: string };

/** Stores all submissions of a request, or none of it, inside the caller's transaction. */
export async function storeEnrichment(
  tx: WriteTransaction,
  job: EnrichJob,
): Promise<Result<EnrichOutcome, StoringFailure>> {
  const { plan, bytes } = await planEnrichment(tx, job);
  const done = await carryOut(tx, plan);
  if (!done.ok) return done;
  const { nonprofit_id, at } = done.value;
  const items: EnrichOutcome["items"] = [];
  // Looked up, and not kept with the outcome: they may be a hundred times as long as what was sent.
  for (const item of done.value.items) {
    const { field, any_rejected = true } = item;
    const prior_rejections = any_rejected
      ? await priorRejections(tx, { nonprofit_id, field, at })
      : [];
    items.push({ ...item, prior_rejections });
  }
  return ok({ ...done.value, items, bytes });
}

/** What a request does to the store, and how many bytes it takes there. */
async function planEnrichment(
  store: Queryable,
  job: EnrichJob,
): Promise<{ plan: Plan<Done, StoringFailure>; bytes: number }> {
  const { request, slug } = job;
  const target = await enrichTarget(store, slug, request);
  if (target === null) return { plan: fail({ kind: "nonprofit_not_found", slug }), bytes: 0 };
  // Before anything that was kept is answered: the id may have been bound, or have another secret, since.
  const refusal = secretRefusal(request.agent_id, target.agent_key, job.secret);
  if (refusal !== null) return { plan: fail(refusal), bytes: 0 };
  let bytes = 0;
  const plan = await planProposalOnce(store, "enrich", job, [slug, request], async () => {
    const made = await planItems(store, job, target);
    if (!made.ok) return made;
    const { done, statements } = made.value;
    const kept = keptAnswerBytes(job.idempotencyKey, request.agent_id, request.items.length);
    bytes = kept + made.value.bytes;
    return planned(ok(done), ...statements);
  });
  return { plan, bytes };
}

/** What is answered, what it takes in the store, and the statements for it. */
type PlannedItems = { done: Done; bytes: number; statements: Statement[] };

/** Reads what is known of each field, has the rules decide, and turns their steps into statements. */
async function planItems(
  store: Queryable,
  job: EnrichJob,
  { agent_key, status, ...target }: EnrichTarget,
): Promise<Result<PlannedItems, StoringFailure>> {
  const { id: nonprofit_id, slug, name } = target;
  if (status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const cases: SubmissionCase[] = [];
  for (const item of job.request.items) {
    const fresh = newSubmission(job, target, item);
    cases.push({ job, agent_key, fresh, state: await fieldState(store, fresh) });
  }
  const decided = planOf(cases);
  if (!decided.ok) return decided;
  const { items, sequence, statements } = await writesOf(store, decided.value.items, target);
  const about = { nonprofit_id, slug, name, bound: isBound(agent_key) };
  const done = { ...about, items, sequence, at: job.now.getTime() };
  return ok({ done, bytes: decided.value.bytes, statements });
}

/** What these submissions answer and write, in order. Numbers are given here: they hold until anything else is written. */
async function writesOf(
  store: Queryable,
  plans: readonly SubmissionPlan[],
  { id, ...last }: Pick<EnrichTarget, "id" | "last_submission" | "last_change">,
): Promise<Pick<Done, "items" | "sequence"> & { statements: Statement[] }> {
  const isLive = plans.some(({ live }) => live === "before");
  let newest = isLive ? await newestChangeOf(store, id) : null;
  let [record] = plans.some(({ steps }) => steps.some(isOfProfile))
    ? await recordsById(store, [id])
    : [];
  const [statements, items]: [Statement[], StoredItem[]] = [[], []];
  let sequence: number | null = null;
  for (const plan of plans) {
    let mine: StoredSubmission | null = null;
    for (const step of plan.steps) {
      if (step.kind === "insert") {
        mine = { ...step.submission, id: ++last.last_submission };
        statements.push(insertSubmission(mine));
      } else if (isOfProfile(step)) {
        assert(record !== undefined, `nonprofit ${id} is not there`);
        const made = await profilePlanOf(store, step, { before: record, mine });
        statements.push(...made.statements);
        record = made.after;
        if (made.appended > 0) newest = ++last.last_change;
      } else statements.push(statementOf(step));
    }
    items.push({ id: mine?.id ?? plan.id ?? 0, ...plan.item });
    if (plan.live !== null) sequence = newest;
  }
  return { items, sequence, statements };
}

type ProfileStep = Extract<Step, { kind: "apply" | "corroborate" }>;
const isOfProfile = (step: Step): step is ProfileStep =>
  step.kind === "apply" || step.kind === "corroborate";

const profilePlanOf = (
  store: Queryable,
  step: ProfileStep,
  state: { before: NonprofitRecord; mine: StoredSubmission | null },
) =>
  step.kind === "apply"
    ? planAgreed(store, step.agreed, state)
    : planCorroboration(store, step.corroboration, state.before);

function statementOf(step: Exclude<Step, ProfileStep | { kind: "insert" }>): Statement {
  switch (step.kind) {
    case "reject":
      return rejectSubmission(step.rejection);
    case "confidence":
      return setConfidence(step.of);
    case "network":
      break;
  }
  return setNetwork(step);
}

const newSubmission = (
  { request, network, now }: EnrichJob,
  target: Pick<EnrichTarget, "id" | "names_another">,
  item: ReadItem,
): NewSubmission => ({
  nonprofit_id: target.id,
  field: item.field,
  field_type: item.field_type,
  value: item.value,
  normalised_value: item.normalised_value,
  source_url: item.source_url,
  agent_id: request.agent_id,
  // Another's id as a name would pass for its owner.
  agent_name: target.names_another === 1 ? request.agent_id : request.agent_name,
  network,
  status: "pending",
  audit_only: 0,
  test_data: item.test_data ? 1 : 0,
  confidence: 1,
  reason: null,
  winning_value: null,
  created_at: now.getTime(),
  applied_at: null,
  decided_at: null,
});

/** `applied: true` is said only once the published profile holds the value. */
async function publicationOf(
  { waitForPublication, publication }: EnrichWorld,
  { sequence }: EnrichOutcome,
): Promise<Pick<Answering, "live" | "held" | "release">> {
  if (sequence === null) return { live: false, held: false, release: null };
  const published = (await waitForPublication?.(sequence)) ?? null;
  if (published !== null) return { live: true, held: false, release: published.release };
  return { live: false, held: publication?.().held ?? false, release: null };
}

const bound = "Your agent_id is bound: only its secret submits under it.";
const unbound = (baseUrl: string) =>
  `Your agent_id is not bound: anyone can submit under it. POST ${baseUrl}/api/agents binds an unused one to a secret.`;

type Answering = {
  baseUrl: string;
  mode: ConsensusMode;
  /** Whether the published profile holds what was applied. */
  live: boolean;
  /** Whether a rollback holds publishing. */
  held: boolean;
  release: string | null;
};

/** What a client reads about its submissions. Source: spec, POST /api/enrich/{slug}. */
export function enrichmentAnswer(outcome: EnrichOutcome, answering: Answering): EnrichmentAnswer {
  const profile_url = `${answering.baseUrl}/nonprofits/${outcome.slug}`;
  const submissions = outcome.items.map((item) => submissionOf(item, profile_url, answering));
  const [first] = submissions;
  assert(first !== undefined, "a submission has a field");
  return {
    message: summary(submissions),
    nonprofit: outcome.name,
    profile_url,
    auto_promote: {
      structured: [...structuredFields],
      prose_pending: [...proseFields],
      ...Object.fromEntries(submissions.map(({ field, applied }) => [field, applied])),
    },
    field_type: first.field_type,
    promotion_note: first.promotion_note,
    submissions,
    release: answering.release,
    bound: outcome.bound ?? false,
    note: `${outcome.bound ? bound : unbound(answering.baseUrl)} Every applied submission credits its agent_name on the leaderboard: ${answering.baseUrl}/agents and ${answering.baseUrl}/api/agents/leaderboard.`,
  };
}

function submissionOf(
  item: EnrichOutcome["items"][number],
  profile_url: string,
  answering: Answering,
): EnrichmentSubmission {
  const decidedByPerson = item.field_type === "prose" && item.status === "applied";
  return {
    submission_id: item.id,
    field: item.field,
    field_type: item.field_type,
    status: item.status,
    applied: item.status === "applied" && answering.live,
    confidence: item.confidence,
    consensus: item.confidence >= agentsNeeded,
    promotion_note: promotionNote(item.field, stateOf(item, answering, decidedByPerson)),
    prior_rejections: item.prior_rejections.map((one) => rejectionOf(item.field, one)),
    profile_url,
  };
}

function stateOf(
  item: StoredItem,
  { live, held, mode }: Answering,
  byPerson: boolean,
): SubmissionState {
  const agents = item.confidence;
  if (item.status === "rejected") return { kind: "rejected", reason: item.reason ?? "" };
  if (byPerson) return { kind: "accepted" };
  if (item.status === "applied") {
    return live ? { kind: "live", agents } : { kind: "publishing", agents, held };
  }
  if (item.audit_only === 1) return { kind: item.corroborates ? "corroborates" : "audit" };
  if (item.field_type === "prose") return { kind: "queued" };
  const { rivals, tests } = item;
  if (tests !== null && tests !== "others") return { kind: "test", cause: tests };
  return { kind: "awaiting", agents, rivals, tests: tests !== null, mode };
}

const rejectionOf = (field: string, one: Rejection): PriorRejection => ({
  agent: publicName(one),
  rejected_value: publicValue(field, one.value),
  reason: one.reason ?? "",
  winning_value: one.winning_value === null ? null : publicValue(field, one.winning_value),
  rejected_at: wireTime(new Date(one.decided_at ?? 0)),
});

function summary(submissions: readonly EnrichmentSubmission[]): string {
  const applied = submissions.filter(({ status }) => status === "applied").length;
  const received = submissions.length === 1 ? "1 submission" : `${submissions.length} submissions`;
  const rejected = submissions.filter(({ status }) => status === "rejected").length;
  const waiting = submissions.length - applied - rejected;
  return `Thank you: ${received} received, ${applied} applied, ${waiting} pending${rejected === 0 ? "" : `, ${rejected} rejected`}. Each promotion_note says what comes next.`;
}
