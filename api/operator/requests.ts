import { correctionReviews } from "#content/operator/review-correction.ts";
import { contestedReviews, disputeReviews } from "#content/operator/review-contested.ts";
import { draftReviews } from "#content/operator/review-draft.ts";
import { holdReviews } from "#content/operator/review-hold.ts";
import { linkReviews } from "#content/operator/review-link.ts";
import { onboardingReviews } from "#content/operator/review-onboarding.ts";
import { proseReviews } from "#content/operator/review-prose.ts";
import { openRequests } from "#content/requests/requests.ts";

/** All kinds of requests that wait for a person, in the order in which the desk lists them. */
export const { listReviews, findReview, reviewQueues, decideReview, expireWaiting } = openRequests([
  onboardingReviews,
  proseReviews,
  draftReviews,
  contestedReviews,
  disputeReviews,
  holdReviews,
  correctionReviews,
  linkReviews,
]);
