import type { FoundReview } from "#content/contract/review.ts";
import type { Result } from "#content/contract/result.ts";
import type { EnrichmentTally } from "#content/enrichment/tally.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** One kind of review: what waits, and what approving and rejecting do. Ids are `<kind>-<key>`. */
export type ReviewDesk = {
  /** The oldest first; every item carries the cursor that stands for its place. */
  list(store: Queryable, page: QueuePage): Promise<FoundReview[]>;
  /** What waits under this key; null when nothing does (any more). */
  find(store: Queryable, key: string, now: Date): Promise<FoundReview | null>;
  /** How many wait. Stops counting at `max`. */
  count(store: Queryable, max: number): Promise<number>;
  approve: Decide;
  reject: Decide;
};

/** A part of a queue: at most `limit` after the place that `after` stands for; null, or no place: from the beginning. */
export type QueuePage = { after: string | null; limit: number; now: Date };

type Decide = (
  tx: WriteTransaction,
  tally: EnrichmentTally,
  deciding: Deciding,
) => Promise<Result<Decided, ReviewFailure>>;

export type Deciding = {
  /** The part of the id after the kind. */
  key: string;
  value: string | null;
  reason: string;
  /** The name of who decides. */
  operator: string;
  now: Date;
  /** How long an approved change of a wallet waits. */
  walletHoldMs: number;
};

/** What a decision did, inside its transaction. `sequence` is that of the public change it made, if any. */
export type Decided = { slug: string | null; sequence: number | null; message: string };

export type ReviewFailure =
  | { kind: "review_not_found"; id: string }
  | { kind: "review_decided"; status: string }
  | { kind: "field_has_value"; field: string }
  | { kind: "review_conflict"; message: string }
  | { kind: "review_value_not_usable"; message: string };
