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
import { readEnrichment } from "./read.ts";
import type { Rejection } from "./submission-store.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import { admit, type ProposalCall, type ProposalWorld, type ProposalRefusal } from "./proposal.ts";
import {
  type EnrichOutcome,
  type StoredItem,
  storeEnrichment,
  type StoringFailure,
} from "./decide-submissions.ts";

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
  return {
    message: summary(submissions),
    nonprofit: outcome.name,
    profile_url,
    auto_promote: { structured: [...structuredFields], prose_pending: [...proseFields] },
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
  if (item.tests === "own") return { kind: "test" };
  return { kind: "awaiting", agents, rivals: item.rivals, tests: item.tests === "others", mode };
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
