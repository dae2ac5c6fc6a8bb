import type { Clock } from "#content/rules/time.ts";
import type { ReviewDecision, ReviewItem, ReviewKind } from "#content/shapes/review.ts";
import { fail, ok, type Result } from "#content/shapes/result.ts";
import { EnrichmentTally } from "#content/store/enrichment-tally.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";
import type { Asked } from "#content/store/records.ts";
import { logOperator } from "#content/store/review-queues.ts";
import { contestedDesk } from "./review-contested.ts";
import { disputeDesk } from "./review-dispute.ts";
import { proseDesk } from "./review-prose.ts";

export type ReviewParts = {
  store: Store;
  clock: Clock;
  /** As for enrich: absent where nothing is published beside this process. */
  waitForPublication?: ((sequence: number) => Promise<{ release: string } | null>) | undefined;
};

export type ReviewFailure =
  | { kind: "review_not_found"; id: string }
  | { kind: "review_decided"; status: string }
  | { kind: "field_has_value"; field: string }
  | { kind: "review_value_not_usable"; message: string };

/** What a decision did, inside its transaction. `sequence` is that of the public change it made, if any. */
export type Decided = { slug: string | null; sequence: number | null; message: string };

export type Deciding = {
  /** The part of the id after the kind. */
  key: string;
  value: string | null;
  reason: string;
  now: Date;
};

type Decide = (
  tx: WriteTransaction,
  tally: EnrichmentTally,
  deciding: Deciding,
) => Promise<Result<Decided, ReviewFailure>>;

/** One kind of review: what waits, and what approving and rejecting do. Ids are `<kind>-<key>`. */
export type ReviewDesk = {
  list(asked: Asked, limit: number): Promise<ReviewItem[]>;
  approve: Decide;
  reject: Decide;
};

/** A kind without a desk has nothing waiting yet. */
const desks: Partial<Record<ReviewKind, ReviewDesk>> = {
  prose: proseDesk,
  contested: contestedDesk,
  revert: disputeDesk,
};

export const reviewsMax = 200;

/** What waits for an operator, of one kind or of all, the oldest of each kind first. */
export async function listReviews(
  { store }: Pick<ReviewParts, "store">,
  { kind, limit }: { kind: ReviewKind | null; limit: number },
): Promise<ReviewItem[]> {
  const found: ReviewItem[] = [];
  for (const [name, desk] of Object.entries(desks)) {
    if (kind !== null && kind !== name) continue;
    found.push(...(await desk.list(store.raw, limit - found.length)));
    if (found.length >= limit) break;
  }
  return found;
}

export type ReviewCall = {
  id: string;
  decision: "approved" | "rejected";
  operator: string;
  value: string | null;
  /** Public for a rejection: it stands in prior_rejections. */
  reason: string | null;
};

/** Decides one review in one transaction, with a line in the audit log. The first operator to decide wins. */
export async function decideReview(
  parts: ReviewParts,
  call: ReviewCall,
): Promise<Result<ReviewDecision, ReviewFailure>> {
  const [, kind = "", key = ""] = /^([a-z]{1,20})-(\S{1,200})$/.exec(call.id) ?? [];
  const desk = desks[kind as ReviewKind];
  if (desk === undefined) return fail({ kind: "review_not_found", id: call.id });
  const decide = call.decision === "approved" ? desk.approve : desk.reject;
  const outcome = await parts.store.write(async (tx) => {
    const now = parts.clock();
    const tally = new EnrichmentTally();
    const reason = call.reason ?? "";
    const decided = await decide(tx, tally, { key, value: call.value, reason, now });
    if (!decided.ok) return decided;
    await tally.write(tx);
    await logOperator(tx, {
      operator: call.operator,
      action: `review.${call.decision}`,
      subject: call.id,
      detail: { value: call.value, reason: call.reason },
      at: now.getTime(),
    });
    return decided;
  });
  if (!outcome.ok) return outcome;
  const { slug, sequence, message } = outcome.value;
  const live = await isLive(parts, sequence);
  return ok({ id: call.id, decision: call.decision, slug, live, message });
}

/** Null when the decision changed nothing that is public. */
async function isLive({ waitForPublication }: ReviewParts, sequence: number | null) {
  if (sequence === null) return null;
  return waitForPublication === undefined ? false : (await waitForPublication(sequence)) !== null;
}
