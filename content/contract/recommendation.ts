import { parameter, cleaned } from "./query.ts";
import { z } from "zod";

/** What the donor's agent is about to do; it changes the weight of signals. */
export const intents = ["discover", "donate", "compare", "verify"] as const;
export const Intent = z
  .enum(intents, { error: `intent is one of ${intents.join(", ")}.` })
  .meta({ id: "Intent" });
export type Intent = z.infer<typeof Intent>;

/** Query parameter of GET /api/recommend. */
export const intent = parameter(
  (given) => cleaned(given),
  Intent.default("discover")
    .describe("What comes next; it changes the weight of signals")
    .meta({ examples: ["donate"] }),
);

/**
 * Phases of the governance of recommendations: 1 the operator picks; 2 agents draft and the operator approves; 3 two
 * agents that agree promote. Source: spec, "Versioning" 3.
 */
export const phases = [1, 2, 3] as const;
export type GovernancePhase = (typeof phases)[number];

export const recommendLimitMax = 5;
export const recommendLimitDefault = 3;

/** What a recommendation is asked for; at least one of cause, country and q is given. */
export const RecommendQuery = z
  .object({
    cause: z.string().nullable(),
    country: z.string().nullable(),
    q: z.string().nullable(),
    intent: Intent,
    limit: z.int().min(1).max(recommendLimitMax),
  })
  .meta({ id: "RecommendQuery" });
export type RecommendQuery = z.infer<typeof RecommendQuery>;

export const ExplainedSignal = z
  .object({
    signal: z.string(),
    points: z.number().describe("What the signal adds to the score, the intent's multiplier in it"),
  })
  .meta({ id: "ExplainedSignal" });
export type ExplainedSignal = z.infer<typeof ExplainedSignal>;

export const DonationMethod = z.enum(["usdc_x402", "external_donation_url"]);
export type DonationMethod = z.infer<typeof DonationMethod>;

export const Recommendation = z
  .object({
    rank: z.int().min(1),
    name: z.string(),
    slug: z.string(),
    country: z.string().nullable(),
    city: z.string().nullable(),
    verified: z.boolean().describe("True when the organisation has claimed its profile"),
    editorial_curated: z
      .boolean()
      .describe(
        "True when the operator picked the profile by hand or approved a draft; false when agents' agreement promoted it",
      ),
    recommended_for: z.array(z.string()).describe("Donor intents; restrained wording only"),
    why_recommended: z.string(),
    trust_signals: z.array(z.string()),
    best_next_action: z.string().describe("What the agent can do next"),
    donation_available: z.boolean(),
    donation_methods: z.array(DonationMethod),
    profile_url: z.string().describe("Page for people, absolute"),
    api_url: z.string().describe("The profile as JSON, absolute"),
    donate_url: z.string().describe("Where a donation begins, absolute"),
    ranking_signals_applied: z.array(z.string()).describe("Signals that contributed to this rank"),
    score: z.number().describe("Sum of the points in explain"),
    explain: z.array(ExplainedSignal),
  })
  .meta({ id: "Recommendation" });
export type Recommendation = z.infer<typeof Recommendation>;

export const SearchRedirect = z
  .object({
    type: z.literal("search_redirect"),
    url: z.string().describe("The same question to GET /api/search, absolute"),
    message: z.string(),
  })
  .meta({ id: "SearchRedirect" });

export const RecommendAnswer = z
  .object({
    query: RecommendQuery,
    ranking_signals: z.array(z.string()).describe("All signals that contributed to any rank"),
    editorial_disclosure: z.string(),
    count: z.int().min(0).max(recommendLimitMax),
    recommendations: z.array(Recommendation),
    fallback: SearchRedirect.nullable().describe("Where to look when nothing is curated"),
    no_recommendations_reason: z
      .enum(["starter_set_does_not_cover_this_query"])
      .nullable()
      .describe("Why there are none; null when there are some"),
  })
  .meta({ id: "RecommendAnswer" });
export type RecommendAnswer = z.infer<typeof RecommendAnswer>;
