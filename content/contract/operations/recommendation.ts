import { z } from "zod";
import { addresses } from "#content/contract/addresses.ts";
import { operatorPage } from "#content/contract/review.ts";
import { filters, limit, text } from "./query.ts";
import { fields, change, operations } from "./operation.ts";
import {
  DraftAnswer,
  DraftBody,
  PickBody,
  PickChange,
  PickEdit,
  PickList,
  PickRemoval,
  RecommendAnswer,
  Recommendation,
  intent,
  recommendLimitDefault,
  recommendLimitMax,
} from "#content/contract/recommendation.ts";

/** Recommendations for donors' agents, and drafts that agents propose. */
export const recommendationOperations = operations("Recommendation", {
  recommendNonprofits: {
    path: addresses.recommend.path,
    description: `Ranks profiles that the operator picked by hand; at least one of q and the filters is required. Without a match, \`fallback\` leads to the search. Each item's \`explain\` adds up to its score:`,
    query: z.object({
      ...filters,
      q: text("What the donor wants, in their own words", "help children read"),
      intent,
      limit: limit(recommendLimitDefault, recommendLimitMax),
      fields: fields(Recommendation),
    }),
    ok: { description: "The recommendations, or where to look instead", shape: RecommendAnswer },
  },
  draftRecommendation: {
    method: "post",
    path: addresses.draftRecommendation.path,
    description:
      'In phase 1 of the governance drafts are refused (403 `drafts_not_open`); in phase 2 each waits for the operator; in phase 3 two distinct agents whose `recommended_for` arrays are the same once normalised (letter case, punctuation, order and the words "donors interested in" do not matter) promote the profile with `editorial_curated: false`. Drafts that speak of impact or effectiveness always wait for the operator. Wording is restrained: a refusal names the phrase and what to say instead. No key: `agent_id` says who you are, and its secret as a bearer token when it is bound.',
    headers: ["IdempotencyKey"],
    body: { shape: DraftBody, refusal: "invalid_draft" },
    ok: { description: "Stored; promotion_note says what comes next", shape: DraftAnswer },
    refusals: [401, 403, 404, 409, 410],
    agent: true,
  },
});

/** The recommended profiles, for operators. */
export const pickOperations = operations("Operator", {
  listPicks: {
    path: addresses.picks.path,
    query: z.object({
      limit: limit(operatorPage.default, operatorPage.max),
      after: text("`next` of the page before", "hope-kitchen", 200),
    }),
    ok: { description: "The picks", shape: PickList },
  },
  addPick: change(addresses.picks, PickBody, ["Added", PickChange], [404, 409, 410]),
  editPick: change(addresses.pick, PickEdit, ["Changed", PickChange], [409, 410]),
  removePick: change(addresses.removePick, PickRemoval, ["Removed", PickChange], [409, 410]),
});
