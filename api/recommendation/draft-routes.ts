import { Elysia } from "elysia";
import { draftExample } from "#content/contract/recommendation-draft.ts";
import { agentRefusals } from "#api/enrichment/agent-refusals.ts";
import { consensusNetwork } from "#api/enrichment/consensus-network.ts";
import type { Parts } from "#api/context.ts";
import { type FailureTable, refuse } from "#api/http/problem.ts";
import { type DraftRefusal, draftRecommendation } from "./draft-recommendation.ts";

/** POST /api/recommend/drafts. */
export const recommendDraftRoutes = (parts: Parts) => {
  const { store, clock, config, limits, curated } = parts;
  const verb = {
    store,
    clock,
    baseUrl: config.baseUrl,
    phase: config.recommendationPhase,
    mode: config.consensus,
    takeAgent: async (agentId: string, submissions: number) => {
      const { allowed, resetMs } = await limits.agent(agentId, submissions);
      return { allowed, retryAfterMs: resetMs };
    },
    onRecommended: () => curated.lookAgain(),
  };
  const answers = answersTo(config.baseUrl);
  return new Elysia().post("/api/recommend/drafts", async ({ body, request }) => {
    const outcome = await draftRecommendation(verb, {
      body,
      idempotencyKey: request.headers.get("idempotency-key"),
      network: consensusNetwork(parts, request),
    });
    return outcome.ok ? outcome.value : refuse(answers, outcome.failure);
  });
};

const answersTo = (baseUrl: string) => {
  const example = {
    method: "POST",
    url: `${baseUrl}/api/recommend/drafts`,
    headers: { "content-type": "application/json" },
    body: draftExample,
  };
  const faulty = ({ errors }: { errors: { path: string; message: string }[] }) => ({
    status: 400,
    detail: `Nothing was stored. ${errors
      .map(({ path, message }) => `${path}: ${message}`)
      .join(" ")
      .slice(0, 1_000)}`,
    errors: errors.map(({ path, message }) => ({ path, message })),
    extra: { example },
  });
  return {
    drafts_not_open: {
      status: 403,
      detail:
        "The governance of recommendations is in phase 1 here: the operator picks them, and drafts of agents are not taken yet.",
    },
    invalid_draft: faulty,
    wording_claims_too_much: faulty,
    nonprofit_not_found: {
      status: 404,
      detail: `No nonprofit has this slug. GET ${baseUrl}/api/search?q=name finds one.`,
    },
    nonprofit_withdrawn: {
      status: 410,
      detail: "This nonprofit is withdrawn from its register: it cannot be recommended.",
    },
    ...agentRefusals,
  } as const satisfies FailureTable<DraftRefusal>;
};
