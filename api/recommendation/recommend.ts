import disclosures from "#content/editorial/disclosures.json";
import {
  noRecommendationDisclosure,
  recommendationDisclosure,
} from "#content/recommendation/editorial-disclosure.ts";
import { signals } from "#content/recommendation/ranking.ts";
import {
  bestNextAction,
  donationMethods,
  trustSignals,
} from "#content/recommendation/recommendation-words.ts";
import { countryName } from "#content/nonprofit/wire.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type {
  GovernancePhase,
  Recommendation,
  RecommendAnswer,
  RecommendQuery,
} from "#content/contract/recommendation.ts";
import type { Curation } from "#content/recommendation/candidates.ts";
import { candidatesFor, type Ranked, rank } from "./rank-candidates.ts";

export type RecommendFailure = { kind: "nothing_asked" };

type Needed = { curation: Curation; phase: GovernancePhase; now: Date; baseUrl: string };

/**
 * Ranks the recommended profiles that match cause, country and q, by the published table of signals. When none match, the
 * answer points to the search. `baseUrl` has no trailing slash. Source: spec, GET /api/recommend.
 */
export function recommend(
  { curation, phase, now, baseUrl }: Needed,
  query: RecommendQuery,
): Result<RecommendAnswer, RecommendFailure> {
  if (query.cause === null && query.country === null && query.q === null) {
    return fail({ kind: "nothing_asked" });
  }
  const candidates = candidatesFor(curation, query);
  if (candidates.length === 0) return ok(nothingCurated(query, phase, baseUrl));
  const best = rank(curation, candidates, query, now);
  const contributed = new Set(best.flatMap(({ explain }) => explain.map(({ signal }) => signal)));
  return ok({
    query,
    ranking_signals: signals.flatMap(({ name }) => (contributed.has(name) ? [name] : [])),
    editorial_disclosure: recommendationDisclosure(phase, {
      consensus_share: curation.consensus_share,
      now,
    }),
    count: best.length,
    recommendations: best.map((one, at) => recommendationOf(one, at + 1, { query, baseUrl })),
    fallback: null,
    no_recommendations_reason: null,
  });
}

function recommendationOf(
  { candidate, score, explain }: Ranked,
  rankFrom1: number,
  { query, baseUrl }: { query: RecommendQuery; baseUrl: string },
): Recommendation {
  const { record, pick } = candidate;
  const methods = donationMethods(record);
  const apiUrl = `${baseUrl}/api/nonprofits/${record.slug}`;
  // Payment requirements for a program where there is a wallet, else the page for people that names other ways.
  const donateUrl = `${baseUrl}${record.usdc_wallet === null ? "" : "/api"}/donate/${record.slug}`;
  return {
    rank: rankFrom1,
    name: record.name,
    slug: record.slug,
    country: countryName(record.country_code),
    city: record.city,
    verified: record.verified === 1,
    editorial_curated: pick.origin !== "consensus",
    recommended_for: pick.recommended_for,
    why_recommended: pick.why_recommended,
    trust_signals: trustSignals(record, {
      ...candidate,
      by_consensus: pick.origin === "consensus",
    }),
    best_next_action: bestNextAction(record, query.intent, { apiUrl, donateUrl }),
    donation_available: methods.length > 0,
    donation_methods: methods,
    profile_url: `${baseUrl}/nonprofits/${record.slug}`,
    api_url: apiUrl,
    donate_url: donateUrl,
    ranking_signals_applied: explain.map(({ signal }) => signal),
    score,
    explain,
  };
}

function nothingCurated(
  query: RecommendQuery,
  phase: GovernancePhase,
  baseUrl: string,
): RecommendAnswer {
  const params = new URLSearchParams();
  for (const name of ["q", "cause", "country"] as const) {
    const value = query[name];
    if (value !== null) params.set(name, value);
  }
  return {
    query,
    ranking_signals: [],
    editorial_disclosure: noRecommendationDisclosure(phase),
    count: 0,
    recommendations: [],
    fallback: {
      type: "search_redirect",
      url: `${baseUrl}/api/search?${params}`,
      message: disclosures.search_redirect,
    },
    no_recommendations_reason: "starter_set_does_not_cover_this_query",
  };
}
