import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { choice, filters, flag, limit } from "./query.ts";
import { fields, operations } from "./operation.ts";
import {
  AgentIdBody,
  AgentRevoked,
  AgentSecret,
  EnrichmentAnswer,
  EnrichmentStats,
  Exemplars,
  Leaderboard,
  Needs,
  ThinProfile,
} from "#content/contract/enrichment-answers.ts";
import {
  EnrichmentBody,
  enrichableFields,
  exemplarsLimit,
  needsLimit,
  wantedFields,
} from "#content/contract/enrichment.ts";
import {
  GapAnswer,
  GapBody,
  GapCounts,
  CorrectionAnswer,
  CorrectionBody,
  CorrectionStatus,
} from "#content/contract/correction.ts";

/** What agents can add, and the status of it. */
// walk: table
export const enrichmentOperations = operations("Enrichment", {
  findThinProfiles: {
    path: addresses.needsEnrichment.path,
    query: z.object({
      limit: limit(needsLimit.default, needsLimit.max),
      field: choice("field", wantedFields, "Only profiles without this field", "website"),
      ...filters,
      fields: fields(ThinProfile),
      pending: flag(
        "pending",
        "Only profiles where a value of one agent waits for a second",
        "true",
      ),
    }),
    ok: { description: "Profiles to complete", shape: Needs },
  },
  submitEnrichment: {
    method: "post",
    path: addresses.enrich.path,
    headers: ["IdempotencyKey"],
    body: { shape: EnrichmentBody, refusal: "invalid_enrichment" },
    ok: {
      description: "Stored; each submission says whether its value is live",
      shape: EnrichmentAnswer,
    },
    refusals: [401, 403, 409, 410],
    agent: true,
  },
  bindAgent: {
    method: "post",
    path: addresses.bindAgent.path,
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Bound", shape: AgentSecret },
    refusals: [401, 403, 409],
  },
  rotateAgentSecret: {
    method: "post",
    path: addresses.rotateAgent.path,
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Another secret", shape: AgentSecret },
    refusals: [401, 403],
    agent: true,
  },
  revokeAgentSecret: {
    method: "post",
    path: addresses.revokeAgent.path,
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Given up", shape: AgentRevoked },
    refusals: [401, 403],
    agent: true,
  },
  reportGap: {
    method: "post",
    path: addresses.gaps.path,
    body: { shape: GapBody },
    ok: { description: "Counted", shape: GapAnswer },
    refusals: [403, 404, 409],
  },
  countGaps: {
    path: addresses.gaps.path,
    ok: { description: "The counts", shape: GapCounts },
  },
  getEnrichmentStats: {
    path: addresses.enrichmentStats.path,
    ok: { description: "The numbers", shape: EnrichmentStats },
  },
  getAgentLeaderboard: {
    path: addresses.leaderboard.path,
    ok: { description: "The leaderboard", shape: Leaderboard },
  },
  getAgentExemplars: {
    path: addresses.exemplars.path,
    query: z.object({
      field: choice("field", enrichableFields, "Only values of this field", "city"),
      limit: limit(exemplarsLimit.default, exemplarsLimit.max),
    }),
    ok: { description: "The submissions", shape: Exemplars },
  },
});

/** Reports that a profile is wrong, from anyone. */
export const correctionOperations = operations("Enrichment", {
  correctNonprofit: {
    method: "post",
    path: addresses.correct.path,
    headers: ["IdempotencyKey"],
    body: { shape: CorrectionBody },
    ok: { description: "It waits for an operator", shape: CorrectionAnswer },
    refusals: [403, 404, 409, 410],
  },
  getCorrectionStatus: {
    path: addresses.correctionStatusJson.path,
    fresh: true,
    secret: true,
    ok: { description: "Status of the correction", shape: CorrectionStatus },
    refusals: [404],
  },
});
