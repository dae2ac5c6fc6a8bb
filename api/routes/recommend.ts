import { Elysia } from "elysia";
import {
  intents,
  recommendLimitDefault,
  recommendLimitMax,
  type RecommendQuery,
} from "#content/shapes/recommendation.ts";
import type { Result } from "#content/shapes/result.ts";
import type { Curation } from "#content/store/candidates.ts";
import type { LoggedRecommendation } from "#content/store/recommendation-log.ts";
import { clientOf } from "../client.ts";
import { freshCacheControl } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { type Prepared, preparedJson } from "../prepared.ts";
import { type FailureTable, refuse } from "../problem.ts";
import { queryOf, refuseParameter } from "../query.ts";
import { recommend, type RecommendFailure } from "#api/verbs/recommend.ts";

type Told = {
  answer: Prepared;
  toLog: Pick<LoggedRecommendation, "result_count" | "top_slug" | "ranking_signals">;
};

const toldMax = 1_000;
const minuteMs = 60_000;

/** GET /api/recommend. */
export const recommendRoutes = (parts: Parts) => {
  // A curation is replaced at any change of a curated profile and every 5 s: so long an answer may be given again.
  const told = new WeakMap<Curation, Map<string, Told>>();
  return new Elysia().get("/api/recommend", async ({ request }) => {
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
    const now = parts.clock();
    const curation = await parts.curated.current();
    const before = told.get(curation) ?? new Map<string, Told>();
    told.set(curation, before);
    // Points fade with time, and those for curation end at a full minute.
    const key = JSON.stringify([asked, Math.floor(now.getTime() / minuteMs)]);
    let known = before.get(key);
    if (known === undefined) {
      const outcome = await tell(parts, { curation, now }, asked);
      if (!outcome.ok) return refuse(answers, outcome.failure);
      known = outcome.value;
      if (before.size < toldMax) before.set(key, known);
    }
    parts.activity.count("query:recommend");
    const client = clientOf(parts, request).userAgent;
    parts.recommendationLog.add({ query: asked, ...known.toLog, client, called_at: now });
    return known.answer;
  });
};

async function tell(
  { config }: Parts,
  of: { curation: Curation; now: Date },
  asked: RecommendQuery,
): Promise<Result<Told, RecommendFailure>> {
  const outcome = await recommend({ ...of, baseUrl: config.baseUrl }, asked);
  if (!outcome.ok) return outcome;
  const { count, recommendations, ranking_signals } = outcome.value;
  const top_slug = recommendations[0]?.slug ?? null;
  const answer = preparedJson(outcome.value, freshCacheControl);
  return { ok: true, value: { answer, toLog: { result_count: count, top_slug, ranking_signals } } };
}

const answers: FailureTable<RecommendFailure> = {
  nothing_asked: { status: 400, detail: "Give at least one of cause, country and q." },
};
