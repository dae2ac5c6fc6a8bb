import { type EnrichableField, fieldTypeOf } from "#content/contract/enrichment.ts";
import type { Result } from "#content/contract/result.ts";
import type { FoundReview, ReviewCheck } from "#content/contract/review.ts";
import { checkValue } from "#content/enrichment/value.ts";
import { describeFaults, wordingFaults } from "#content/recommendation/wording.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** One kind of review: what waits, and what approving and rejecting do. Ids are `<kind>-<key>`. */
export type ReviewQueue = {
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

type Decide = (tx: WriteTransaction, deciding: Deciding) => Promise<Result<Decided, ReviewFailure>>;

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

/** What an operator should know of a value that an agent sent: whether it may go live, what it claims, where it is from. */
export function checksOf(
  field: EnrichableField,
  { value, source_url }: { value: string; source_url: string | null },
  now: Date,
): ReviewCheck[] {
  const usable = checkValue(field, value, { thisYear: now.getUTCFullYear() });
  const faults = fieldTypeOf(field) === "prose" ? wordingFaults(value) : null;
  return [
    usable.ok
      ? { name: "form", outcome: "passed", message: `It is a ${field} that may go live.` }
      : { name: "form", outcome: "failed", message: usable.failure.message },
    ...(faults === null ? [] : [wording(faults)]),
    source_url === null
      ? { name: "source", outcome: "noted", message: "No source was given." }
      : {
          name: "source",
          outcome: "passed",
          message: "A source was given; it has not been opened.",
        },
  ];
}

const wording = (faults: ReturnType<typeof wordingFaults>): ReviewCheck =>
  faults.length === 0
    ? { name: "wording", outcome: "passed", message: "It makes no claim it cannot support." }
    : { name: "wording", outcome: "noted", message: `${describeFaults(faults)}.` };

/** A place in a queue that is ordered by an instant and an id: "1780315200000.a1b2". Any other text is the beginning. */
export function placeIn(cursor: string | null): { at: number; id: string } {
  const [, at = "-1", id = ""] = /^(\d{1,15})\.([\da-f]{1,64})$/.exec(cursor ?? "") ?? [];
  return { at: Number(at), id };
}

export const placeOf = (at: number, id: string): string => `${at}.${id}`;
