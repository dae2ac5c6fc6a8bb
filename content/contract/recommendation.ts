import { z } from "zod";
import { CauseId, type FilterName, filterNames, unknownNote } from "./browse.ts";
import { count, named, reason, textOrNull, texts } from "#content/contract/base/json.ts";
import { agentLengthMax, sourceUrlLengthMax, SubmissionStatus } from "./enrichment.ts";
import { giveUrl, waysToGive } from "./nonprofit.ts";
import { cleanText, parameter } from "./operations/query.ts";
import { otherType } from "./problem.ts";

/** What the donor's agent intends next; it changes the weights of the ranking. */
export const intents = ["discover", "donate", "compare", "verify"] as const;
export const Intent = z
  .enum(intents, { error: `intent is one of ${intents.join(", ")}.` })
  .meta({ id: "Intent" });
export type Intent = z.infer<typeof Intent>;

/** Query parameter of GET /api/recommend. */
export const intent = parameter(
  (text) => cleanText(text),
  Intent.default("discover"),
  "What comes next; it changes the weight of signals",
  "donate",
);

/**
 * Phases of governance: 1 the operator picks; 2 agents draft and the operator approves; 3 two agreeing agents publish
 * (docs/decisions/29-recommendations.md).
 */
export const phases = [1, 2, 3] as const;
export type GovernancePhase = (typeof phases)[number];

export const recommendLimitMax = 5;
export const recommendLimitDefault = 3;

/** A query for recommendations; at least one filter or q is given. */
export const RecommendQuery = named("RecommendQuery", {
  ...(Object.fromEntries(filterNames.map((name) => [name, textOrNull])) as Record<
    FilterName,
    typeof textOrNull
  >),
  q: textOrNull,
  intent: Intent,
  limit: z.int().min(1).max(recommendLimitMax),
});
export type RecommendQuery = z.infer<typeof RecommendQuery>;

export const ExplainedSignal = named("ExplainedSignal", {
  signal: z.string(),
  points: z.number().describe("What the signal adds to the score, the intent's multiplier in it"),
});
export type ExplainedSignal = z.infer<typeof ExplainedSignal>;

export const DonationMethod = z.enum(["usdc_x402", "external_donation_url"]);
export type DonationMethod = z.infer<typeof DonationMethod>;

export const Recommendation = named("Recommendation", {
  rank: z.int().min(1),
  name: z.string(),
  slug: z.string(),
  country: textOrNull,
  city: textOrNull,
  causes: texts.describe("Cause ids; empty where nothing that a register says fits one"),
  verified: z.boolean().describe("True when the organisation has claimed its profile"),
  editorial_curated: z
    .boolean()
    .describe(
      "True when the operator picked the profile by hand or approved a draft; false when agents' agreement promoted it",
    ),
  recommended_for: texts.describe("Donor intents; restrained wording only"),
  why_recommended: z.string(),
  trust_signals: texts,
  best_next_action: z.string().describe("What the agent can do next"),
  donation_available: z
    .boolean()
    .describe("Whether ways_to_give has one that takes a gift; a website alone does not"),
  donation_methods: z.array(DonationMethod),
  profile_url: z.string().describe("Page for people, absolute"),
  api_url: z.string().describe("The profile as JSON, absolute"),
  donate_url: z.string().describe("Where a donation begins, absolute"),
  give_url: giveUrl,
  ways_to_give: waysToGive,
  ranking_signals_applied: texts.describe("Signals that contributed to this rank"),
  score: z.number().describe("Sum of the points in explain"),
  explain: z.array(ExplainedSignal),
});
export type Recommendation = z.infer<typeof Recommendation>;

export const SearchRedirect = named("SearchRedirect", {
  type: z.literal("search_redirect"),
  url: z.string().describe("The same question to GET /api/search, absolute"),
  message: z.string(),
});

export const RecommendAnswer = named("RecommendAnswer", {
  query: RecommendQuery,
  ranking_signals: texts.describe("All signals that contributed to any rank"),
  editorial_disclosure: z.string(),
  count: count.max(recommendLimitMax),
  recommendations: z.array(Recommendation),
  fallback: SearchRedirect.nullable().describe("Where to look when nothing is curated"),
  no_recommendations_reason: z
    .enum(["starter_set_does_not_cover_this_query", "nothing_in_the_place"])
    .nullable()
    .describe("Why there are none; null when there are some"),
  note: unknownNote,
});
export type RecommendAnswer = z.infer<typeof RecommendAnswer>;

export const intentLengthMax = 160;
export const intentsMax = 10;
export const reasonLengthMax = 600;

/** A profile picked by hand. content/recommendation/pick-text.ts checks that its sentences stay restrained. */
const StarterPick = z.strictObject({
  slug: z.string().min(1),
  recommended_for: z
    .array(z.string().trim().min(1).max(intentLengthMax))
    .min(1)
    .max(intentsMax)
    .describe("Donor-intent phrases"),
  why_recommended: z.string().trim().min(1).max(reasonLengthMax),
  causes: z
    .array(CauseId)
    .min(1)
    .optional()
    .describe("The causes it is picked for; all causes of the profile when absent"),
});

/** The shape of content/editorial/starter-set.json. */
export const StarterSet = z.strictObject({
  about: z.string().optional(),
  picks: z.array(StarterPick).max(2_000),
});
export type StarterSet = z.infer<typeof StarterSet>;

/** A valid body, shown in the API's description and to anyone who sent an invalid one. */
export const draftExample = {
  slug: "hope-kitchen",
  recommended_for: ["donors interested in school meals", "donors interested in food security"],
  why_recommended:
    "Cooks a warm meal at 12 schools every day and reports the number of meals each month.",
  source_url: "https://hope-kitchen.example/reports/2025",
  agent_id: "research-bot-7",
  agent_name: "Research Bot",
};

/** Errors for a missing or empty member. */
const needed = {
  slug: "slug is required: of the nonprofit to recommend.",
  recommended_for: "recommended_for is required: an array of 1 to 10 donor intents.",
  why_recommended: "why_recommended is required: one to three restrained sentences.",
  source_url: "source_url is required: the http(s) address of the evidence.",
  agent_id: "agent_id is required: a stable text that names your agent.",
};

/** Texts of a body, cut to length where they are read; `words` is the error for a missing or empty one. */
const sentText = (words?: string) => z.string(otherType(words)).min(1, words);
const sentReason = (words?: string) => sentText(words).max(reasonLengthMax * 2);
const sentIntents = (words?: string) =>
  z
    .array(z.string().max(intentLengthMax * 2), otherType(words))
    .min(1, words)
    .max(intentsMax);

/** The body of POST /api/recommend/drafts. */
export const DraftBody = named(
  "RecommendationDraftBody",
  {
    slug: sentText(needed.slug).max(200).describe("Of the nonprofit to recommend"),
    recommended_for: sentIntents(needed.recommended_for).describe(
      `Donor intents, at most ${intentLengthMax} characters each; restrained wording only. Agents agree when these are the same, whatever their order`,
    ),
    why_recommended: sentReason(needed.why_recommended).describe(
      `One to three restrained sentences, at most ${reasonLengthMax} characters, without links`,
    ),
    source_url: sentText(needed.source_url)
      .max(sourceUrlLengthMax)
      .describe("http(s) address of the evidence; never opened by the directory"),
    agent_id: sentText(needed.agent_id)
      .max(agentLengthMax)
      .describe("Stable id of the agent; distinct ids count toward consensus"),
    agent_name: z
      .string()
      .max(agentLengthMax)
      .nullish()
      .describe("Name for people; the id when absent"),
  },
  { examples: [draftExample] },
);
export type DraftBody = z.infer<typeof DraftBody>;

export type DraftStatus = SubmissionStatus;

const RejectedDraft = z.object({
  agent: z.string().describe("Name of the agent that had proposed it"),
  recommended_for: texts,
  reason: z.string().describe("In the operator's words"),
  rejected_at: z.string().describe("YYYY-MM-DD HH:MM:SS, UTC"),
});

/** 200 of POST /api/recommend/drafts. */
export const DraftAnswer = named("RecommendationDraft", {
  message: z.string(),
  draft_id: z.int(),
  slug: z.string(),
  nonprofit: z.string().describe("Its name"),
  status: SubmissionStatus,
  applied: z.boolean().describe("True when the profile is a recommendation by this agreement"),
  confidence: z.int().describe("Distinct agents that named the same donor intents"),
  consensus: z.boolean().describe("True when two or more agents did"),
  sensitive_claims: texts.describe(
    "Words on impact, effectiveness or money, which a person decides about",
  ),
  phase: z.literal(phases).describe("Phase of the governance of recommendations"),
  promotion_note: z.string().describe("What comes next, and why"),
  prior_rejections: z
    .array(RejectedDraft)
    .max(5)
    .describe("What operators refused of this nonprofit, or took back, the newest first"),
  profile_url: z.string(),
});
export type DraftAnswer = z.infer<typeof DraftAnswer>;

const recommended_for = sentIntents().describe("Donor-intent phrases; restrained wording only");
const why_recommended = sentReason().describe("One to three restrained sentences");
const causes = z
  .array(CauseId)
  .min(1)
  .max(29)
  .nullish()
  .describe("The causes it is picked for; all causes of the profile when absent or null");

/** The body of POST /api/admin/picks. */
export const PickBody = named("PickBody", {
  slug: z.string().min(1).max(200),
  recommended_for,
  why_recommended,
  causes,
});
export type PickBody = z.infer<typeof PickBody>;

/** The body of POST /api/admin/picks/{slug}; an absent member stays as it is. */
export const PickEdit = named("PickEdit", {
  recommended_for: recommended_for.optional(),
  why_recommended: why_recommended.optional(),
  causes,
});
export type PickEdit = z.infer<typeof PickEdit>;

/** The body of POST /api/admin/picks/{slug}/remove. */
export const PickRemoval = named("PickRemoval", { reason });

/** A recommended profile as operators see it. */
export const PickItem = named("PickItem", {
  slug: z.string(),
  name: z.string(),
  recommended_for: texts,
  why_recommended: z.string(),
  causes: texts.nullable(),
  origin: z
    .enum(["operator", "draft", "consensus"])
    .describe("Picked by hand, drafted by an agent and approved, or promoted by agreement"),
  draft_id: z.int().nullable().describe("The draft whose wording it uses"),
  added_by: z.string(),
  updated_at: textOrNull.describe("ISO 8601, UTC"),
});
export type PickItem = z.infer<typeof PickItem>;

/** 200 of GET /api/admin/picks. */
export const PickList = named("PickList", {
  count: count.describe("Picks in this page"),
  picks: z.array(PickItem),
  next: textOrNull.describe("`after` of the next page; null at the end"),
  in_file: texts.describe("Slugs in content/editorial/starter-set.json, which wins over the store"),
});
export type PickList = z.infer<typeof PickList>;

/** 200 of adding, editing and removing a pick. */
export const PickChange = named("PickChange", {
  slug: z.string(),
  change: z.enum(["added", "edited", "removed"]),
  message: z.string(),
});
export type PickChange = z.infer<typeof PickChange>;
