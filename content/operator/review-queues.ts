import type { z } from "zod";
import { dayMs } from "#content/contract/base/time.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { operatorOperations } from "#content/contract/operations/operator.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  aboutReview,
  type ApproveBody,
  type ReviewDecision,
  type ReviewItem,
  type ReviewKind,
  type ReviewList,
  type ReviewQueues,
  reviewKinds,
} from "#content/contract/review.ts";
import { expireRequests, requestKinds } from "#content/correction/request-store.ts";
import type { Old } from "#content/enrichment/proposal-store.ts";
import { expireSubmissions } from "#content/enrichment/review-store.ts";
import { expireDrafts } from "#content/recommendation/draft-store.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { correctionReviews } from "./review-correction.ts";
import { draftReviews } from "./review-draft.ts";
import { holdReviews } from "./review-hold.ts";
import { linkReviews } from "./review-link.ts";
import { onboardingReviews } from "./review-onboarding.ts";
import { proseReviews } from "./review-prose.ts";
import type { Deciding as DecidingNow, ReviewFailure, ReviewQueue } from "./open-queue.ts";
import { contestedReviews, disputeReviews } from "./review-contested.ts";
import { type OperatorWorld, isLive } from "./world.ts";

const queues: Record<ReviewKind, ReviewQueue> = {
  onboarding: onboardingReviews,
  prose: proseReviews,
  draft: draftReviews,
  contested: contestedReviews,
  revert: disputeReviews,
  hold: holdReviews,
  correction: correctionReviews,
  link: linkReviews,
};

type Looking = Pick<OperatorWorld, "store" | "clock">;
type Publishing = Pick<OperatorWorld, "waitForPublication">;

/**
 * What waits for an operator, of one kind or of all, the oldest of each kind first, after the place that `after`
 * stands for. A place stays good when what stood there was decided.
 */
export async function listReviews(
  { store, clock }: Looking,
  { kind, limit, after = "" }: QueryOf<typeof operatorOperations.listReviews>,
): Promise<z.output<typeof ReviewList>> {
  const found: ReviewItem[] = [];
  for (const start of startsFrom(after, kind === undefined ? reviewKinds : [kind])) {
    const page = { after: start.after, limit: limit + 1 - found.length, now: clock() };
    found.push(...(await queues[start.kind].list(store, page)));
    if (found.length > limit) break;
  }
  const reviews = found.slice(0, limit);
  const next = found.length > limit ? (reviews.at(-1)?.cursor ?? null) : null;
  return { count: reviews.length, reviews, next };
}

/** The queues that are left at the place that a cursor stands for, and where each begins; all without a place. */
function startsFrom(
  cursor: string,
  kinds: readonly ReviewKind[],
): { kind: ReviewKind; after: string | null }[] {
  const [, name, after = null] = /^([a-z]{1,20}):(.{1,300})$/.exec(cursor) ?? [];
  const at = kinds.findIndex((kind) => kind === name);
  return kinds
    .slice(Math.max(0, at))
    .map((kind, place) => ({ kind, after: at >= 0 && place === 0 ? after : null }));
}

/** One thing that waits, by its id; null when nothing waits under it. */
export async function findReview(
  { store, clock }: Looking,
  id: string,
): Promise<ReviewItem | null> {
  const { queue, key } = queueOf(id);
  return (await queue?.find(store, key, clock())) ?? null;
}

/** Counting stops here: an operator with so much to do needs no exact number. */
export const waitingMax = 100_000;

/** How many of each kind, or of one, wait, and how many gave up their place; at most waitingMax. */
export async function reviewQueues(
  { store, clock }: Looking,
  only: ReviewKind | null = null,
): Promise<z.output<typeof ReviewQueues>["queues"]> {
  const counts: z.output<typeof ReviewQueues>["queues"] = [];
  for (const kind of only === null ? reviewKinds : [only]) {
    const waiting = await queues[kind].count(store, waitingMax);
    counts.push({ kind, waiting, left_out: await queues[kind].leftOut(store, clock()) });
  }
  return counts;
}

function queueOf(id: string): { queue: ReviewQueue | undefined; key: string } {
  const [, kind = "", key = ""] = /^([a-z]{1,20})-(\S{1,200})$/.exec(id) ?? [];
  const known = reviewKinds.find((one) => one === kind);
  return { queue: known === undefined ? undefined : queues[known], key };
}

type Deciding = z.output<typeof ApproveBody> & {
  id: string;
  decision: ReviewDecision["decision"];
  operator: string;
};

/**
 * Decides one review in one transaction, with a line in the audit log. The first operator to decide wins. The reason of a
 * rejection is public: it stands in prior_rejections.
 */
export async function decideReview(
  world: Looking &
    Publishing & {
      config: Pick<DecidingNow, "walletHoldMs" | "walletApprovals">;
    },
  { id, decision, operator, value = null, reason = null }: Deciding,
): Promise<Result<ReviewDecision, ReviewFailure>> {
  const { queue, key } = queueOf(id);
  if (queue === undefined) return fail({ kind: "review_not_found", id });
  const outcome = await world.store.write(async (tx) => {
    const now = world.clock();
    const { walletHoldMs, walletApprovals } = world.config;
    const holding = { walletHoldMs, walletApprovals };
    const item = await queue.find(tx, key, now);
    const deciding = { key, value, reason: reason ?? "", operator, now, ...holding };
    const about = item === null ? null : aboutReview(item);
    return queue.decide(tx, decision, deciding, { about, value, reason });
  });
  if (!outcome.ok) return outcome;
  const { slug, sequence, complete, message } = outcome.value;
  return ok({ id, decision, slug, complete, live: await isLive(world, sequence), message });
}

export const waitingDaysMax = 180;
/** A short transaction, so that requests go on being answered. */
const expiredPerTransaction = 200;

const expiring = [
  expireSubmissions,
  expireDrafts,
  ...requestKinds.map((kind) => (tx: WriteTransaction, old: Old) => expireRequests(tx, kind, old)),
];

/**
 * Rejects what has waited for 180 days, with the reason "expired": submissions, drafts, requests of organisations and
 * corrections. Answers how many these were. Safe to repeat; called every hour.
 */
export async function expireWaiting({ store, clock }: Looking): Promise<number> {
  let expired = 0;
  for (const expire of expiring) {
    let count = expiredPerTransaction;
    while (count === expiredPerTransaction) {
      const at = clock().getTime();
      const old = { before: at - waitingDaysMax * dayMs, at, limit: expiredPerTransaction };
      count = await store.write((tx) => expire(tx, old));
      expired += count;
    }
  }
  return expired;
}
