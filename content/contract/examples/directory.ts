import type { CauseList } from "#content/contract/cause.ts";
import type { FeedFile, FeedState } from "#content/contract/feed.ts";
import type { NonprofitDetail, NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { Recommendation, RecommendAnswer } from "#content/contract/recommendation.ts";
import type { SearchAnswer } from "#content/contract/search.ts";
import type { Stats } from "#content/contract/stats.ts";

// A made-up directory of one nonprofit: what each operation would answer about it. The tests hold every example
// against its schema.
export const slug = "hope-kitchen";
export const origin = "https://almoner.example";

export const summary: NonprofitSummary = {
  id: "12",
  slug,
  name: "Hope Kitchen",
  tagline: "A warm meal for whoever comes",
  mission: "We cook and share a warm meal every day.",
  country: "Kenya",
  city: "Kisumu",
  region: "Nyanza",
  website: "https://hope-kitchen.example",
  donation_url: "https://hope-kitchen.example/give",
  donate_url: "https://hope-kitchen.example/give",
  logo_url: null,
  beneficiaries_per_year: 1_200,
  founded_year: 1998,
  ghd_aligned: 0,
  verified: 1,
  causes: ["food-security"],
};

export const detail: NonprofitDetail = {
  ...summary,
  description: "Two cooks and twenty volunteers, six days a week.",
  usdc_wallet: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
  annual_budget_usd: 48_000,
  team_size: 2,
  has_contact_email: true,
  status: "claimed",
  causes: [{ id: "food-security", name: "Food Security" }],
  programs: [
    { name: "Lunch", description: null, beneficiaries_per_year: 1_200, location: "Kisumu" },
  ],
  impact_metrics: [{ name: "Meals", value: "31000", unit: "meals", period: "annual" }],
  registrations: [{ country: "United States", type: "EIN", registration_number: "530196605" }],
  identifiers: ["US-EIN-530196605"],
  provenance: {
    city: {
      source: "consensus",
      source_url: "https://register.example/hope-kitchen",
      agents: ["Research Bot", "Field Notes"],
      applied_at: "2026-05-04T10:00:00Z",
    },
  },
  updated_at: "2026-05-04T10:00:00Z",
};

export const search: SearchAnswer = {
  query: { q: "warm meal", cause: null, country: "Kenya", ghd_aligned: false },
  count: 1,
  total: 1,
  limit: 20,
  offset: 0,
  next: null,
  prev: null,
  nonprofits: [summary],
  results: [summary],
};

export const causes: CauseList = {
  causes: [
    {
      id: "food-security",
      name: "Food Security",
      description: "Enough to eat, and the means to grow it.",
      nonprofit_count: 1_414,
      count: 1_414,
    },
  ],
};

export const stats: Stats = {
  nonprofits: 41_000,
  verified_nonprofits: 1_230,
  countries: 40,
  causes: 29,
  total_beneficiaries_per_year: 310_000_000,
  total_beneficiaries: 310_000_000,
  total_donations: 0,
  total_queries: 5_120,
  queries_this_week: 480,
  queries: { llms_txt: 12, agents_md: 40, ai_plugin: 3, mcp: 77 },
};

const recommendation: Recommendation = {
  rank: 1,
  name: summary.name,
  slug,
  country: summary.country,
  city: summary.city,
  verified: true,
  editorial_curated: true,
  recommended_for: ["donors interested in food security"],
  why_recommended: "Cooks every day and publishes its accounts.",
  trust_signals: ["The organisation has claimed its profile."],
  best_next_action: "Read the profile at api_url, then show the donor donate_url.",
  donation_available: true,
  donation_methods: ["usdc_x402", "external_donation_url"],
  profile_url: `${origin}/nonprofits/${slug}`,
  api_url: `${origin}/api/nonprofits/${slug}`,
  donate_url: `${origin}/donate/${slug}`,
  ranking_signals_applied: ["editorial_curation_for_starter_set", "verified_status"],
  score: 80,
  explain: [
    { signal: "editorial_curation_for_starter_set", points: 50 },
    { signal: "verified_status", points: 30 },
  ],
};

export const recommend: RecommendAnswer = {
  query: { cause: "food-security", country: null, q: null, intent: "discover", limit: 3 },
  ranking_signals: ["editorial_curation_for_starter_set", "verified_status"],
  editorial_disclosure: "The operator picks these profiles by hand.",
  count: 1,
  recommendations: [recommendation],
  fallback: null,
  no_recommendations_reason: null,
};

export const feedState: FeedState = {
  epoch: "0f8b6c",
  sequence: 41,
  change_sequence: 41_001,
  snapshot: {
    path: "/snapshot/nonprofits.ndjson.gz",
    sequence: 40,
    parts: 410,
    part_path: "/snapshot/nonprofits/{n}.ndjson.gz",
  },
  manifest: "/snapshot/manifest.json",
};

export const feedFile: FeedFile = {
  epoch: "0f8b6c",
  number: 41,
  first_sequence: 41_001,
  last_sequence: 41_001,
  entries: [
    { sequence: 41_001, slug, kind: "changed", fields: ["city"], at: "2026-05-04T10:00:00Z" },
  ],
};
