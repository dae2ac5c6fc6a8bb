import assert from "node:assert/strict";
import type { ResultSet } from "@libsql/client";
import type { EnrichmentAnswer } from "#content/contract/enrichment-answers.ts";
import type { EnrichmentBody } from "#content/contract/enrichment.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  type AnswerContext,
  enrichmentAnswer,
  type EnrichmentRequest,
  type EnrichOutcome,
  type EnrichResult,
  readEnrichment,
  type ReadItem,
} from "./wire.ts";
import {
  agreeingVotes,
  planAgreed,
  planCorroboration,
  type AgreeingVote,
} from "./agreed-field-store.ts";
import { isBound, secretRefusal, storedName } from "./agent.ts";
import {
  type EnrichTarget,
  fieldState,
  insertSubmission,
  type NewSubmission,
  type StoreIds,
  storeIdsSql,
  priorRejections,
  rejectionsOf,
  rejectSubmission,
  setConfidence,
  setNetwork,
} from "./submission-store.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import { storedAnswerBytes } from "#content/requests/quota.ts";
import { type Plan, planned } from "#content/operation/plan.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Statement } from "#content/store/query.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { batchedWrite, type BatchedWrite } from "#content/store/write-batcher.ts";
import {
  admit,
  type Admission,
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

/** What `enrich` depends on; the service provides it. */
export type EnrichWorld = ProposalWorld & {
  /** Waits, up to a limit, until a change is published. Absent when no publisher runs beside the service. */
  waitForPublication?: ((sequence: number) => Promise<{ release: string } | null>) | undefined;
  /** Whether a rollback holds publishing. */
  publication?: (() => { held: boolean }) | undefined;
};

export type EnrichFailure =
  | ProposalRefusal
  | StoringFailure
  | { kind: "invalid_enrichment"; errors: Wrong[] };

/**
 * Stores what an agent found out about a nonprofit, and makes a structured value live when two agents agree. Everything
 * happens in one transaction. The answer is sent after the commit is on disk. If a value went live, it also waits until the
 * published profile shows it, or until that wait times out. Nothing is fetched from the web.
 */
export async function enrich(
  world: EnrichWorld,
  call: ProposalCall & { slug: string; body: EnrichmentBody },
): Promise<Result<EnrichmentAnswer, EnrichFailure>> {
  const read = readEnrichment(call.body, { thisYear: world.clock().getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_enrichment", errors: read.failure });
  const { agent_id, items } = read.value;
  const admitted = await admit(world, call, { agent_id, proposals: items.length });
  if (!admitted.ok) return admitted;
  const job = { ...admitted.value, request: read.value, slug: call.slug };
  // Submissions that arrive together share a commit.
  const decide = (store: Queryable) => decideEnrichment(store, job);
  const stored = await batchedWrite(world.store, subjectsOf(job), decide);
  if (!stored.ok) return stored;
  call.countStored?.(stored.value.bytes);
  const published = await publicationOf(world, stored.value);
  const { baseUrl, mode } = world;
  return ok(enrichmentAnswer(stored.value, { ...published, baseUrl, mode }));
}

type StoringFailure = ProposalFailure | { kind: "field_queue_full"; fields: string[] };

/** A request to enrich that was read and checked, ready for a transaction. */
export type EnrichJob = Admission & { request: EnrichmentRequest; slug: string };

/** Requests that share a subject must not be decided at the same time. */
export const subjectsOf = ({ slug, idempotencyKey, request }: EnrichJob): string[] => [
  slug,
  `${request.agent_id} ${idempotencyKey ?? slug}`,
];

/** Plans to store all submissions of a request or none. */
export async function decideEnrichment(
  store: Queryable,
  job: EnrichJob,
): Promise<BatchedWrite<Result<EnrichOutcome, StoringFailure>>> {
  const { plan, bytes, storeIds } = await planEnrichment(store, job);
  const outcome: Result<EnrichResult, StoringFailure> = "failure" in plan ? plan : plan.outcome;
  if (!outcome.ok) return { statements: [], answer: () => outcome };
  const { value } = outcome;
  const writes = "failure" in plan ? [] : plan.writes.filter((write) => "sql" in write);
  // Look up earlier rejections each time: they can be too long to keep with the answer.
  const rejectionQueries = value.items.map(({ field, any_rejected }) =>
    any_rejected ? priorRejections({ ...value, field }) : null,
  );
  const answer = (results: readonly ResultSet[]) => {
    const done = withStoreIds(value, storeIds, results);
    const answers = results.slice(writes.length);
    const items = done.items.map((item, at) => ({
      ...item,
      prior_rejections: rejectionQueries[at] === null ? [] : rejectionsOf(answers.shift()),
    }));
    return ok({ ...done, items, bytes });
  };
  return {
    statements: [...writes, ...rejectionQueries.filter((statement) => statement !== null)],
    answer,
  };
}

/** The writes of a request, how many bytes they store, and which ids of its outcome the store assigns. */
type EnrichmentPlan = {
  plan: Plan<EnrichResult, StoringFailure>;
  bytes: number;
  storeIds: StoreIds;
};

async function planEnrichment(store: Queryable, job: EnrichJob): Promise<EnrichmentPlan> {
  const { request, slug } = job;
  let counted: Omit<EnrichmentPlan, "plan"> = {
    bytes: 0,
    storeIds: { ids: [], changeStatement: null },
  };
  // Start reading first, so that a database server gets all queries in one round trip.
  const reading = readCases(store, job);
  const planning = planProposalOnce(store, "enrich", job, [slug, request], async () => {
    const state = await reading;
    const items = state.ok ? await planItems(store, state.value) : state;
    if (!items.ok) return items;
    const { done, statements, storeIds } = items.value;
    const answerBytes = storedAnswerBytes(
      job.idempotencyKey,
      request.agent_id,
      request.items.length,
    );
    counted = { bytes: answerBytes + items.value.bytes, storeIds };
    return {
      ...planned(ok(done), ...statements),
      outcomeSql: (json) => storeIdsSql(json, storeIds),
    };
  });
  const [cases, plan] = await Promise.all([reading, planning]);
  // Check the secret even when an answer is stored for the key: the secret may have changed since.
  return { plan: cases.ok ? plan : cases, ...counted };
}

type EnrichmentState = { target: EnrichTarget; cases: SubmissionCase[] };

/** Reads the state of each item's field; fails if the nonprofit is unknown or the agent may not write. */
async function readCases(
  store: Queryable,
  job: EnrichJob,
): Promise<Result<EnrichmentState, StoringFailure>> {
  const { request, slug, now } = job;
  const states = await Promise.all(
    request.items.map(async (item) => {
      const submission = { ...request, ...item, slug, created_at: now.getTime() };
      return { item, field: await fieldState(store, submission) };
    }),
  );
  const target = states[0]?.field?.target;
  if (target === undefined) return fail({ kind: "nonprofit_not_found", slug });
  const { agent_key } = target;
  const refusal = secretRefusal(request.agent_id, agent_key, job.secret);
  if (refusal !== null) return fail(refusal);
  const cases = states.flatMap(({ item, field }) => {
    const submission = newSubmission(job, target, item);
    return field === null ? [] : [{ job, agent_key, submission, state: field.state }];
  });
  return ok({ target, cases });
}

/** The answer, the bytes it takes in the store, and its statements. */
type PlannedItems = {
  done: EnrichResult;
  bytes: number;
  statements: Statement[];
  storeIds: StoreIds;
};

/** Applies the rules to the state of each field and turns the resulting steps into statements. */
async function planItems(
  store: Queryable,
  { target, cases }: EnrichmentState,
): Promise<Result<PlannedItems, StoringFailure>> {
  const { id: nonprofit_id, slug, name } = target;
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const decided = planOf(cases);
  if (!decided.ok) return decided;
  const { items, sequence, ...writes } = await writesOf(store, decided.value.items, nonprofit_id);
  const at = cases[0]?.submission.created_at ?? 0;
  const bound = isBound(target.agent_key);
  const done = { nonprofit_id, slug, name, bound, items, sequence, at };
  return ok({ done, bytes: decided.value.bytes, ...writes });
}

const rowIdOf = (result: ResultSet | undefined) => Number(result?.lastInsertRowid);

/** Fills in the ids and the sequence that the store assigned. */
function withStoreIds(
  done: EnrichResult,
  { ids, changeStatement }: StoreIds,
  results: readonly ResultSet[],
): EnrichResult {
  const idsOfItems = new Map(ids.map(({ item, at }) => [item, rowIdOf(results[at])]));
  const items = done.items.map((answer, item) => ({
    ...answer,
    id: idsOfItems.get(item) ?? answer.id,
  }));
  const sequence = changeStatement === null ? done.sequence : rowIdOf(results[changeStatement]);
  return { ...done, items, sequence };
}

/** The answers and statements of these submissions for one nonprofit, in order. */
async function writesOf(
  store: Queryable,
  plans: readonly SubmissionPlan[],
  id: number,
): Promise<
  Pick<EnrichResult, "items" | "sequence"> & Pick<PlannedItems, "statements" | "storeIds">
> {
  const [sequence, records, votes] = await Promise.all([
    plans.some(({ live }) => live === "before") ? newestChangeOf(store, id) : null,
    plans.some(({ steps }) => steps.some(isOfProfile)) ? recordsById(store, [id]) : [],
    Promise.all(plans.map(({ steps }) => votesFor(store, steps))),
  ]);
  let [record] = records;
  const [statements, items]: [Statement[], StoredItem[]] = [[], []];
  const storeIds: StoreIds = { ids: [], changeStatement: null };
  const isLive = plans.some(({ live }) => live !== null);
  for (const [item, plan] of plans.entries()) {
    for (const step of plan.steps) {
      if (step.kind === "insert") {
        storeIds.ids.push({ item, at: statements.length });
        statements.push(insertSubmission(step.submission));
      } else if (isOfProfile(step)) {
        assert(record !== undefined, `nonprofit ${id} is not there`);
        const profilePlan = await profilePlanOf(store, step, record, votes[item] ?? []);
        statements.push(...profilePlan.statements);
        record = profilePlan.after;
        if (isLive && profilePlan.appended > 0) storeIds.changeStatement = statements.length - 1;
      } else statements.push(statementOf(step));
    }
    items.push({ id: plan.id ?? 0, ...plan.item });
  }
  return { items, sequence, statements, storeIds };
}

/** All submissions that agree with the value that goes live, including the one that `steps` insert; else empty. */
async function votesFor(store: Queryable, steps: readonly Step[]): Promise<AgreeingVote[]> {
  const applying = steps.find((step) => step.kind === "apply");
  if (applying === undefined) return [];
  const inserted = steps.flatMap((step) => (step.kind === "insert" ? [step.submission] : []));
  return [...(await agreeingVotes(store, applying.agreement)), ...inserted];
}

type ProfileStep = Extract<Step, { kind: "apply" | "corroborate" }>;
const isOfProfile = (step: Step): step is ProfileStep =>
  step.kind === "apply" || step.kind === "corroborate";

const profilePlanOf = (
  store: Queryable,
  step: ProfileStep,
  before: NonprofitRecord,
  votes: readonly AgreeingVote[],
) =>
  step.kind === "apply"
    ? planAgreed(store, step.agreement, { before, votes })
    : planCorroboration(store, step.corroboration, before);

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
  { id, agent_key, names_another }: EnrichTarget,
  { test_data, ...item }: ReadItem,
): NewSubmission => ({
  ...item,
  nonprofit_id: id,
  agent_id: request.agent_id,
  agent_name: storedName(request, agent_key, { namesAnother: names_another === 1 }),
  network,
  status: "pending",
  audit_only: 0,
  test_data: test_data ? 1 : 0,
  confidence: 1,
  reason: null,
  winning_value: null,
  created_at: now.getTime(),
  applied_at: null,
  decided_at: null,
});

/** The answer says `applied: true` only once the published profile holds the value. */
async function publicationOf(
  { waitForPublication, publication }: EnrichWorld,
  { sequence }: EnrichOutcome,
): Promise<Pick<AnswerContext, "live" | "held" | "release">> {
  if (sequence === null) return { live: false, held: false, release: null };
  const published = (await waitForPublication?.(sequence)) ?? null;
  if (published !== null) return { live: true, held: false, release: published.release };
  return { live: false, held: publication?.().held ?? false, release: null };
}
