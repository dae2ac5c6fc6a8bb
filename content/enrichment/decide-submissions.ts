import { keptAnswerBytes, rowBytes, sizeOf } from "#content/operation/stored-bytes.ts";
import { isStructured } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { addCorroboration, applyAgreed } from "./agreed-field-store.ts";
import { corroborates, decide, rejectionReasons } from "./consensus.ts";
import { isBound, secretRefusal, vouchedName } from "./agent-key.ts";
import type { EnrichmentRequest } from "./read.ts";
import {
  type EnrichTarget,
  enrichTarget,
  type FieldState,
  fieldState,
  insertSubmission,
  type NewSubmission,
  priorRejections,
  type Rejection,
  rejectSubmission,
  setConfidence,
  setNetwork,
  type StoredSubmission,
  submissionById,
} from "./submission-store.ts";
import { agreedValue } from "./value.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import {
  decidedOn,
  type EnrichJob,
  isOneTooMany,
  isSecret,
  type Known,
  replacesAnothers,
  roomMadeBy,
  type Submitted,
  voteOf,
} from "./judge-submission.ts";
import { type ProposalFailure, storeOnce } from "./proposal.ts";

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

export type StoredItem = Pick<
  StoredSubmission,
  "id" | "field" | "field_type" | "status" | "audit_only" | "confidence" | "reason"
> & {
  corroborates: boolean;
  rivals: boolean;
  /** Whose value is test data: the agent's own, or that of others who sent the same. */
  tests: "own" | "others" | null;
  /** Whether any submission of the field is rejected. One kept by an earlier version has none. */
  any_rejected?: boolean;
};

export type StoringFailure = ProposalFailure | { kind: "field_queue_full"; fields: string[] };

/** Stores all submissions of a request, or none of it, inside the caller's transaction. */
export async function storeEnrichment(
  tx: WriteTransaction,
  job: EnrichJob,
): Promise<Result<EnrichOutcome, StoringFailure>> {
  const { request, slug } = job;
  const target = await enrichTarget(tx, slug, request);
  if (target === null) return fail({ kind: "nonprofit_not_found", slug });
  // Before anything that was kept is answered: the id may have been bound, or have another secret, since.
  const refusal = secretRefusal(request.agent_id, target.agent_key, job.secret);
  if (refusal !== null) return fail(refusal);
  let bytes = 0;
  const done = await storeOnce(tx, "enrich", job, [slug, request], async () => {
    bytes = keptAnswerBytes(job.idempotencyKey, request.agent_id, request.items.length);
    return storeItems(tx, job, target, (one) => (bytes += submissionBytes(one)));
  });
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

/** The id of its agent is in two indexes as well, and so is what is compared. */
const submissionBytes = (one: NewSubmission): number =>
  rowBytes +
  3 * sizeOf(one.agent_id) +
  sizeOf(one.agent_name) +
  sizeOf(one.source_url) +
  sizeOf(one.value) +
  3 * sizeOf(one.normalised_value);

async function storeItems(
  tx: WriteTransaction,
  job: EnrichJob,
  target: EnrichTarget,
  onStored: (one: NewSubmission) => void,
): Promise<Result<Done, StoringFailure>> {
  const { request, slug } = job;
  const { agent_key, status } = target;
  if (status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const submitted: Submitted[] = [];
  for (const item of request.items) {
    const fresh = newSubmission(job, target, item);
    submitted.push(decidedOn({ job, agent_key, fresh, state: await fieldState(tx, fresh) }));
  }
  // Before anything is stored: a refused batch leaves nothing behind, and others share the transaction.
  const anothers = submitted.find(replacesAnothers);
  if (anothers !== undefined) {
    return fail({ kind: "pending_from_another_network", path: anothers.fresh.field });
  }
  const full = submitted.filter(isOneTooMany).map(({ fresh }) => fresh.field);
  if (full.length > 0) return fail({ kind: "field_queue_full", fields: full });
  const items: StoredItem[] = [];
  let sequence: number | null = null;
  for (const one of submitted) {
    const stored = await storeSubmission(tx, one);
    if (one.earlier === null) onStored(one.fresh);
    items.push(itemOf(one, stored));
    sequence = Math.max(sequence ?? 0, stored.sequence ?? 0) || null;
  }
  const { id: nonprofit_id, name } = target;
  const done = { nonprofit_id, slug: target.slug, name, bound: isBound(agent_key) };
  return ok({ ...done, items, sequence, at: job.now.getTime() });
}

/** What is answered of one submission. */
function itemOf({ fresh, state }: Submitted, { submission, rivals }: Stored): StoredItem {
  const { id, field, field_type, status, audit_only, confidence, reason, test_data } = submission;
  const isSame = ({ normalised_value }: { normalised_value: string }) =>
    normalised_value === fresh.normalised_value;
  const tested = state.votes.some((vote) => isSame(vote) && vote.test_data === 1);
  // What goes live rejects what waited, and so does another value of the same agent.
  const rejects =
    status === "applied" || state.votes.some(({ agent_id }) => agent_id === fresh.agent_id);
  return {
    id,
    field,
    field_type,
    status,
    audit_only,
    confidence,
    reason,
    corroborates: reason === corroborates && !isSecret(field),
    rivals,
    tests: test_data === 1 ? "own" : tested && !isSecret(field) ? "others" : null,
    any_rejected: rejects || state.any_rejected === 1,
  };
}

/** The outcome of a submission. `sequence` is that of the change that made its value live, null when none did. */
type Stored = {
  submission: StoredSubmission;
  sequence: number | null;
  /** Other agents' values are pending too. */
  rivals: boolean;
};

const newSubmission = (
  { request, network, now }: EnrichJob,
  target: EnrichTarget,
  item: EnrichmentRequest["items"][number],
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

/** Stores a submission and does what the rules decide of it; one that the agent sent before is not stored again. */
async function storeSubmission(tx: WriteTransaction, one: Submitted): Promise<Stored> {
  if (one.earlier !== null) return repeat(tx, one, one.earlier);
  const { fresh, state, decision } = one;
  switch (decision.kind) {
    case "audit":
      return unchanged(await audit(tx, one, decision.corroborates));
    case "queued": {
      await replaceOwn(tx, one, decision.replaces);
      const queued = { ...fresh, confidence: agentCount(state) };
      return unchanged(await insertSubmission(tx, queued));
    }
    case "pending": {
      await replaceOwn(tx, one, decision.replaces);
      const { expired: reason } = rejectionReasons;
      await takeBack(tx, roomMadeBy(one), { reason, winning_value: null, at: fresh.created_at });
      const confidence = isSecret(fresh.field) ? 1 : decision.confidence;
      const mine = { ...fresh, confidence };
      // Alone with its value there is no other submission to bring up to date.
      if (mine.confidence > 1) await setConfidence(tx, mine);
      return waiting(await insertSubmission(tx, mine), state);
    }
    case "applied": {
      await replaceOwn(tx, one, decision.replaces);
      const { confidence } = decision;
      return apply(tx, one, await insertSubmission(tx, { ...fresh, confidence }), confidence);
    }
    default:
      return decision satisfies never;
  }
}

/** How many distinct agents sent this value where nothing is to be decided; one that sent it before counts once. */
const agentCount = ({ own, agent_count }: FieldState): number =>
  own === null ? agent_count + 1 : Math.max(1, agent_count);

/** For a submission that makes nothing live and competes with none. */
const unchanged = (submission: StoredSubmission): Stored => ({
  submission,
  sequence: null,
  rivals: false,
});

/** For one that waits for a second agent. */
function waiting(submission: StoredSubmission, { votes }: FieldState): Stored {
  const { field, agent_id, normalised_value } = submission;
  const isRival = (vote: (typeof votes)[number]) =>
    vote.agent_id !== agent_id && vote.normalised_value !== normalised_value;
  return { ...unchanged(submission), rivals: !isSecret(field) && votes.some(isRival) };
}

/** The field holds a value: logged, and the agent named as one more source when it found the same. */
async function audit(
  tx: WriteTransaction,
  { job, agent_key, fresh, state }: Known,
  corroborating: boolean,
): Promise<StoredSubmission> {
  const logged = { ...fresh, network: null, audit_only: 1 };
  if (isSecret(fresh.field)) return insertSubmission(tx, logged);
  const reason = corroborating ? corroborates : null;
  const counted = { ...logged, confidence: agentCount(state), reason };
  const submission = await insertSubmission(tx, counted);
  if (corroborating && fresh.test_data === 0) {
    const name = vouchedName(fresh.agent_id, agent_key);
    await addCorroboration(tx, { ...fresh, name, now: job.now });
  }
  return submission;
}

/** An agent has one pending value per field: its earlier one, if there is one, is rejected. */
const replaceOwn = (tx: WriteTransaction, { fresh }: Known, replaces: number | null) =>
  takeBack(tx, replaces, {
    reason: rejectionReasons.replaced,
    winning_value: fresh.value,
    at: fresh.created_at,
  });

/** Rejects one that waits, null for none; it no longer counts for those of its value. */
async function takeBack(
  tx: WriteTransaction,
  id: number | null,
  rejection: { reason: string; winning_value: string | null; at: number },
): Promise<void> {
  const earlier = id === null ? null : await submissionById(tx, id);
  if (earlier === null) return;
  await rejectSubmission(tx, { id: earlier.id, ...rejection });
  const { confidence } = earlier;
  if (confidence > 1) await setConfidence(tx, { ...earlier, confidence: confidence - 1 });
}

/** Makes what `mine`, which is stored, has in common with all that agree on it live. */
async function apply(
  tx: WriteTransaction,
  { job, fresh: { nonprofit_id }, state }: Known,
  mine: StoredSubmission,
  confidence: number,
): Promise<Stored> {
  const { field, normalised_value } = mine;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  const agreeing = state.votes.filter(
    (vote) => vote.normalised_value === normalised_value && vote.test_data === 0,
  );
  const value = agreedValue(field, [mine.value, ...agreeing.map((vote) => vote.value)]);
  const agreed = { nonprofit_id, field, value, normalised_value, confidence, now: job.now };
  const sequence = await applyAgreed(tx, agreed);
  return { ...unchanged({ ...mine, confidence, status: "applied" }), sequence };
}

/** The same value from the same agent again: it is answered with the submission it has. */
async function repeat(tx: WriteTransaction, one: Known, own: StoredSubmission): Promise<Stored> {
  if (own.status === "pending" && own.audit_only === 0 && own.field_type === "structured") {
    return decideAgain(tx, one, own);
  }
  if (own.audit_only === 1 && isSecret(own.field)) return unchanged({ ...own, confidence: 1 });
  if (own.status === "rejected") return unchanged(own);
  const isLive = own.status === "applied";
  const agents = Math.max(own.confidence, isLive ? 1 : one.state.agent_count);
  const sequence = isLive ? await newestChangeOf(tx, one.fresh.nonprofit_id) : null;
  return { ...unchanged({ ...own, confidence: agents }), sequence };
}

/**
 * The rules look at what waits as at a new submission: the mode of consensus may have been switched since. One from
 * before the strict mode has no network and could never agree with another: it counts with that of this request, and keeps
 * it when the agent's secret came. Without one anybody may have sent this, and would keep the agent from replacing it.
 */
async function decideAgain(
  tx: WriteTransaction,
  one: Known,
  own: StoredSubmission,
): Promise<Stored> {
  const { job, state } = one;
  const mine = { ...own, network: own.network ?? job.network };
  if (mine.network !== null && own.network === null && job.secret !== null) {
    await setNetwork(tx, { id: mine.id, network: mine.network });
  }
  const { field_type } = own;
  const decision = decide({
    field_type,
    live: null,
    pending: state.votes.map(voteOf),
    mine: voteOf(mine),
    mode: job.mode,
  });
  if (decision.kind === "applied") return apply(tx, one, mine, decision.confidence);
  return waiting(mine, state);
}
