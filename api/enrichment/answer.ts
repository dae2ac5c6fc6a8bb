import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { agentsNeeded } from "#content/enrichment/consensus.ts";
import { publicValue } from "#content/nonprofit/mask.ts";
import { promotionNote, type Standing } from "#content/enrichment/promotion-note.ts";
import { wireTime } from "#content/contract/time.ts";
import { proseFields, structuredFields } from "#content/contract/enrichment.ts";
import type {
  EnrichmentAnswer,
  EnrichmentSubmission,
  PriorRejection,
} from "#content/contract/enrichment-answers.ts";
import type { Rejection } from "#content/enrichment/submissions.ts";
import type { EnrichOutcome, StoredItem } from "./job.ts";

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
