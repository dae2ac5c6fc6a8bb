import type {
  EnrichmentAnswer,
  EnrichmentSubmission,
  PriorRejection,
} from "#content/contract/enrichment-answers.ts";
import { proseFields, structuredFields } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { type Clock, wireTime } from "#content/contract/time.ts";
import {
  agentsNeeded,
  type ConsensusMode,
  promotionNote,
  type Standing,
} from "#content/enrichment/consensus.ts";
import { type EnrichmentRequest, readEnrichment, type Wrong } from "#content/enrichment/read.ts";
import type { Rejection } from "#content/enrichment/submission-store.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import type { Store } from "#content/store/open.ts";
import { type GroupCommit, groupCommit } from "#content/store/write-batcher.ts";
import {
  type EnrichJob,
  type EnrichOutcome,
  type StoreFailure,
  type StoredItem,
  storeEnrichments,
} from "./store-enrichment.ts";

/** What the verb works with; the service fills it from its own context. */
export type EnrichContext = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  mode: ConsensusMode;
  /** Counts submissions of an agent; answers how long it must wait, 0 for not at all. */
  takeAgent: (agentId: string, submissions: number) => Promise<AgentAllowance>;
  /** Waits, bounded, until a change is published; absent where nothing is published beside the service. */
  waitForPublication?: ((sequence: number) => Promise<{ release: string } | null>) | undefined;
};

type AgentAllowance = { allowed: boolean; retryAfterMs: number };

export type EnrichCall = {
  slug: string;
  body: unknown;
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; only asked for in the strict mode. */
  network: string | null;
};

export type EnrichFailure =
  | StoreFailure
  | { kind: "invalid_enrichment"; errors: Wrong[] }
  | { kind: "invalid_idempotency_key" }
  | { kind: "agent_rate_limited"; agent_id: string; retryAfterMs: number };

const idempotencyKeyLengthMax = 255;

/**
 * Takes what an agent found out about a nonprofit: stores it, and makes a structured value live when two agents agree.
 * All of it is one transaction; the answer comes after the commit is on disk and, for a value that went live, after the
 * published profile holds it or the wait for that ended. Nothing is ever fetched. Source: spec, "Enrichment".
 */
export async function enrich(
  context: EnrichContext,
  call: EnrichCall,
): Promise<Result<EnrichmentAnswer, EnrichFailure>> {
  const read = readEnrichment(call.body, { thisYear: context.clock().getUTCFullYear() });
  if (!read.ok) return fail({ kind: "invalid_enrichment", errors: read.failure });
  const key = call.idempotencyKey;
  if (key !== null && !isUsableKey(key)) return fail({ kind: "invalid_idempotency_key" });
  const limited = await limitAgent(context, read.value);
  if (limited !== null) return fail(limited);
  const stored = await groupOf(context.store).run({
    request: read.value,
    slug: call.slug,
    idempotencyKey: key,
    network: context.mode === "networks" ? call.network : null,
    mode: context.mode,
    now: context.clock(),
  });
  if (!stored.ok) return stored;
  const published = await publication(context, stored.value);
  return ok(
    enrichmentAnswer(stored.value, { ...published, baseUrl: context.baseUrl, mode: context.mode }),
  );
}

/** Printable, so that a key is the same thing to every proxy on its way. */
export const isUsableKey = (key: string): boolean =>
  key.length <= idempotencyKeyLengthMax && /^[\x21-\x7e]+$/.test(key);

async function limitAgent(
  { takeAgent }: EnrichContext,
  { agent_id, items }: EnrichmentRequest,
): Promise<EnrichFailure | null> {
  const { allowed, retryAfterMs } = await takeAgent(agent_id, items.length);
  return allowed ? null : { kind: "agent_rate_limited", agent_id, retryAfterMs };
}

/** `applied: true` is said only once the published profile holds the value. */
async function publication(
  { waitForPublication }: EnrichContext,
  { sequence }: EnrichOutcome,
): Promise<{ live: boolean; release: string | null }> {
  if (sequence === null || waitForPublication === undefined) return { live: false, release: null };
  const published = await waitForPublication(sequence);
  return { live: published !== null, release: published?.release ?? null };
}

type EnrichGroup = GroupCommit<EnrichJob, Result<EnrichOutcome, StoreFailure>>;
const groups = new WeakMap<Store, EnrichGroup>();

/** Submissions of one process that arrive together share a transaction and a sync to disk. */
function groupOf(store: Store): EnrichGroup {
  const known = groups.get(store);
  if (known !== undefined) return known;
  const made = groupCommit(store, storeEnrichments);
  groups.set(store, made);
  return made;
}

type Context = {
  baseUrl: string;
  mode: ConsensusMode;
  /** Whether the published profile holds what was applied. */
  live: boolean;
  release: string | null;
};

/** What a client is told of its submissions. Source: spec, POST /api/enrich/{slug}. */
export function enrichmentAnswer(outcome: EnrichOutcome, context: Context): EnrichmentAnswer {
  const profile_url = `${context.baseUrl}/nonprofits/${outcome.slug}`;
  const submissions = outcome.items.map((item) => submissionOf(item, profile_url, context));
  return {
    message: summary(submissions),
    nonprofit: outcome.name,
    profile_url,
    auto_promote: { structured: [...structuredFields], prose_pending: [...proseFields] },
    submissions,
    release: context.release,
    note: `Every applied submission credits its agent_name on the leaderboard: ${context.baseUrl}/agents and ${context.baseUrl}/api/agents/leaderboard.`,
  };
}

function submissionOf(
  item: StoredItem,
  profile_url: string,
  context: Context,
): EnrichmentSubmission {
  const decidedByPerson = item.field_type === "prose" && item.status === "applied";
  return {
    submission_id: item.id,
    field: item.field,
    field_type: item.field_type,
    status: item.status,
    applied: item.status === "applied" && context.live,
    confidence: item.confidence,
    consensus: item.confidence >= agentsNeeded,
    promotion_note: promotionNote(item.field, standingOf(item, context, decidedByPerson)),
    prior_rejections: item.prior_rejections.map((one) => rejectionOf(item.field, one)),
    profile_url,
  };
}

function standingOf(item: StoredItem, { live, mode }: Context, byPerson: boolean): Standing {
  const agents = item.confidence;
  if (item.status === "rejected") return { kind: "rejected", reason: item.reason ?? "" };
  if (byPerson) return { kind: "accepted" };
  if (item.status === "applied") return { kind: live ? "live" : "publishing", agents };
  if (item.audit_only === 1) return { kind: item.corroborates ? "corroborates" : "audit" };
  if (item.field_type === "prose") return { kind: "queued" };
  return { kind: "awaiting", agents, rivals: item.rivals, mode };
}

const rejectionOf = (field: string, one: Rejection): PriorRejection => ({
  agent: one.agent_name,
  rejected_value: publicValue(field, one.value),
  reason: one.reason ?? "",
  winning_value: one.winning_value === null ? null : publicValue(field, one.winning_value),
  rejected_at: wireTime(new Date(one.decided_at)),
});

function summary(submissions: readonly EnrichmentSubmission[]): string {
  const applied = submissions.filter(({ status }) => status === "applied").length;
  const received = submissions.length === 1 ? "1 submission" : `${submissions.length} submissions`;
  const waiting = submissions.length - applied;
  return `Thank you: ${received} received, ${applied} applied, ${waiting} pending. Each promotion_note says what comes next.`;
}
