import disclosures from "#content/editorial/disclosures.json";
import unspecificWords from "#content/editorial/unspecific-words.json";
import { countryCode } from "#content/rules/country.ts";
import { explainScore, type Signs, signals } from "#content/rules/ranking.ts";
import {
  bestNextAction,
  donationMethods,
  trustSignals,
} from "#content/rules/recommendation-words.ts";
import { type SearchWord, searchWords } from "#content/rules/search-query.ts";
import { fold } from "#content/rules/text.ts";
import { thinFields } from "#content/rules/thin-fields.ts";
import { causeName, countryName } from "#content/rules/wire.ts";
import { causeIds } from "#content/shapes/cause.ts";
import { fail, ok, type Result } from "#content/shapes/result.ts";
import type {
  Recommendation,
  RecommendAnswer,
  RecommendQuery,
} from "#content/shapes/recommendation.ts";
import type { Candidate, Curation } from "#content/store/candidates.ts";

export type RecommendFailure = { kind: "nothing_asked" };

type Needed = { curation: Curation; now: Date; baseUrl: string };
type Ranked = { candidate: Candidate } & ReturnType<typeof explainScore>;

/**
 * Ranks the curated profiles that match cause, country and q, by the published table of signals. When none match, the
 * answer points to the search. `baseUrl` has no trailing slash. Source: spec, GET /api/recommend.
 */
export async function recommend(
  { curation, now, baseUrl }: Needed,
  query: RecommendQuery,
): Promise<Result<RecommendAnswer, RecommendFailure>> {
  if (query.cause === null && query.country === null && query.q === null) {
    return fail({ kind: "nothing_asked" });
  }
  const candidates = await candidatesFor(curation, query);
  if (candidates.length === 0) return ok(nothingCurated(query, baseUrl));
  const ranked = await rank(curation, candidates, query, now);
  const best = ranked.slice(0, query.limit);
  const contributed = new Set(best.flatMap(({ explain }) => explain.map(({ signal }) => signal)));
  return ok({
    query,
    ranking_signals: signals.flatMap(({ name }) => (contributed.has(name) ? [name] : [])),
    editorial_disclosure: disclosures.recommendation,
    count: best.length,
    recommendations: best.map((one, at) => recommendationOf(one, at + 1, { query, baseUrl })),
    fallback: null,
    no_recommendations_reason: null,
  });
}

/** The curated profiles that match all that was asked; of q all words, or any when all give fewer than the limit. */
async function candidatesFor(
  { candidates, index }: Curation,
  { cause, country, q, limit }: RecommendQuery,
): Promise<Candidate[]> {
  const causeId = cause?.trim().toLowerCase();
  const code = country === null ? null : countryCode(country);
  if (country !== null && code === null) return [];
  const filtered = candidates.filter(
    ({ pick, record }) =>
      (causeId === undefined || (pick.causes ?? record.causes).includes(causeId)) &&
      (code === null || record.country_code === code),
  );
  if (q === null || filtered.length === 0) return filtered;
  const words = specificWords(q);
  if (words === null) return [];
  if (words.length === 0) return filtered;
  const withAll = await index.matching(words, "all");
  const matching = filtered.filter(({ record }) => withAll.has(record.id));
  if (matching.length >= limit || words.length === 1) return matching;
  const withAny = await index.matching(words, "any");
  return filtered.filter(({ record }) => withAny.has(record.id));
}

const unspecific = new Set(unspecificWords);

/** The words of q that say what for; "charity" or "donate" is said of every profile. Null for a q without words. */
function specificWords(q: string): SearchWord[] | null {
  const words = searchWords(q);
  if (words.length === 0) return null;
  return words.filter(({ forms }) => !unspecific.has(fold(forms[0] ?? "")));
}

async function rank(
  { index }: Curation,
  candidates: readonly Candidate[],
  { cause, q, intent }: RecommendQuery,
  now: Date,
): Promise<Ranked[]> {
  const known =
    cause === null ? undefined : causeIds.find((id) => id === cause.trim().toLowerCase());
  const words = searchWords(q ?? "");
  if (known !== undefined) words.push(...searchWords(causeName(known)).map(whole));
  const strengths = words.length === 0 ? new Map<number, number>() : await index.strengths(words);
  const strengthOf = ({ record }: Candidate) => strengths.get(record.id) ?? 0;
  const best = Math.max(0, ...candidates.map(strengthOf));
  return candidates
    .map((candidate) => {
      const match_share = best === 0 ? 0 : strengthOf(candidate) / best;
      return { candidate, ...explainScore(signsOf(candidate, match_share, now), intent, now) };
    })
    .sort((a, b) => b.score - a.score || byImpact(a.candidate, b.candidate));
}

/** The name of a cause is never half typed. */
const whole = (word: SearchWord): SearchWord => ({ ...word, prefix: false });

const byImpact = ({ record: a }: Candidate, { record: b }: Candidate): number =>
  (b.beneficiaries_per_year ?? -1) - (a.beneficiaries_per_year ?? -1) || a.id - b.id;

const dayMs = 86_400_000;

const signsOf = (
  { record, donations, enriched_at }: Candidate,
  match_share: number,
  now: Date,
): Signs => ({
  editorial_curated: true,
  verified: record.verified === 1,
  has_wallet: record.usdc_wallet !== null,
  match_share,
  enriched_days_ago: enriched_at === null ? null : (now.getTime() - enriched_at) / dayMs,
  donations,
  thin_fields: thinFields(record).length,
});

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
    editorial_curated: true,
    recommended_for: pick.recommended_for,
    why_recommended: pick.why_recommended,
    trust_signals: trustSignals(record, candidate),
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

function nothingCurated(query: RecommendQuery, baseUrl: string): RecommendAnswer {
  const params = new URLSearchParams();
  for (const name of ["q", "cause", "country"] as const) {
    const value = query[name];
    if (value !== null) params.set(name, value);
  }
  return {
    query,
    ranking_signals: [],
    editorial_disclosure: disclosures.no_recommendation,
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
