import { z } from "zod";
import { operatorPage } from "#content/contract/review.ts";
import { cause, country, limit, text } from "./query.ts";
import {
  DraftAnswer,
  DraftBody,
  PickBody,
  PickChange,
  PickEdit,
  PickList,
  PickRemoval,
  RecommendAnswer,
  draftExample,
  intent,
  recommendLimitDefault,
  recommendLimitMax,
} from "#content/contract/recommendation.ts";
import { origin, recommend, slug, summary } from "#content/contract/examples/directory.ts";
import { operation, operatorOperation, withBody } from "./operation.ts";

const draft: DraftAnswer = {
  message: "Thank you: the draft is stored and waits. promotion_note says what comes next.",
  draft_id: 7,
  slug,
  nonprofit: summary.name,
  status: "pending",
  applied: false,
  confidence: 1,
  consensus: false,
  sensitive_claims: [],
  phase: 3,
  promotion_note:
    "Waits for a second agent that names the same donor intents with a source (1 of 2), or for the operator.",
  prior_rejections: [
    {
      agent: "Older Bot",
      recommended_for: ["donors interested in gardens"],
      reason: "The source says nothing of gardens.",
      rejected_at: "2026-11-02 09:00:00",
    },
  ],
  profile_url: `${origin}/nonprofits/${slug}`,
};

export const recommendNonprofits = operation({
  operationId: "recommendNonprofits",
  method: "get",
  path: "/api/recommend",
  tag: "Recommendation",
  summary: "Recommend up to five nonprofits for a donor's intent",
  description: `Ranks profiles that the operator picked by hand; at least one of cause, country and q is required. Without a match, \`fallback\` leads to the search. Each item's \`explain\` adds up to its score:`,
  query: z.object({
    cause,
    country,
    q: text("What the donor wants, in their own words", "help children read"),
    intent,
    limit: limit(recommendLimitDefault, recommendLimitMax),
  }),
  ok: {
    description: "The recommendations, or where to look instead",
    shape: RecommendAnswer,
    example: recommend,
  },
  refusals: [400],
});

export const draftRecommendation = operation({
  operationId: "draftRecommendation",
  method: "post",
  path: "/api/recommend/drafts",
  tag: "Recommendation",
  summary: "Propose to recommend a nonprofit",
  description:
    'In phase 1 of the governance drafts are refused (403 `drafts_not_open`); in phase 2 each waits for the operator; in phase 3 two distinct agents whose `recommended_for` arrays are the same once normalised (letter case, punctuation, order and the words "donors interested in" do not matter) promote the profile with `editorial_curated: false`. Drafts that speak of impact or effectiveness always wait for the operator. Wording is restrained: a refusal names the phrase and what to say instead. No key: `agent_id` says who you are.',
  headers: ["IdempotencyKey"],
  body: { shape: DraftBody, example: { ...draftExample }, refusal: "invalid_draft" },
  ok: {
    description: "Stored; promotion_note says what comes next",
    shape: DraftAnswer,
    example: draft,
  },
  refusals: [...withBody, 403, 404, 409, 410],
});

/** What agents propose to recommend. */
export const draftOperations = [draftRecommendation];

const pickText = {
  recommended_for: draftExample.recommended_for,
  why_recommended: draftExample.why_recommended,
};

const picks: PickList = {
  count: 1,
  picks: [
    {
      slug,
      name: summary.name,
      ...pickText,
      causes: null,
      origin: "operator",
      draft_id: null,
      added_by: "operator",
      updated_at: "2026-05-04T10:00:00Z",
    },
  ],
  next: null,
  in_file: [],
};

const change = (of: PickChange["change"], message: string): PickChange => ({
  slug,
  change: of,
  message,
});

export const listPicks = operatorOperation({
  operationId: "listPicks",
  method: "get",
  path: "/api/admin/picks",
  summary: "List the recommended profiles",
  description: "By slug. `in_file` names those of the operator's file, which wins.",
  query: z.object({
    limit: limit(operatorPage.default, operatorPage.max),
    after: text("`next` of the page before", "hope-kitchen", 200),
  }),
  ok: { description: "The picks", shape: PickList, example: picks },
  refusals: [400],
});

export const addPick = operatorOperation({
  operationId: "addPick",
  method: "post",
  path: "/api/admin/picks",
  summary: "Recommend a nonprofit",
  description: "Restrained wording only: a refusal names the phrase and what to say instead.",
  body: { shape: PickBody, example: { slug, ...pickText } },
  ok: {
    description: "Added",
    shape: PickChange,
    example: change("added", "Recommended within seconds."),
  },
  refusals: [...withBody, 404, 409, 410],
});

export const editPick = operatorOperation({
  operationId: "editPick",
  method: "post",
  path: "/api/admin/picks/{slug}",
  summary: "Change what is said of a recommended nonprofit",
  description: "What is absent stays as it is.",
  body: { shape: PickEdit, example: { why_recommended: pickText.why_recommended } },
  ok: {
    description: "Changed",
    shape: PickChange,
    example: change("edited", "Recommended in these words within seconds."),
  },
  refusals: [...withBody, 404, 409, 410],
});

export const removePick = operatorOperation({
  operationId: "removePick",
  method: "post",
  path: "/api/admin/picks/{slug}/remove",
  summary: "Stop recommending a nonprofit",
  description: "From then on the agreement of agents alone cannot promote it.",
  body: { shape: PickRemoval, example: { reason: "The organisation asked for it." } },
  ok: {
    description: "Removed",
    shape: PickChange,
    example: change("removed", "No longer recommended within seconds."),
  },
  refusals: [...withBody, 404, 409, 410],
});

/** The recommended profiles, for operators. */
export const pickOperations = [listPicks, addPick, editPick, removePick];
