import { Elysia } from "elysia";
import {
  intents,
  recommendLimitDefault,
  recommendLimitMax,
} from "#content/shapes/recommendation.ts";
import { clientOf } from "../client.ts";
import { freshCacheControl } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { preparedJson } from "../prepared.ts";
import { type FailureTable, refuse } from "../problem.ts";
import { queryOf, refuseParameter } from "../query.ts";
import { recommend, type RecommendFailure } from "../verbs/recommend.ts";

/** GET /api/recommend. */
export const recommendRoutes = (parts: Parts) =>
  new Elysia().get("/api/recommend", async ({ request }) => {
    const { curated, clock, config, activity, recommendationLog } = parts;
    const query = queryOf(request.url);
    const limit = query.limit({ fallback: recommendLimitDefault, max: recommendLimitMax });
    const intent = query.choice("intent", { values: intents, fallback: "discover" });
    if (!limit.ok) return refuseParameter(limit.failure);
    if (!intent.ok) return refuseParameter(intent.failure);
    const asked = {
      cause: query.text("cause"),
      country: query.text("country"),
      q: query.text("q"),
      intent: intent.value,
      limit: limit.value,
    };
    const now = clock();
    const curation = await curated.current();
    const outcome = await recommend({ curation, now, baseUrl: config.baseUrl }, asked);
    if (!outcome.ok) return refuse(answers, outcome.failure);
    activity.count("query:recommend");
    const { count, recommendations, ranking_signals } = outcome.value;
    recommendationLog.add({
      query: asked,
      result_count: count,
      top_slug: recommendations[0]?.slug ?? null,
      ranking_signals,
      client: clientOf(parts, request).userAgent,
      called_at: now,
    });
    return preparedJson(outcome.value, freshCacheControl);
  });

const answers: FailureTable<RecommendFailure> = {
  nothing_asked: { status: 400, detail: "Give at least one of cause, country and q." },
};
