import { z } from "zod";
import { cause, choice, flag, limit } from "./query.ts";
import {
  EnrichmentAnswer,
  EnrichmentStats,
  Exemplars,
  Needs,
  Leaderboard,
} from "#content/contract/enrichment-answers.ts";
import {
  EnrichmentBody,
  enrichableFields,
  exemplarsLimit,
  needsFilters,
  needsLimit,
} from "#content/contract/enrichment.ts";
import { operation } from "./operation.ts";

export const findThinProfiles = operation({
  operationId: "findThinProfiles",
  method: "get",
  path: "/api/needs-enrichment",
  tag: "Enrichment",
  summary: "Find profiles that lack data",
  description:
    "Claimed ones first, then by people reached, then a rotation that changes daily. `second_opinion_needed` lists values of one agent that wait for a second.",
  query: z.object({
    limit: limit(needsLimit.default, needsLimit.max),
    field: choice("field", needsFilters, "Only profiles without this field", "website"),
    cause,
    pending: flag("Only profiles where a value of one agent waits for a second", "true"),
  }),
  ok: { description: "Profiles to complete", shape: Needs },
});

export const submitEnrichment = operation({
  operationId: "submitEnrichment",
  method: "post",
  path: "/api/enrich/{slug}",
  tag: "Enrichment",
  summary: "Submit missing data of a nonprofit",
  description:
    "Send `field` and `value`, or a batch in `fields`. A structured field (website, city, region, founded_year, contact_email) goes live when two distinct agents submit the same normalised value and the field is empty. Prose is queued for a person. No key: `agent_id` says who you are.",
  headers: ["IdempotencyKey"],
  body: { shape: EnrichmentBody, refusal: "invalid_enrichment" },
  ok: {
    description: "Stored; each submission says whether its value is live",
    shape: EnrichmentAnswer,
  },
  refusals: [409, 410],
});

export const getEnrichmentStats = operation({
  operationId: "getEnrichmentStats",
  method: "get",
  path: "/api/enrichments/stats",
  tag: "Enrichment",
  summary: "Get the numbers of enrichment",
  description: "By status and by field, with the ten newest submissions.",
  ok: { description: "The numbers", shape: EnrichmentStats },
});

export const getAgentLeaderboard = operation({
  operationId: "getAgentLeaderboard",
  method: "get",
  path: "/api/agents/leaderboard",
  tag: "Enrichment",
  summary: "Get the agents whose values went live",
  description: "At most 50 agents and the 20 newest submissions.",
  ok: { description: "The leaderboard", shape: Leaderboard },
});

export const getAgentExemplars = operation({
  operationId: "getAgentExemplars",
  method: "get",
  path: "/api/agents/exemplars",
  tag: "Enrichment",
  summary: "Get submissions that went live, as templates",
  description: "Newest first. E-mail addresses are never among them.",
  query: z.object({
    field: choice("field", enrichableFields, "Only values of this field", "city"),
    limit: limit(exemplarsLimit.default, exemplarsLimit.max),
  }),
  ok: { description: "The submissions", shape: Exemplars },
});

/** What agents can add, and what becomes of it. */
export const enrichmentOperations = [
  findThinProfiles,
  submitEnrichment,
  getEnrichmentStats,
  getAgentLeaderboard,
  getAgentExemplars,
];
