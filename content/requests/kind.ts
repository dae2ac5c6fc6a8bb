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
 * `World`: settings and the like that a kind needs to decide; content/requests/requests.ts passes it on without using it.
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
  /** The part of an id after the kind. */
  key: RegExp;
  /** How many wait. Stops counting at `max`. */
  readonly count: (store: Queryable, max: number) => Promise<number>;
  /** How many were dropped in 30 days to make room for others; 0 if not given. */
  readonly leftOut?: (store: Queryable, now: Date) => Promise<number>;
  page(store: Queryable, page: QueuePage): Promise<Row[]>;
  /** What has this key, whether it waits or was decided. */
  byKey(store: Queryable, key: string): Promise<Row | null>;
  /** Whether an undecided row is shown in the queue; default: always. */
  isWaiting?: (request: WaitingRequest<Row, Of>) => boolean;
  /** Whether it can be decided; default: when it waits. */
  isDecidable?: (request: WaitingRequest<Row, Of>) => boolean;
  /** Recomputes, for an operator who opens it, what may have changed since the request arrived. */
  refresh?(store: Queryable, request: WaitingRequest<Row, Of>): Promise<Row>;
  item(
    store: Queryable,
    request: WaitingRequest<Row, Of>,
    now: Date,
  ): RequestDescription | Promise<RequestDescription>;
  /** What has to happen to the nonprofit of a request before it is decided like this. */
  prepare?(tx: WriteTransaction, due: Due): Promise<unknown>;
  /** Rejects what has waited longest; what never expires has none. Answers how many. */
  expire?: (tx: WriteTransaction, old: Expiry) => Promise<number>;
  /** Erases the contacts that come with its requests. */
  planErasure?: PlanErasure;
  approve: Decide<Row, Of, World>;
  reject: Decide<Row, Of, World>;
};

/** Whose contacts are erased: all that were kept long enough, one request's, or all with an address. */
type Whose = { old: true } | { id: string } | { email: string };
/** The names of what is erased, and of what waits and keeps its contact. */
export type Erasure = { names: string[]; waiting: string[]; writes: Write[] };
/** Null for an id that nothing has, and where a kind has no such contacts. */
export type PlanErasure = (
  store: Queryable,
  whose: Whose,
  erasure: { by: string; at: number },
) => Promise<Erasure | null>;

/**
 * A review as its queue describes it: `place` is its place there, its key unless given; `name` is that of the nonprofit
 * unless given, and the failed checks are its flags; `created_at` in milliseconds since 1970.
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
/** What has waited since before an instant; at most `limit` at a time. Instants in milliseconds since 1970. */
export type Expiry = { before: number; at: number; limit: number };
type Outcome<Done> = Promise<Result<Done, ReviewFailure>>;
type Decide<Row, Of, World> = (
  store: Queryable,
  request: WaitingRequest<Row, Of>,
  ruling: DecisionInput<World>,
) => PlannedDecision | Promise<PlannedDecision>;
export type PlannedDecision = Plan<
  Pick<DecisionResult, "message"> & Partial<Pick<DecisionResult, "slug" | "complete">>,
  ReviewFailure
>;

export type DecisionInput<World = unknown> = {
  /** The part of the id after the kind. */
  key: string;
  value: string | null;
  reason: string;
  operator: string;
  now: Date;
  world: World;
};

/**
 * What a decision did, inside its transaction: to the nonprofit that was there unless `slug` names another. `sequence` is
 * that of the public change it made, if any. Not `complete`: it waits for another operator's approval.
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

/** A kind of request from the steps that it has. Ids are `<kind>-<key>`, cursors `<kind>:<place>`. */
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
    /** The oldest first; every item carries the cursor that stands for its place. */
    list: async (store: Queryable, page: QueuePage): Promise<ReviewItem[]> => {
      const items: ReviewItem[] = [];
      for (const request of await withRecords(store, await steps.page(store, page))) {
        items.push(await itemOf(store, request, page.now));
      }
      return items;
    },
    /** What waits under this key; null when nothing does (any more). */
    find: async (store: Queryable, key: string, now: Date): Promise<ReviewItem | null> => {
      const request = await findWaiting(store, key);
      if (request === null) return null;
      const row = (await steps.refresh?.(store, request)) ?? request.row;
      return itemOf(store, { ...request, row }, now);
    },
    /** Decides what waits, with an entry in the audit log that has this detail. */
    decide: async (
      tx: WriteTransaction,
      decision: Decision,
      ruling: DecisionInput<World>,
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
 * Carries out what an operator decides, changes or undoes. `sequence` is that of the public change that it made of the
 * nonprofit with this id, or of the one that it made: null for none.
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

/** The newest change of a nonprofit, by its id or, where it is new, its slug; null for none. */
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

/** What waits cannot be decided like this, as the sentence says. */
export const conflict = (message: string) => fail({ kind: "review_conflict", message } as const);

const numericKey = /^\d{1,15}$/;
export const hexKey = /^[\da-f]{1,64}$/;

/** A place in a queue that is ordered by a number; any other text is the beginning. */
export const numberAt = (place: string | null): number =>
  numericKey.test(place ?? "") ? Number(place) : 0;

/** The steps of a kind whose requests are numbered and wait in this order. */
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

/** A place in a queue that is ordered by an instant and an id: "1780315200000.a1b2". Any other text is the beginning. */
export function instantAt(place: string | null): { at: number; id: string } {
  const [, at = "-1", id = ""] = /^(\d{1,15})\.([\da-f]{1,64})$/.exec(place ?? "") ?? [];
  return { at: Number(at), id };
}

export type OperatorWorld = {
  readonly store: Store;
  readonly clock: Clock;
  /** The recommended profiles in memory: to be read again after a change. */
  readonly curated: { lookAgain: () => void };
  /** Waits, bounded, until a change is published; absent where nothing is published beside the service. */
  readonly waitForPublication?: (sequence: number) => Promise<{ release: string } | null>;
};

/** Whether the published profile shows a change by now; null when nothing that is public changed. */
export async function isLive(
  { waitForPublication }: Pick<OperatorWorld, "waitForPublication">,
  sequence: number | null,
): Promise<boolean | null> {
  if (sequence === null) return null;
  return waitForPublication === undefined ? false : (await waitForPublication(sequence)) !== null;
}
