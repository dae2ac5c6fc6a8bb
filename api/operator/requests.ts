import { correctionRequests } from "#content/correction/correction-kind.ts";
import { planSentErasure } from "#content/enrichment/contact-store.ts";
import { contestedRequests, disputeRequests } from "#content/enrichment/contested-kind.ts";
import { draftRequests } from "#content/recommendation/draft-kind.ts";
import { holdRequests } from "#content/onboarding/hold-kind.ts";
import { linkRequests } from "#content/register/link-kind.ts";
import { onboardingRequests } from "#content/onboarding/onboarding-kind.ts";
import { proseRequests } from "#content/enrichment/prose-kind.ts";
import { openRequests } from "#content/requests/requests.ts";

/** All kinds of requests that wait for a person, in the order in which the desk lists them. */
export const {
  listReviews,
  findReview,
  reviewQueues,
  decideReview,
  expireWaiting,
  eraseOldContacts,
  eraseContacts,
} = openRequests(
  [
    onboardingRequests,
    proseRequests,
    draftRequests,
    contestedRequests,
    disputeRequests,
    holdRequests,
    correctionRequests,
    linkRequests,
  ],
  planSentErasure,
);
