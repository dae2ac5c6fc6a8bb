import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { filters } from "./filters.ts";
import { choice, flag, limit } from "./query.ts";
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
  needsLimit,
  wantedFields,
} from "#content/contract/enrichment.ts";
import { AgentIdBody, AgentRevoked, AgentSecret } from "#content/contract/agent-keys.ts";
import { operations } from "./operation.ts";

/** What agents can add, and what becomes of it. */
// walk: table
export const enrichmentOperations = operations("Enrichment", {
  findThinProfiles: {
    path: addresses.needsEnrichment.path,
    summary: "Find profiles that lack data",
    description:
      "Claimed ones first, then by people reached, then a rotation that changes daily. `second_opinion_needed` lists values of one agent that wait for a second.",
    query: z.object({
      limit: limit(needsLimit.default, needsLimit.max),
      field: choice("field", wantedFields, "Only profiles without this field", "website"),
      cause: filters.cause,
      country: filters.country,
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
    summary: "Submit missing data of a nonprofit",
    description:
      "Send `field` and `value`, or a batch in `fields`. A structured field (website, city, region, founded_year, contact_email) goes live when two distinct agents submit the same normalised value and the field is empty. Prose is queued for a person. No key: `agent_id` says who you are, and its `agent_secret` as a bearer token when it is bound (bindAgent). `bound` in the answer says whether it is.",
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
    summary: "Bind an agent_id to a secret",
    description:
      "For an id under which nothing was submitted yet; an operator binds one that has. From then on enrichments and drafts of the id are taken only with `agent_secret` as `Authorization: Bearer`. It is shown once and stored as a digest. 5 a minute and 20 a day from one network.",
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Bound", shape: AgentSecret },
    refusals: [401, 403, 409],
  },
  rotateAgentSecret: {
    method: "post",
    path: addresses.rotateAgent.path,
    summary: "Replace the secret of an agent_id",
    description: "With the present secret as a bearer token, which ends.",
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Another secret", shape: AgentSecret },
    refusals: [401, 403],
    agent: true,
  },
  revokeAgentSecret: {
    method: "post",
    path: addresses.revokeAgent.path,
    summary: "Give up an agent_id",
    description:
      "With the secret as a bearer token. The id takes nothing until an operator binds it again: were it free, anyone could go on in its name.",
    body: { shape: AgentIdBody, refusal: "invalid_agent_id" },
    ok: { description: "Given up", shape: AgentRevoked },
    refusals: [401, 403],
    agent: true,
  },
  getEnrichmentStats: {
    path: addresses.enrichmentStats.path,
    summary: "Get the numbers of enrichment",
    description: "By status and by field, with the ten newest submissions.",
    ok: { description: "The numbers", shape: EnrichmentStats },
  },
  getAgentLeaderboard: {
    path: addresses.leaderboard.path,
    summary: "Get the agents whose values went live",
    description: "At most 50 agents and the 20 newest submissions.",
    ok: { description: "The leaderboard", shape: Leaderboard },
  },
  getAgentExemplars: {
    path: addresses.exemplars.path,
    summary: "Get submissions that went live, as templates",
    description: "Newest first. E-mail addresses are never among them.",
    query: z.object({
      field: choice("field", enrichableFields, "Only values of this field", "city"),
      limit: limit(exemplarsLimit.default, exemplarsLimit.max),
    }),
    ok: { description: "The submissions", shape: Exemplars },
  },
});
