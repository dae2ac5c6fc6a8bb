import details from "#content/editorial/problem-details.json";
import { nonprofitNotFound, type Wrong } from "#content/contract/problem.ts";
import { Elysia } from "elysia";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { loggedCacheControl } from "#api/http/headers.ts";
import {
  type FailureTable,
  problem,
  RefusalError,
  refusalOf,
  refuse,
  unusableBody,
} from "#api/http/problem.ts";
import { withFields } from "#content/contract/operations/operation.ts";
import { minuteMs } from "#content/contract/base/time.ts";
import { filtersOf, givenFilters } from "#content/contract/browse.ts";
import { helpFor, pathOf, route, schemaOf, serve } from "#api/http/route.ts";
import { recommendationOperations as operations } from "#content/contract/operations/recommendation.ts";
import { networkHash } from "#api/http/client.ts";
import { userAgentHash } from "./follow-up.ts";
import type { RecommendAnswer } from "#content/contract/recommendation.ts";
import type { Curation } from "#content/recommendation/curation.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { waitingOfNetworkMax } from "#content/requests/quota.ts";
import {
  draftRecommendation,
  type DraftRefusal,
} from "#content/recommendation/draft-recommendation.ts";
import { recommend } from "#content/recommendation/recommend.ts";
import {
  agentRefusals,
  proposalCall,
  proposalWorld,
  secretFailure,
} from "#api/enrichment/proposal.ts";

const cachedBytesMax = 16 * 1024 * 1024;

/** GET /api/recommend. */
export const recommendRoutes = (context: Context) => {
  const { config, clock, curated, secrets, activity, recommendationLog } = context;
  const cached = weighedCache<ReturnType<typeof answered>>(
    cachedBytesMax,
    // The compressed forms take about as much again.
    ({ answer }) => 2 * answer.memoryBytes,
  );
  // `current` returns another object once a recommended profile has changed.
  let cachedOf: Curation | null = null;
  return serve(
    route(operations.recommendNonprofits, async ({ request, query }) => {
      const { q = null, intent, limit, fields, ...filters } = query;
      if (q === null && givenFilters(filters).length === 0) return problem(nothingAsked);
      const recommendQuery = { ...filtersOf(filters), q, intent, limit };
      const now = clock();
      // Scores fade with time, and are computed per minute, so that an answer can be cached and sent again.
      const minute = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
      const curation = await curated.current();
      if (curation !== cachedOf) cached.clear();
      cachedOf = curation;
      const key = JSON.stringify([minute, recommendQuery, fields]);
      const { baseUrl, givingLinks, recommendationPhase: phase } = config;
      const recommendation =
        cached.get(key) ??
        answered(
          await recommend({ curation, phase, now: minute, baseUrl, givingLinks }, recommendQuery),
          fields,
        );
      cached.set(key, recommendation);
      activity.count("query:recommend");
      const userAgent = request.headers.get("user-agent") ?? "";
      const client = userAgentHash(secrets.clientHashKey, userAgent, now.getTime());
      recommendationLog.add(
        { query: recommendQuery, ...recommendation.toLog, phase, client, called_at: now },
        networkHash(request, context),
      );
      return recommendation.answer;
    }),
  );
};

const nothingAsked = {
  status: 400,
  code: "nothing_asked",
  detail: details.recommendation.nothing_asked,
};

/** An answer as it is sent, and the facts to log about it. */
function answered(answer: RecommendAnswer, fields: readonly string[] | undefined) {
  const { count, recommendations, ranking_signals } = answer;
  const slugs = recommendations.map(({ slug }) => slug);
  const toLog = { result_count: count, top_slug: slugs[0] ?? null, slugs, ranking_signals };
  const body = { ...answer, recommendations: withFields(recommendations, fields) };
  return { answer: encodedJson(body, loggedCacheControl), toLog };
}

export const recommendDraftRoutes = (context: Context) => {
  const { config, curated } = context;
  const verb = {
    ...proposalWorld(context),
    phase: config.recommendationPhase,
    onRecommended: () => curated.lookAgain(),
  };
  const draftAnswers = answersTo(config.baseUrl);
  return (
    new Elysia()
      // Where no drafts are taken, the body is not read.
      .onTransform(() => {
        if (config.recommendationPhase !== 1) return;
        throw new RefusalError(refusalOf<DraftRefusal>(draftAnswers, { kind: "drafts_not_open" }));
      })
      .post(
        pathOf(operations.draftRecommendation),
        async ({ body, request }) => {
          const call = { ...proposalCall(context, request), body };
          const outcome = await draftRecommendation(verb, call);
          return outcome.ok
            ? outcome.value
            : refuse(draftAnswers, secretFailure(request, outcome.failure));
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
    extensions: helpFor(operations.draftRecommendation, baseUrl),
  });
  return {
    drafts_not_open: { status: 403, detail: details.recommendation.drafts_not_open },
    invalid_draft: faulty,
    wording_claims_too_much: faulty,
    nonprofit_not_found: nonprofitNotFound,
    nonprofit_withdrawn: { status: 410, detail: details.recommendation.nonprofit_withdrawn },
    draft_queue_full: {
      status: 409,
      detail: `Nothing was stored: ${waitingOfNetworkMax} drafts for this nonprofit wait from your network. An operator or time makes room.`,
    },
    ...agentRefusals,
  } as const satisfies FailureTable<DraftRefusal>;
};
