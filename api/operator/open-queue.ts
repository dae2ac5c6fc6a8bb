import { type EnrichableField, fieldTypeOf } from "#content/contract/enrichment.ts";
import { fail, type Result } from "#content/contract/result.ts";
import {
  type FoundReview,
  type ReviewCheck,
  ReviewItem,
  type ReviewKind,
} from "#content/contract/review.ts";
import { isoTime } from "#content/contract/time.ts";
import { checkValue } from "#content/enrichment/value.ts";
import { describeFaults, wordingFaults } from "#content/recommendation/wording-faults.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** One kind of review, whatever waits in it. */
export type ReviewQueue = {
  /** The oldest first; every item carries the cursor that stands for its place. */
  list(store: Queryable, page: QueuePage): Promise<ReviewItem[]>;
  /** What waits under this key; null when nothing does (any more). */
  find(store: Queryable, key: string, now: Date): Promise<ReviewItem | null>;
  /** How many wait. Stops counting at `max`. */
  count(store: Queryable, max: number): Promise<number>;
  decide(tx: WriteTransaction, decision: Decision, deciding: Deciding): Outcome;
};

/** A part of a queue: at most `limit` after the place that `after` stands for; null, or no place: from the beginning. */
export type QueuePage = { after: string | null; limit: number; now: Date };

/** What is different from queue to queue. */
type QueueOf<Waiting> = {
  kind: ReviewKind;
  /** The part of an id after the kind. */
  key: RegExp;
  count: ReviewQueue["count"];
  page(store: Queryable, page: QueuePage): Promise<Waiting[]>;
  /** Null when nothing has this key, and why not when it was decided. */
  find: Find<Waiting>;
  /** As `find`, of what can be decided, where that is more than what waits. */
  findToDecide?: Find<Waiting>;
  /** Brings what may have changed since it came up to date, for an operator who looks at it. */
  refresh?(store: Queryable, waiting: Waiting): Promise<Waiting>;
  item(store: Queryable, waiting: Waiting, now: Date): Described | Promise<Described>;
  /** Lets what is due take effect before a decision that depends on it. */
  applyDue?(tx: WriteTransaction, decision: Decision, deciding: Deciding): Promise<void>;
  approve: Decide<Waiting>;
  reject: Decide<Waiting>;
};

type Find<Waiting> = (
  store: Queryable,
  key: string,
) => Promise<Result<Waiting, ReviewFailure> | null>;

/** A review as its queue describes it: `place` is its place there, `created_at` in milliseconds since 1970. */
type Described = Omit<FoundReview, "id" | "kind" | "cursor" | "created_at"> & {
  key: string;
  place: string;
  created_at: number;
};

type Decision = "approved" | "rejected";
type Outcome = Promise<Result<Decided, ReviewFailure>>;
type Decide<Waiting> = (tx: WriteTransaction, waiting: Waiting, deciding: Deciding) => Outcome;

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

/** A queue from what is different in it. Ids are `<kind>-<key>`, cursors `<kind>:<place>`. */
export function openQueue<Waiting>(queue: QueueOf<Waiting>): ReviewQueue {
  const { kind } = queue;
  const find = async (
    store: Queryable,
    key: string,
    look = queue.find,
  ): Promise<Result<Waiting, ReviewFailure>> => {
    const found = queue.key.test(key) ? await look(store, key) : null;
    return found ?? notWaiting(kind, key);
  };
  const itemOf = async (store: Queryable, waiting: Waiting, now: Date): Promise<ReviewItem> => {
    const { key, place, created_at, ...item } = await queue.item(store, waiting, now);
    const names = { id: `${kind}-${key}`, kind, cursor: `${kind}:${place}` };
    return ReviewItem.parse({ ...item, ...names, created_at: isoTime(created_at) });
  };
  return {
    count: queue.count,
    list: async (store, page) => {
      const items: ReviewItem[] = [];
      for (const one of await queue.page(store, page)) {
        items.push(await itemOf(store, one, page.now));
      }
      return items;
    },
    find: async (store, key, now) => {
      const found = await find(store, key);
      if (!found.ok) return null;
      const waiting = (await queue.refresh?.(store, found.value)) ?? found.value;
      return itemOf(store, waiting, now);
    },
    decide: async (tx, decision, deciding) => {
      await queue.applyDue?.(tx, decision, deciding);
      const found = await find(tx, deciding.key, queue.findToDecide);
      if (!found.ok) return found;
      const decide = decision === "approved" ? queue.approve : queue.reject;
      return decide(tx, found.value, deciding);
    },
  };
}

export const notWaiting = (kind: ReviewKind, key: string) =>
  fail({ kind: "review_not_found", id: `${kind}-${key}` } as const);

/** The value of an approval cannot be used; `message` says what to send. */
export const unusable = (message: string) =>
  fail({ kind: "review_value_not_usable", message } as const);

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
    ...(faults === null ? [] : [faults.length === 0 ? wordingPassed : claimsNoted(faults)]),
    source_url === null
      ? { name: "source", outcome: "noted", message: "No source was given." }
      : sourceGiven,
  ];
}

export const wordingPassed: ReviewCheck = {
  name: "wording",
  outcome: "passed",
  message: "It makes no claim it cannot support.",
};
export const sourceGiven: ReviewCheck = {
  name: "source",
  outcome: "passed",
  message: "A source was given; it has not been opened.",
};

const claimsNoted = (faults: ReturnType<typeof wordingFaults>): ReviewCheck => ({
  name: "wording",
  outcome: "noted",
  message: `${describeFaults(faults)}.`,
});

export const numericKey = /^\d{1,15}$/;
export const hexKey = /^[\da-f]{1,64}$/;

/** A place in a queue that is ordered by a number; any other text is the beginning. */
export const numberAt = (place: string | null): number =>
  numericKey.test(place ?? "") ? Number(place) : 0;

/** A place in a queue that is ordered by an instant and an id: "1780315200000.a1b2". Any other text is the beginning. */
export function instantAt(place: string | null): { at: number; id: string } {
  const [, at = "-1", id = ""] = /^(\d{1,15})\.([\da-f]{1,64})$/.exec(place ?? "") ?? [];
  return { at: Number(at), id };
}
