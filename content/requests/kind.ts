import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isoTime, type Clock } from "#content/contract/base/time.ts";
import { type FoundReview, ReviewItem, type ReviewKind } from "#content/contract/review.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import { idsBySlug, recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { OperatorEntry } from "#content/operation/audit-store.ts";
import { carryOut, type Plan, type Write, withWrite } from "#content/operation/plan.ts";
import type { Queryable, WriteTransaction, Store } from "#content/store/open.ts";

/**
 * A kind of request. `World` is what it needs to decide, such as settings; content/requests/requests.ts only passes it on.
 */
export type RequestKind<World = unknown> = ReturnType<
  typeof requestKind<RequestRow, NonprofitRecord | null, World>
>;

/** One page of a queue: at most `limit` items after the position `after`, or from the start. */
export type QueuePage = { after: string | null; limit: number; now: Date };

/** A stored request, or a field with votes, and its nonprofit; null for one that is not listed yet. */
type RequestRow = { nonprofit_id: number | null; status?: string };
export type WaitingRequest<Row, Of = NonprofitRecord> = { row: Row; record: Of };

/** The steps of a kind of request. `Of` includes null where a request may have no nonprofit. */
type KindOf<Row extends RequestRow, Of extends NonprofitRecord | null, World> = {
  kind: ReviewKind;
  /** The pattern of the part of an id after the kind. */
  key: RegExp;
  /** How many wait. Stops counting at `max`. */
  readonly count: (store: Queryable, max: number) => Promise<number>;
  /** How many were dropped in 30 days to make room for others; 0 if not given. */
  readonly leftOut?: (store: Queryable, now: Date) => Promise<number>;
  page(store: Queryable, page: QueuePage): Promise<Row[]>;
  /** The row with this key, waiting or decided. */
  byKey(store: Queryable, key: string): Promise<Row | null>;
  /** Whether an undecided row is shown in the queue; default: always. */
  isWaiting?: (request: WaitingRequest<Row, Of>) => boolean;
  /** Whether it can be decided; default: as `isWaiting`. */
  isDecidable?: (request: WaitingRequest<Row, Of>) => boolean;
  /** Recomputes, when an operator opens a request, what may have changed since it arrived. */
  refresh?(store: Queryable, request: WaitingRequest<Row, Of>): Promise<Row>;
  item(
    store: Queryable,
    request: WaitingRequest<Row, Of>,
    now: Date,
  ): RequestDescription | Promise<RequestDescription>;
  /** Prepares the nonprofit of a request before the decision. */
  prepare?(tx: WriteTransaction, due: Due): Promise<unknown>;
  /** Rejects the requests that have waited longest and returns how many; absent if they never expire. */
  expire?: (tx: WriteTransaction, old: Expiry) => Promise<number>;
  planErasure?: PlanErasure;
  approve: Decide<Row, Of, World>;
  reject: Decide<Row, Of, World>;
};

/** Whose contacts to erase: all that are old enough, one request's, or all with an e-mail address. */
type Whose = { old: true } | { id: string } | { email: string };
/** The names of requests that are erased, and of those that still wait and keep their contact. */
export type Erasure = { names: string[]; waiting: string[]; writes: Write[] };
/** Returns null for an unknown id, and if a kind has no such contacts. */
export type PlanErasure = (
  store: Queryable,
  whose: Whose,
  erasure: { by: string; at: number },
) => Promise<Erasure | null>;

/**
 * A review as its queue describes it. `place` is its place in the queue (default: its key), `name` the name of its nonprofit
 * by default; failed checks become its flags; `created_at` is in milliseconds since 1970.
 */
type RequestDescription = Omit<
  FoundReview,
  "id" | "kind" | "cursor" | "slug" | "name" | "created_at"
> & {
  key: string;
  place?: string;
  name?: string | null;
  created_at: number;
};

type Decision = "approved" | "rejected";
type Due = { nonprofit_id: number; decision: Decision; now: Date };
/** What to expire: requests from before an instant, at most `limit` per call. Instants in milliseconds since 1970. */
export type Expiry = { before: number; at: number; limit: number };
type Outcome<Done> = Promise<Result<Done, ReviewFailure>>;
type Decide<Row, Of, World> = (
  store: Queryable,
  request: WaitingRequest<Row, Of>,
  ruling: Ruling<World>,
) => PlannedDecision | Promise<PlannedDecision>;
export type PlannedDecision = Plan<
  Pick<DecisionResult, "message"> & Partial<Pick<DecisionResult, "slug" | "complete">>,
  ReviewFailure
>;

export type Ruling<World = unknown> = {
  /** The part of the id after the kind. */
  key: string;
  value: string | null;
  reason: string;
  operator: string;
  now: Date;
  world: World;
};

/**
 * The result of a decision, inside its transaction. It is about the request's nonprofit unless `slug` names another.
 * `sequence` is the public change it made, if any. Not `complete`: another operator must approve too.
 */
export type DecisionResult = {
  slug: string | null;
  sequence: number | null;
  complete: boolean;
  message: string;
};

export type ReviewFailure =
  | { kind: "review_not_found"; id: string }
  | { kind: "review_decided"; status: string }
  | { kind: "field_has_value"; field: string }
  | { kind: "review_conflict"; message: string }
  | { kind: "review_value_not_usable"; message: string };

/** Statuses of what waits for a decision. */
const waitingStatuses: ReadonlySet<string> = new Set(["pending", "pending_review", "held"]);

/** Builds a kind of request from its steps. Ids are `<kind>-<key>`, cursors `<kind>:<place>`. */
export function requestKind<
  Row extends RequestRow,
  Of extends NonprofitRecord | null = NonprofitRecord,
  World = unknown,
>(steps: KindOf<Row, Of, World>) {
  const { kind, isWaiting = () => true, isDecidable = isWaiting } = steps;
  const withRecords = async (store: Queryable, rows: readonly Row[]) => {
    const ids = [...new Set(rows.flatMap(({ nonprofit_id }) => nonprofit_id ?? []))];
    const records = new Map((await recordsById(store, ids)).map((record) => [record.id, record]));
    return rows.flatMap((row): WaitingRequest<Row, Of>[] => {
      const record = records.get(row.nonprofit_id ?? 0) ?? null;
      // record is null only for kinds whose requests may have no nonprofit yet.
      return record === null && row.nonprofit_id !== null ? [] : [{ row, record: record as Of }];
    });
  };
  const rowOf = async (store: Queryable, key: string) =>
    steps.key.test(key) ? steps.byKey(store, key) : null;
  const openRequest = async (store: Queryable, key: string): Outcome<WaitingRequest<Row, Of>> => {
    const row = await rowOf(store, key);
    if (row?.status !== undefined && !waitingStatuses.has(row.status)) {
      return fail({ kind: "review_decided", status: row.status.replace("_", " ") });
    }
    const [request] = await withRecords(store, row === null ? [] : [row]);
    return request === undefined ? notWaiting(kind, key) : ok(request);
  };
  const findWaiting = async (store: Queryable, key: string) => {
    const request = await openRequest(store, key);
    return request.ok && isWaiting(request.value) ? request.value : null;
  };
  const findDecidable = async (store: Queryable, key: string): Outcome<WaitingRequest<Row, Of>> => {
    const request = await openRequest(store, key);
    return request.ok && !isDecidable(request.value) ? notWaiting(kind, key) : request;
  };
  const itemOf = async (store: Queryable, request: WaitingRequest<Row, Of>, now: Date) => {
    const { key, place = key, created_at, ...item } = await steps.item(store, request, now);
    const { slug = null, name = null } = request.record ?? {};
    const failures = (item.checks ?? []).filter(({ outcome }) => outcome === "failed");
    const flags = failures.map((check) => check.name);
    const names = { id: `${kind}-${key}`, kind, cursor: `${kind}:${place}` };
    const since = { created_at: isoTime(created_at) };
    return ReviewItem.parse({ slug, name, flags, ...item, ...names, ...since });
  };
  return {
    kind,
    count: steps.count,
    expire: steps.expire,
    planErasure: steps.planErasure,
    leftOut: steps.leftOut ?? (async () => 0),
    /** The waiting requests, oldest first; each has the cursor of its place. */
    list: async (store: Queryable, page: QueuePage): Promise<ReviewItem[]> => {
      const items: ReviewItem[] = [];
      for (const request of await withRecords(store, await steps.page(store, page))) {
        items.push(await itemOf(store, request, page.now));
      }
      return items;
    },
    /** The waiting request with this key; null if there is none (any more). */
    find: async (store: Queryable, key: string, now: Date): Promise<ReviewItem | null> => {
      const request = await findWaiting(store, key);
      if (request === null) return null;
      const row = (await steps.refresh?.(store, request)) ?? request.row;
      return itemOf(store, { ...request, row }, now);
    },
    /** Decides a waiting request, with this detail in the audit log. */
    decide: async (
      tx: WriteTransaction,
      decision: Decision,
      ruling: Ruling<World>,
      detail: OperatorEntry["detail"],
    ): Outcome<DecisionResult> => {
      const { key, now, operator } = ruling;
      if (steps.prepare !== undefined) {
        const { nonprofit_id = null } = (await rowOf(tx, key)) ?? {};
        if (nonprofit_id !== null) await steps.prepare(tx, { nonprofit_id, decision, now });
      }
      const request = await findDecidable(tx, key);
      if (!request.ok) return request;
      const { id = null, slug = null } = request.value.record ?? {};
      const decide = { approved: steps.approve, rejected: steps.reject }[decision];
      const entry = { operator, subject: `${kind}-${key}`, detail, at: now.getTime() };
      const plan = await decide(tx, request.value, ruling);
      const loggedPlan = withWrite(plan, ({ complete = true }) => ({
        ...entry,
        action: `review.${decision}${complete ? "" : ".first"}`,
      }));
      const outcome = await operate(tx, id, loggedPlan);
      return outcome.ok ? ok({ slug, complete: true, ...outcome.value }) : outcome;
    },
  };
}

/**
 * Carries out an operator's plan. `sequence` is the public change of the nonprofit with this id, or of the nonprofit that it
 * created; null if there is none.
 */
export async function operate<Value extends { slug?: string | null }, Failure>(
  tx: WriteTransaction,
  id: number | null,
  plan: Plan<Value, Failure>,
): Promise<Result<Value & Pick<DecisionResult, "sequence">, Failure>> {
  const last = await newestOf(tx, id);
  const outcome = await carryOut(tx, plan);
  if (!outcome.ok) return outcome;
  const newest = await newestOf(tx, id ?? outcome.value.slug ?? null);
  return ok({ ...outcome.value, sequence: newest === last ? null : newest });
}

/** The newest change of a nonprofit, by its id or, for a new one, its slug; null if there is none. */
async function newestOf(store: Queryable, of: number | string | null): Promise<number | null> {
  const id = typeof of === "string" ? (await idsBySlug(store, [of])).get(of) : of;
  return id == null ? null : newestChangeOf(store, id);
}

export const isListed = ({ record }: { record: NonprofitRecord }): boolean =>
  record.status !== "withdrawn";

export const notWaiting = (kind: ReviewKind, key: string) =>
  fail({ kind: "review_not_found", id: `${kind}-${key}` } as const);

/** The value of an approval cannot be used; `message` says what to send. */
export const unusable = (message: string) =>
  fail({ kind: "review_value_not_usable", message } as const);

/** The request cannot be decided in this way; `message` says why. */
export const conflict = (message: string) => fail({ kind: "review_conflict", message } as const);

const numericKey = /^\d{1,15}$/;
export const hexKey = /^[\da-f]{1,64}$/;

/** The place in a queue that is ordered by a number; for any other text, the beginning. */
export const numberAt = (place: string | null): number =>
  numericKey.test(place ?? "") ? Number(place) : 0;

/** The steps of a kind whose requests have numbers and wait in this order. */
export const numbered = <Row>({
  count,
  page,
  byId,
}: {
  count: (store: Queryable, max: number) => Promise<number>;
  page: (store: Queryable, page: { after: number; limit: number }) => Promise<Row[]>;
  byId: (store: Queryable, id: number) => Promise<Row | null>;
}) => ({
  key: numericKey,
  count,
  page: (store: Queryable, { after, limit }: QueuePage) =>
    page(store, { after: numberAt(after), limit }),
  byKey: (store: Queryable, key: string) => byId(store, Number(key)),
});

/** The place in a queue that is ordered by instant and id: "1780315200000.a1b2". For any other text, the beginning. */
export function instantAt(place: string | null): { at: number; id: string } {
  const [, at = "-1", id = ""] = /^(\d{1,15})\.([\da-f]{1,64})$/.exec(place ?? "") ?? [];
  return { at: Number(at), id };
}

export type OperatorWorld = {
  readonly store: Store;
  readonly clock: Clock;
  /** The recommended profiles in memory, to be read again after a change. */
  readonly curated: { lookAgain: () => void };
  /** Waits, up to a limit, until a change is published. Absent when no publisher runs beside the service. */
  readonly waitForPublication?: (sequence: number) => Promise<{ release: string } | null>;
};

/** Whether the published profile shows a change by now; null if nothing public changed. */
export async function isLive(
  { waitForPublication }: Pick<OperatorWorld, "waitForPublication">,
  sequence: number | null,
): Promise<boolean | null> {
  if (sequence === null) return null;
  return waitForPublication === undefined ? false : (await waitForPublication(sequence)) !== null;
}
