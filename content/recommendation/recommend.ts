import { givenFilters } from "#content/contract/browse.ts";
import { causeName, causeIds } from "#content/contract/cause.ts";
import {
  type GovernancePhase,
  type Intent,
  intents,
  type RecommendAnswer,
  type Recommendation,
  type RecommendQuery,
} from "#content/contract/recommendation.ts";
import disclosures from "#content/editorial/disclosures.json";
import unspecificWords from "#content/editorial/unspecific-words.json";
import { countryName } from "#content/nonprofit/country.ts";
import { filteredOf, passes } from "#content/nonprofit/filters.ts";
import { fold } from "#content/nonprofit/text.ts";
import { type GivingPlace, canBeGivenTo, waysToGive } from "#content/nonprofit/ways-to-give.ts";
import { giveUrl } from "#content/nonprofit/wire.ts";
import { thinFields } from "#content/nonprofit/listing.ts";
import type { Candidate, Curation } from "./curation.ts";
import { explainScore, matchHundredths, signals, type Signs } from "./ranking.ts";
import {
  bestNextAction,
  donationMethods,
  noRecommendationDisclosure,
  recommendationDisclosure,
  trustSignals,
} from "./answer-sentences.ts";
import { type SearchWord, searchWords } from "#content/find/query.ts";

type Needed = { curation: Curation; phase: GovernancePhase; now: Date } & GivingPlace;

/**
 * Ranks the recommended profiles that match cause, country and q, by the published table of signals. When none match, the
 * answer points to the search. `baseUrl` has no trailing slash. Source: spec, GET /api/recommend.
 */
export function recommend(
  { curation, phase, now, ...place }: Needed,
  query: RecommendQuery,
): RecommendAnswer {
  const candidates = candidatesFor(curation, query);
  if (candidates.length === 0) return nothingCurated(query, phase, place.baseUrl);
  const best = rank(curation, candidates, query, now);
  const contributed = new Set(best.flatMap(({ explain }) => explain.map(({ signal }) => signal)));
  return {
    query,
    ranking_signals: signals.flatMap(({ name }) => (contributed.has(name) ? [name] : [])),
    editorial_disclosure: recommendationDisclosure(phase, {
      consensus_share: curation.consensus_share,
      now,
    }),
    count: best.length,
    recommendations: best.map((one, at) => recommendationOf(one, at + 1, query, place)),
    fallback: null,
    no_recommendations_reason: null,
  };
}

function recommendationOf(
  { candidate, score, explain }: Ranked,
  rankFrom1: number,
  query: RecommendQuery,
  place: GivingPlace,
): Recommendation {
  const { record, pick } = candidate;
  const { baseUrl } = place;
  const ways = waysToGive(record, place);
  const methods = donationMethods(ways);
  const apiUrl = `${baseUrl}/api/nonprofits/${record.slug}`;
  // Payment requirements for a program where there is a wallet, else the page for people that names other ways.
  const donateUrl = `${baseUrl}${record.usdc_wallet === null ? "" : "/api"}/donate/${record.slug}`;
  return {
    rank: rankFrom1,
    name: record.name,
    slug: record.slug,
    country: countryName(record.country_code),
    city: record.city,
    causes: record.causes,
    verified: record.verified === 1,
    editorial_curated: pick.origin !== "consensus",
    recommended_for: pick.recommended_for,
    why_recommended: pick.why_recommended,
    trust_signals: trustSignals(record, {
      ...candidate,
      by_consensus: pick.origin === "consensus",
    }),
    best_next_action: bestNextAction(ways, query.intent, { apiUrl, donateUrl }),
    donation_available: canBeGivenTo(ways),
    donation_methods: methods,
    profile_url: `${baseUrl}/nonprofits/${record.slug}`,
    api_url: apiUrl,
    donate_url: donateUrl,
    give_url: giveUrl(record, baseUrl),
    ways_to_give: ways,
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
  const words: string[][] = query.q === null ? [] : [["q", query.q]];
  const params = new URLSearchParams([...words, ...givenFilters(query)]);
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

export type Ranked = { candidate: Candidate } & ReturnType<typeof explainScore>;

/** The recommended profiles that match all that was asked; of q all words, or any when all give fewer than the limit. */
export function candidatesFor(curation: Curation, query: RecommendQuery): readonly Candidate[] {
  const { q, limit } = query;
  // A pick may be made for some of its causes only.
  const filtered = curation.candidates.filter(({ pick, record }) =>
    passes({ ...filteredOf(record), causes: pick.causes ?? record.causes }, query),
  );
  if (q === null || filtered.length === 0) return filtered;
  const words = specificWords(q);
  if (words === null) return [];
  if (words.length === 0) return filtered;
  const { index } = curation;
  const withAll = index.matching(words, "all");
  const matching =
    withAll.size === 0 ? [] : filtered.filter(({ record }) => withAll.has(record.id));
  if (matching.length >= limit || words.length === 1) return matching;
  const withAny = index.matching(words, "any");
  return filtered.filter(({ record }) => withAny.has(record.id));
}

const unspecific = new Set(unspecificWords);

/** The words of q that say what for; "charity" or "donate" is said of every profile. Null for a q without words. */
function specificWords(q: string): SearchWord[] | null {
  const words = searchWords(q);
  if (words.length === 0) return null;
  return words.filter(({ forms }) => !unspecific.has(fold(forms[0] ?? "")));
}

/** The foremost of these candidates, at most as many as were asked for, with their points. */
export function rank(
  curation: Curation,
  candidates: readonly Candidate[],
  { cause, q, intent, limit }: RecommendQuery,
  now: Date,
): Ranked[] {
  const strengths = strengthsOf(curation, { cause, q });
  const strengthOf = ({ record }: Candidate) => strengths.get(record.id) ?? 0;
  const best = candidates.reduce((most, one) => Math.max(most, strengthOf(one)), 0);
  const shareOf = (one: Candidate) => (best === 0 ? 0 : strengthOf(one) / best);
  const base = baseScores(curation, now);
  // Points are worked out for all, and spelled out for the foremost only.
  const foremost: Scored[] = [];
  for (const candidate of candidates) {
    const matched = best === 0 ? 0 : matchHundredths(shareOf(candidate), intent);
    insert(
      foremost,
      { candidate, hundredths: (base.get(candidate)?.[intent] ?? 0) + matched },
      limit,
    );
  }
  return foremost.map(({ candidate }) => {
    const signs = signsOf(candidate, { share: shareOf(candidate), curation, now });
    return { candidate, ...explainScore(signs, intent, now) };
  });
}

type Scored = { candidate: Candidate; hundredths: number };

/** Puts one into its place among the foremost, of which `limit` are kept: far fewer than there are candidates. */
function insert(foremost: Scored[], one: Scored, limit: number): void {
  const last = foremost.at(-1);
  if (foremost.length === limit && last !== undefined && !isBefore(one, last)) return;
  const place = foremost.findIndex((other) => isBefore(one, other));
  foremost.splice(place === -1 ? foremost.length : place, 0, one);
  if (foremost.length > limit) foremost.pop();
}

const isBefore = (a: Scored, b: Scored): boolean =>
  a.hundredths > b.hundredths ||
  (a.hundredths === b.hundredths && byImpact(a.candidate, b.candidate) < 0);

/** bm25 of the words of q and of the cause's name. */
function strengthsOf(
  { index }: Curation,
  { cause, q }: Pick<RecommendQuery, "cause" | "q">,
): ReadonlyMap<number, number> {
  const known =
    cause === null ? undefined : causeIds.find((id) => id === cause.trim().toLowerCase());
  const words = searchWords(q ?? "");
  if (known !== undefined) words.push(...searchWords(causeName(known)));
  return words.length === 0 ? new Map() : index.strengths(words);
}

const byImpact = ({ record: a }: Candidate, { record: b }: Candidate): number =>
  (b.beneficiaries_per_year ?? -1) - (a.beneficiaries_per_year ?? -1) || a.id - b.id;

type BaseScores = ReadonlyMap<Candidate, Readonly<Record<Intent, number>>>;
const known = new WeakMap<Curation, { atMs: number; scores: BaseScores }>();

/** What every candidate has without any words, in hundredths of points: worked out once for each instant asked about. */
function baseScores(curation: Curation, now: Date): BaseScores {
  const before = known.get(curation);
  if (before?.atMs === now.getTime()) return before.scores;
  const scores: BaseScores = new Map(
    curation.candidates.map((candidate) => {
      const signs = signsOf(candidate, { share: 0, curation, now });
      const of = (intent: Intent) => Math.round(100 * explainScore(signs, intent, now).score);
      const byIntent = Object.fromEntries(intents.map((intent) => [intent, of(intent)]));
      return [candidate, byIntent as Record<Intent, number>];
    }),
  );
  known.set(curation, { atMs: now.getTime(), scores });
  return scores;
}

const dayMs = 86_400_000;

const signsOf = (
  { record, donors, enriched_at, pick }: Candidate,
  { share, curation, now }: { share: number; curation: Curation; now: Date },
): Signs => ({
  editorial_curated: pick.origin !== "consensus",
  consensus_share: curation.consensus_share,
  verified: record.verified === 1,
  has_wallet: record.usdc_wallet !== null,
  match_share: share,
  enriched_days_ago: enriched_at === null ? null : (now.getTime() - enriched_at) / dayMs,
  donors,
  thin_fields: thinFields(record).length,
});
