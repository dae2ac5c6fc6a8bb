import { dayMs } from "#content/contract/base/time.ts";
import { type Filters, causeIds, causeName, givenFilters } from "#content/contract/browse.ts";
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
import { countryCode, countryName } from "#content/nonprofit/country.ts";
import { filteredOf, passes, wantedBy } from "#content/nonprofit/filters.ts";
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
import { type FtsMatch, searchWords, wordMatch, unknownNote } from "#content/find/query.ts";
import { besidePlace, type Reading } from "#content/find/reading.ts";

type RankingContext = { curation: Curation; phase: GovernancePhase; now: Date } & GivingPlace;

/**
 * Ranks the recommended profiles that match cause, country and q, by the published table of signals. If none match, the
 * answer points to the search. `baseUrl` has no trailing slash.
 */
export async function recommend(
  { curation, phase, now, ...place }: RankingContext,
  query: RecommendQuery,
): Promise<RecommendAnswer> {
  const matches = await candidatesFor(curation, query);
  if (matches.candidates.length === 0) return nothingCurated(query, matches, phase, place.baseUrl);
  const best = rank(curation, matches, query, now);
  const signalNames = new Set(best.flatMap(({ explain }) => explain.map(({ signal }) => signal)));
  return {
    query,
    ranking_signals: signals.flatMap(({ name }) => (signalNames.has(name) ? [name] : [])),
    editorial_disclosure: recommendationDisclosure(phase, {
      consensus_share: curation.consensus_share,
      now,
    }),
    count: best.length,
    recommendations: best.map((candidate, at) => recommendationOf(candidate, at + 1, query, place)),
    fallback: null,
    no_recommendations_reason: null,
    note: null,
  };
}

function recommendationOf(
  { candidate, score, explain }: RankedCandidate,
  rankFrom1: number,
  query: RecommendQuery,
  place: GivingPlace,
): Recommendation {
  const { record, pick } = candidate;
  const { baseUrl } = place;
  const ways = waysToGive(record, place);
  const methods = donationMethods(ways);
  const apiUrl = `${baseUrl}/api/nonprofits/${record.slug}`;
  // Payment requirements for programs if there is a wallet, else the page for people with other ways to give.
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
  { elsewhere }: Matches,
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
      message: elsewhere === null ? disclosures.search_redirect : elsewhereMessage(elsewhere),
    },
    no_recommendations_reason:
      elsewhere === null ? "starter_set_does_not_cover_this_query" : "nothing_in_the_place",
    note: unknownNote(query, 0),
  };
}

const elsewhereMessage = ({ place, countries }: NonNullable<Matches["elsewhere"]>): string =>
  `Nothing is recommended in ${place} for this, but in ${countries.join(", ")}. ${disclosures.search_redirect}`;

export type RankedCandidate = { candidate: Candidate } & ReturnType<typeof explainScore>;

/** The candidates for a query, the words by which they match, and, if there are none in its place, other countries. */
export type Matches = {
  candidates: readonly Candidate[];
  words: readonly FtsMatch[];
  elsewhere: { place: string; countries: string[] } | null;
};

/** The recommended profiles that match everything in the query; for q all words, or any if all give fewer than the limit. */
export async function candidatesFor(curation: Curation, query: RecommendQuery): Promise<Matches> {
  const { q, limit } = query;
  const { index } = curation;
  if (q !== null && searchWords(q).length === 0)
    return { candidates: [], words: [], elsewhere: null };
  const reading = q === null ? null : await index.read(q);
  const words = reading === null ? [] : specificWords(reading);
  const readPlace = reading?.place ?? null;
  const there = readPlace && index.matching([readPlace.match], "all");
  const among = passingCandidates(curation, query).filter(
    ({ record }) => there?.has(record.id) !== false,
  );
  const candidates = withWords(index, among, words, limit);
  const placedQuery = { ...query, place: readPlace?.name ?? placeOf(query) };
  const elsewhere = candidates.length > 0 ? null : elsewhereOf(curation, placedQuery, words);
  return { candidates, words, elsewhere };
}

const placeOf = ({ city, region, country }: Filters): string | null =>
  city ?? region ?? countryName(countryCode(country ?? "") ?? country);

/** The most countries that are named. */
const countriesMax = 5;

/** The countries in which the same is recommended; null if there are none. */
function elsewhereOf(
  curation: Curation,
  { place, ...query }: RecommendQuery & { place: string | null },
  words: readonly FtsMatch[],
): Matches["elsewhere"] {
  if (place === null) return null;
  const anywhere = passingCandidates(curation, {
    ...query,
    country: null,
    region: null,
    city: null,
  });
  const matches = withWords(curation.index, anywhere, words, query.limit);
  const countries = new Set(
    matches.flatMap(({ record }) => countryName(record.country_code) ?? []),
  );
  return countries.size === 0 ? null : { place, countries: [...countries].slice(0, countriesMax) };
}

/** A pick may apply to only some of the profile's causes. */
const passingCandidates = ({ candidates }: Curation, filters: Filters): Candidate[] =>
  candidates.filter(({ pick, record }) =>
    passes({ ...filteredOf(record), causes: pick.causes ?? record.causes }, filters),
  );

function withWords(
  index: Curation["index"],
  candidates: readonly Candidate[],
  words: readonly FtsMatch[],
  limit: number,
): readonly Candidate[] {
  if (words.length === 0 || candidates.length === 0) return candidates;
  const candidatesWith = (which: "all" | "any") => {
    const ids = index.matching(words, which);
    return candidates.filter(({ record }) => ids.has(record.id));
  };
  const withAll = candidatesWith("all");
  return withAll.length >= limit || words.length === 1 ? withAll : candidatesWith("any");
}

const unspecific = new Set(unspecificWords);

/** The words that name a purpose; "charity" or "donate" fits every profile. */
const specificWords = (reading: Reading): FtsMatch[] => [
  ...new Set(
    besidePlace(reading)
      .filter(({ searchWord: { forms } }) => !unspecific.has(fold(forms[0] ?? "")))
      .map(({ match }) => match),
  ),
];

/** The best of these candidates, at most the requested number, with their points. */
export function rank(
  curation: Curation,
  { candidates, words }: Pick<Matches, "candidates" | "words">,
  { cause, intent, limit }: RecommendQuery,
  now: Date,
): RankedCandidate[] {
  const strengths = strengthsOf(curation, cause, words);
  const strengthOf = ({ record }: Candidate) => strengths.get(record.id) ?? 0;
  const best = candidates.reduce((most, candidate) => Math.max(most, strengthOf(candidate)), 0);
  const shareOf = (candidate: Candidate) => (best === 0 ? 0 : strengthOf(candidate) / best);
  const base = baseScores(curation, now);
  // Compute points for all, but explain only the best.
  const foremost: ScoredCandidate[] = [];
  for (const candidate of candidates) {
    const matchPoints = best === 0 ? 0 : matchHundredths(shareOf(candidate), intent);
    insert(
      foremost,
      { candidate, hundredths: (base.get(candidate)?.[intent] ?? 0) + matchPoints },
      limit,
    );
  }
  return foremost.map(({ candidate }) => {
    const signs = signsOf(candidate, { share: shareOf(candidate), curation, now });
    return { candidate, ...explainScore(signs, intent, now) };
  });
}

type ScoredCandidate = { candidate: Candidate; hundredths: number };

/** Inserts a candidate in order; only `limit` are kept, far fewer than there are candidates. */
function insert(foremost: ScoredCandidate[], candidate: ScoredCandidate, limit: number): void {
  const last = foremost.at(-1);
  if (foremost.length === limit && last !== undefined && !isBefore(candidate, last)) return;
  const place = foremost.findIndex((other) => isBefore(candidate, other));
  foremost.splice(place === -1 ? foremost.length : place, 0, candidate);
  if (foremost.length > limit) foremost.pop();
}

const isBefore = (a: ScoredCandidate, b: ScoredCandidate): boolean =>
  a.hundredths > b.hundredths ||
  (a.hundredths === b.hundredths && byImpact(a.candidate, b.candidate) < 0);

/** bm25 for the words of q and of the cause's name. */
function strengthsOf(
  { index }: Curation,
  cause: string | null,
  words: readonly FtsMatch[],
): ReadonlyMap<number, number> {
  const id = causeIds.find((causeId) => causeId === wantedBy("cause", cause ?? ""));
  const causeWords = id === undefined ? [] : searchWords(causeName(id));
  const matches = [
    ...words,
    ...causeWords.map((word) => wordMatch({ ...word, prefix: false }, [])),
  ];
  return matches.length === 0 ? new Map() : index.strengths(matches);
}

const byImpact = ({ record: a }: Candidate, { record: b }: Candidate): number =>
  (b.beneficiaries_per_year ?? -1) - (a.beneficiaries_per_year ?? -1) || a.id - b.id;

type BaseScores = ReadonlyMap<Candidate, Readonly<Record<Intent, number>>>;
const scoresOf = new WeakMap<Curation, { atMs: number; scores: BaseScores }>();

/** The score of every candidate without words, in hundredths of points; computed once per instant. */
function baseScores(curation: Curation, now: Date): BaseScores {
  const before = scoresOf.get(curation);
  if (before?.atMs === now.getTime()) return before.scores;
  const scores: BaseScores = new Map(
    curation.candidates.map((candidate) => {
      const signs = signsOf(candidate, { share: 0, curation, now });
      const of = (intent: Intent) => Math.round(100 * explainScore(signs, intent, now).score);
      const byIntent = Object.fromEntries(intents.map((intent) => [intent, of(intent)]));
      return [candidate, byIntent as Record<Intent, number>];
    }),
  );
  scoresOf.set(curation, { atMs: now.getTime(), scores });
  return scores;
}

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
