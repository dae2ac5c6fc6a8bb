import { createHash } from "node:crypto";
import { isStructured } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { addCorroboration, applyAgreed } from "#content/enrichment/apply-field.ts";
import {
  type ConsensusMode,
  corroborates,
  decide,
  type Decision,
  rejectionReasons,
} from "#content/enrichment/consensus.ts";
import type { EnrichmentRequest } from "#content/enrichment/read.ts";
import {
  type EnrichTarget,
  enrichTargets,
  type NewSubmission,
  type OwnSubmission,
  priorRejections,
  type Rejection,
  rejectSubmission,
  setConfidence,
  setNetwork,
  type Standing,
  type StoredSubmission,
  submissionById,
} from "#content/enrichment/submission-store.ts";
import { comparedLive, comparedValue } from "#content/enrichment/value.ts";
import { EnrichmentWrites } from "#content/enrichment/writes.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import { uncountPending } from "#content/nonprofit/pending-store.ts";
import { type AskedKey, type KeptAnswer, keptAnswers } from "#content/operation/idempotency.ts";
import type { WriteTransaction } from "#content/store/open.ts";

/** One request to enrich, read and checked, as it goes into a transaction. */
export type EnrichJob = {
  request: EnrichmentRequest;
  slug: string;
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; null outside the strict mode. */
  network: string | null;
  mode: ConsensusMode;
  now: Date;
};

/** The transaction that a job shares with others, what they write together at its end, and the job's place among them. */
export type Group = { tx: WriteTransaction; writes: EnrichmentWrites; place: number };

/** One submission of a job, with what stands on its field. */
export type OneItem = {
  job: EnrichJob;
  target: EnrichTarget;
  item: EnrichmentRequest["items"][number];
  standing: Standing;
};

/** What became of a submission. `sequence` is that of the change that made its value live, null when none did. */
export type Stored = {
  submission: OwnSubmission;
  sequence: number | null;
  /** Other agents' values are pending too. */
  rivals: boolean;
  /** What was rejected on this field, as of after this submission. */
  rejections: readonly Rejection[];
};

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
  prior_rejections: readonly Rejection[];
};

/** What the transaction did: plain data, so that it can be kept for an Idempotency-Key. */
export type EnrichOutcome = {
  slug: string;
  name: string;
  items: StoredItem[];
  /** The newest change that made one of these values live; null when none is live. */
  sequence: number | null;
};

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

/** Stores a submission and does what the rules decide of it; one that the agent sent before is not stored again. */
export async function storeSubmission(group: Group, one: OneItem): Promise<Stored> {
  const earlier = earlierOf(one);
  if (earlier !== null) return repeatSubmission(group, one, earlier);
  const { job, item, standing } = one;
  const fresh = newSubmission(one);
  const decision = decide({
    field_type: item.field_type,
    live: standing.live === null ? null : comparedLive(item.field, standing.live),
    pending: standing.voices,
    mine: fresh,
    mode: job.mode,
  });
  countSubmission(group, one, fresh);
  switch (decision.kind) {
    case "audit":
      return told(one, await audit(group, one, fresh, decision.corroborates));
    case "queued":
      return told(
        one,
        group.writes.insert({ ...fresh, network: null, confidence: countedOnce(standing) }),
      );
    case "pending":
      return wait(group, one, { fresh, decision });
    case "applied": {
      await replaceOwn(group, fresh, decision);
      const mine = group.writes.insert({ ...fresh, confidence: decision.confidence });
      return applySubmission(group, one, { mine, decision });
    }
    default:
      return decision satisfies never;
  }
}

const newSubmission = ({ job, target, item }: OneItem): NewSubmission => ({
  nonprofit_id: target.id,
  field: item.field,
  field_type: item.field_type,
  value: item.value,
  normalised_value: item.normalised_value,
  source_url: item.source_url,
  agent_id: job.request.agent_id,
  agent_name: job.request.agent_name,
  network: job.network,
  status: "pending",
  audit_only: 0,
  test_data: item.test_data ? 1 : 0,
  confidence: 1,
  reason: null,
  winning_value: null,
  created_at: job.now.getTime(),
  applied_at: null,
  decided_at: null,
});

/** How many distinct agents sent this value where nothing is to be decided; one that sent it before counts once. */
const countedOnce = ({ own, running }: Standing): number =>
  own === null ? running + 1 : Math.max(1, running);

/** For a submission that makes nothing live and competes with none. */
const told = ({ standing }: OneItem, submission: OwnSubmission): Stored => ({
  submission,
  sequence: null,
  rivals: false,
  rejections: standing.rejections,
});

/** The field holds a value: logged, and the agent named as one more source when it found the same. */
async function audit(
  { tx, writes }: Group,
  { job, standing }: OneItem,
  fresh: NewSubmission,
  corroborating: boolean,
): Promise<OwnSubmission> {
  const confidence = countedOnce(standing);
  const reason = corroborating ? corroborates : null;
  const submission = writes.insert({ ...fresh, network: null, audit_only: 1, confidence, reason });
  if (corroborating && fresh.test_data === 0) {
    await addCorroboration(tx, { ...fresh, now: job.now });
  }
  return submission;
}

type Pending = Extract<Decision, { kind: "pending" }>;

async function wait(
  group: Group,
  { standing }: OneItem,
  { fresh, decision }: { fresh: NewSubmission; decision: Pending },
): Promise<Stored> {
  const { tx, writes } = group;
  await replaceOwn(group, fresh, decision);
  // Alone with its value there is nobody else to tell.
  if (decision.confidence > 1) await recount(group, fresh, decision.confidence);
  const submission = writes.insert({ ...fresh, confidence: decision.confidence });
  if (fresh.test_data === 0) writes.countPending(fresh);
  const isNews = decision.replaces !== null;
  const rejections = isNews ? await priorRejections(tx, fresh) : standing.rejections;
  return { submission, sequence: null, rivals: standing.rivals, rejections };
}

function countSubmission(
  { writes: { tally }, place }: Group,
  { target, job, item }: OneItem,
  fresh: NewSubmission,
): void {
  const counted = fresh.test_data === 0;
  tally.add("total");
  tally.add(`status:${fresh.status}`);
  tally.add(`field:${fresh.field}`);
  if (counted) tally.add("public_submissions");
  // Of a batch the first item that counts is the one that touches the nonprofit.
  const first = job.request.items.find(({ test_data }) => !test_data) === item;
  const touched = counted && first && !target.touched;
  tally.seen({ ...fresh, at: fresh.created_at, place }, { counted, touched });
}

type Applied = Extract<Decision, { kind: "applied" }>;

/** Makes the value of `mine` live, with all that agree on it; `mine` is stored, or among what is gathered. */
export async function applySubmission(
  group: Group,
  { job, target }: OneItem,
  { mine, decision }: { mine: OwnSubmission; decision: Applied },
): Promise<Stored> {
  const { tx, writes } = group;
  const { field, normalised_value } = mine;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  await writes.flush();
  const { confidence } = decision;
  await recount(group, mine, confidence);
  const earliest = await submissionById(tx, Math.min(mine.id, decision.winner ?? mine.id));
  const sequence = await applyAgreed(tx, writes.tally, {
    nonprofit_id: target.id,
    slug: target.slug,
    field,
    value: earliest?.value ?? mine.value,
    normalised_value,
    confidence,
    now: job.now,
  });
  // The transaction holds the write lock, so the field is as empty as it was when it was read.
  if (sequence === null) throw new Error(`${field} of nonprofit ${target.id} was filled meanwhile`);
  const submission = { ...mine, confidence, status: "applied" as const };
  return { submission, sequence, rivals: false, rejections: await priorRejections(tx, mine) };
}

/** An agent has one pending value per field: its earlier one, if there is one, is rejected. */
export async function replaceOwn(
  group: Group,
  fresh: NewSubmission,
  { replaces }: { replaces: number | null },
): Promise<void> {
  if (replaces === null) return;
  const { tx, writes } = group;
  const earlier = await submissionById(tx, replaces);
  const reason = rejectionReasons.replaced;
  const at = fresh.created_at;
  await rejectSubmission(tx, { id: replaces, reason, winning_value: fresh.value, at });
  writes.tally.move("pending", "rejected");
  if (earlier === null) return;
  if (earlier.test_data === 0) await uncountPending(tx, fresh);
  if (earlier.confidence > 1) await recount(group, earlier, earlier.confidence - 1);
}

/** Brings the number of agreeing agents on the stored submissions of a value up to date. */
export async function recount(
  { tx, writes }: Group,
  one: Pick<NewSubmission, "nonprofit_id" | "field" | "normalised_value">,
  confidence: number,
): Promise<void> {
  const { nonprofit_id, field, normalised_value } = one;
  const changed = await setConfidence(tx, { nonprofit_id, field, normalised_value, confidence });
  if (changed.risen > 0) writes.tally.add("high_confidence", changed.risen);
  if (changed.fallen > 0) writes.tally.add("high_confidence", -changed.fallen);
}

/** The submission with this value that the agent has already; null when it has none, or none that still counts. */
export function earlierOf({ standing: { own, live } }: OneItem): OwnSubmission | null {
  if (own === null) return null;
  const { field, status, audit_only } = own;
  if (field === "programme" || field === "impact_metric") return own;
  const compared = live === null ? null : comparedLive(field, live);
  // What was live and has since been emptied or replaced, or was logged beside another value than this, counts anew.
  if (status === "applied") {
    return compared === comparedValue(field, own.winning_value ?? own.value) ? own : null;
  }
  if (audit_only === 0) return own;
  const isLive = compared === own.normalised_value;
  return compared !== null && isLive === (own.reason === corroborates) ? own : null;
}

/** The same value from the same agent again: it is answered with the submission it has. */
export async function repeatSubmission(
  group: Group,
  one: OneItem,
  own: OwnSubmission,
): Promise<Stored> {
  const { target, standing } = one;
  if (own.status === "pending" && own.audit_only === 0 && own.field_type === "structured") {
    return lookAgain(group, one, own);
  }
  const running = own.status === "applied" ? 1 : standing.running;
  return {
    submission: { ...own, confidence: Math.max(own.confidence, running) },
    sequence: own.status === "applied" ? await newestChangeOf(group.tx, target.id) : null,
    rivals: false,
    rejections: standing.rejections,
  };
}

/**
 * The rules look at what waits as at a new submission: the mode of consensus may have been switched since. One from
 * before the strict mode has no network and could never agree with another, so it gets that of this request; after the
 * strict mode two agents of one network are enough.
 */
async function lookAgain(group: Group, one: OneItem, own: OwnSubmission): Promise<Stored> {
  const { job, standing } = one;
  const mine = { ...own, network: own.network ?? job.network };
  if (mine.network !== null && own.network === null) {
    await setNetwork(group.tx, { id: mine.id, network: mine.network });
  }
  const { field_type } = own;
  const pending = standing.voices.filter(({ id }) => id !== mine.id);
  const decision = decide({ field_type, live: null, pending, mine, mode: job.mode });
  if (decision.kind === "applied") return applySubmission(group, one, { mine, decision });
  const { rivals, rejections } = standing;
  return { submission: mine, sequence: null, rivals, rejections };
}
