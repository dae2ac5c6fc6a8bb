import { nonprofitNotFound, type Wrong } from "#content/contract/problem.ts";
import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import type { Context } from "#api/context.ts";
import { agentRefusals, proposalCall, proposalContext } from "#api/enrichment/proposal.ts";
import { type EncodedBody, encodedJson } from "#api/http/encoded-body.ts";
import { askedCacheControl } from "#api/http/headers.ts";
import { type FailureTable, Refused, refusalOf, refuse, unusableBody } from "#api/http/problem.ts";
import { helpFor, pathOf, schemaOf } from "#api/http/route.ts";
import { recommendationOperations as operations } from "#content/contract/operations/recommendation.ts";
import { userAgentHash } from "#api/http/client.ts";
import type { RecommendQuery } from "#content/contract/recommendation.ts";
import type { Result } from "#content/contract/result.ts";
import type { Curation } from "#content/recommendation/candidate-store.ts";
import type { LoggedRecommendation } from "#content/recommendation/log-store.ts";
import { draftRecommendation, type DraftRefusal } from "./draft-recommendation.ts";
import { recommend, type RecommendFailure } from "./recommend.ts";

type Answered = {
  answer: EncodedBody;
  toLog: Pick<LoggedRecommendation, "result_count" | "top_slug" | "slugs" | "ranking_signals">;
};

const cachedMax = 1_000;
const minuteMs = 60_000;

/** GET /api/recommend. */
export const recommendRoutes = (context: Context) => {
  const cached = new LRUCache<string, Answered>({ max: cachedMax });
  // Another object as soon as a recommended profile changed.
  let cachedOf: Curation | null = null;
  return new Elysia().get(
    pathOf(operations.recommendNonprofits),
    async ({ request, query }) => {
      const asked = {
        cause: query.cause ?? null,
        country: query.country ?? null,
        q: query.q ?? null,
        intent: query.intent,
        limit: query.limit,
      };
      const now = context.clock();
      // Points fade with time: counted to the minute, so that an answer can be sent again. Those for curation end with one.
      const minute = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
      const curation = await context.curated.current();
      if (curation !== cachedOf) cached.clear();
      cachedOf = curation;
      const key = JSON.stringify([minute, asked]);
      let known = cached.get(key);
      if (known === undefined) {
        const outcome = answerTo(context, { curation, now: minute }, asked);
        if (!outcome.ok) return refuse(answers, outcome.failure);
        known = outcome.value;
        cached.set(key, known);
      }
      context.activity.count("query:recommend");
      const client = userAgentHash(
        context.secrets.dailyHashKey,
        request.headers.get("user-agent") ?? "",
        now.getTime(),
      );
      const phase = context.config.recommendationPhase;
      context.recommendationLog.add({
        query: asked,
        ...known.toLog,
        phase,
        client,
        called_at: now,
      });
      return known.answer;
    },
    schemaOf(operations.recommendNonprofits),
  );
};

function answerTo(
  { config }: Context,
  of: { curation: Curation; now: Date },
  asked: RecommendQuery,
): Result<Answered, RecommendFailure> {
  const { baseUrl, recommendationPhase: phase } = config;
  const outcome = recommend({ ...of, phase, baseUrl }, asked);
  if (!outcome.ok) return outcome;
  const { count, recommendations, ranking_signals } = outcome.value;
  const slugs = recommendations.map(({ slug }) => slug);
  const toLog = { result_count: count, top_slug: slugs[0] ?? null, slugs, ranking_signals };
  return { ok: true, value: { answer: encodedJson(outcome.value, askedCacheControl), toLog } };
}

const answers: FailureTable<RecommendFailure> = {
  nothing_asked: { status: 400, detail: "Send at least one of cause, country and q." },
};

/** POST /api/recommend/drafts. */
export const recommendDraftRoutes = (context: Context) => {
  const { config, curated } = context;
  const verb = {
    ...proposalContext(context),
    phase: config.recommendationPhase,
    onRecommended: () => curated.lookAgain(),
  };
  const draftAnswers = answersTo(config.baseUrl);
  return (
    new Elysia()
      // A draft is not looked at where none is taken.
      .onTransform(() => {
        if (config.recommendationPhase !== 1) return;
        throw new Refused(refusalOf<DraftRefusal>(draftAnswers, { kind: "drafts_not_open" }));
      })
      .post(
        pathOf(operations.draftRecommendation),
        async ({ body, request }) => {
          const call = { ...proposalCall(context, request), body };
          const outcome = await draftRecommendation(verb, call);
          return outcome.ok ? outcome.value : refuse(draftAnswers, outcome.failure);
        },
        schemaOf(
          operations.draftRecommendation,
          helpFor(operations.draftRecommendation, config.baseUrl),
        ),
      )
  );
};

const answersTo = (baseUrl: string) => {
  const faulty = ({ errors }: { errors: Wrong[] }) => ({
    ...unusableBody(errors.map(({ path, message }) => ({ path, message }))),
    extra: helpFor(operations.draftRecommendation, baseUrl),
  });
  return {
    drafts_not_open: {
      status: 403,
      detail:
        "The governance of recommendations is in phase 1 here: the operator picks them, and drafts from agents are not accepted yet.",
    },
    invalid_draft: faulty,
    wording_claims_too_much: faulty,
    nonprofit_not_found: nonprofitNotFound,
    nonprofit_withdrawn: {
      status: 410,
      detail: "This nonprofit is withdrawn from its register: it cannot be recommended.",
    },
    ...agentRefusals,
  } as const satisfies FailureTable<DraftRefusal>;
};
