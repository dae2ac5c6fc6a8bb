import { and, asc, desc, eq, getTableName, isNotNull, lt, ne, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { RequestState } from "#content/contract/onboarding.ts";
import type { ReviewKind } from "#content/contract/review.ts";
import { dayMs } from "#content/contract/base/time.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, countUpTo, inValues, statement } from "#content/store/query.ts";
import { type Expiry, hexKey, instantAt, type PlanErasure } from "./kind.ts";
import type { NewRequest } from "./receive.ts";

/** The columns that every table of requests has. Instants in milliseconds since 1970. */
type RequestTable = SQLiteTable & Record<keyof RequestRow, SQLiteColumn>;
type RequestRow = NewRequest & {
  nonprofit_id: number | null;
  status: RequestState;
  reason: string | null;
  reviewed_by: string | null;
  reviewed_at: number | null;
};

/** A decision; a given `nonprofit_id` is stored with the request. */
type Closure = Pick<RequestRow, "id" | "reason" | "reviewed_by" | "reviewed_at"> & {
  status: Exclude<RequestState, "pending_review">;
  nonprofit_id?: number | null;
};

/** `mayGo` must repeat the WHERE of the partial index word for word, or SQLite does not use it. */
type ContactColumns = {
  email: SQL | SQLiteColumn;
  isKept: SQL;
  mayGo: SQL;
  erased: (at: number) => Record<string, SQL | string | number | null>;
};

/** Contacts of rejected requests and decided corrections are erased after this time. */
export const contactKeptMs = 90 * dayMs;
const erasedAtOnceMax = 500;

export type RequestStore = Pick<ReturnType<typeof requestStore>, "usualDays">;

const lastOnes = 20;
const enough = 5;

/**
 * The store of one kind of request, in a table of its own: how requests are found, wait and are closed, and how long their
 * contact is kept. The queue is ordered by `at`, then by id. `read` parses rows.
 */
export function requestStore<Table extends RequestTable, Row extends RequestRow>({
  kind,
  table: ofKind,
  read,
  contact,
  at = ofKind.created_at,
}: {
  kind: ReviewKind;
  table: Table;
  read: (row: Table["$inferSelect"]) => Row;
  contact: ContactColumns;
  at?: SQL | SQLiteColumn;
}) {
  const table: RequestTable = ofKind;
  const name = getTableName(table);
  /** Literally as in the partial indexes, so that SQLite uses them. */
  const isWaiting = sql`${table.status} = 'pending_review'`;
  const ofId = (id: string) => eq(table.id, id);
  const first = async (store: Queryable, which: SQL | undefined): Promise<Row | null> => {
    const [row] = await store.db.select().from(table).where(which).limit(1);
    return row === undefined ? null : read(row);
  };
  const byId = (store: Queryable, id: string) => first(store, ofId(id));
  const changeWaiting = (id: string, values: Record<string, unknown>): Statement =>
    statement(
      builder
        .update(table)
        .set(values)
        .where(and(ofId(id), isWaiting)),
    );
  const idsOf = async (store: Queryable, which: SQL | undefined, limit = -1) => {
    const rows = await store.db.select({ id: table.id }).from(table).where(which).limit(limit);
    return rows.map(({ id }) => String(id));
  };
  return {
    kind,
    /** The steps shared by all kinds with tables of their own. */
    steps: {
      kind,
      key: hexKey,
      byKey: byId,
      /** How many wait; counting stops at `max`. */
      count: (store: Queryable, max: number) =>
        countUpTo(store, max, `SELECT 1 FROM ${name} WHERE status = 'pending_review'`),
      /** The waiting requests in queue order, after a place. */
      page: async (
        store: Queryable,
        { after, limit }: { after: string | null; limit: number },
      ): Promise<Row[]> => {
        const place = instantAt(after);
        const isAfter = sql`(${at}, ${table.id}) > (${place.at}, ${place.id})`;
        const rows = await store.db
          .select()
          .from(table)
          .where(and(eq(table.status, "pending_review"), isAfter))
          .orderBy(asc(at), asc(table.id))
          .limit(limit);
        return rows.map(read);
      },
      /** Rejects those that have waited longest. Returns how many. */
      expire: async (tx: WriteTransaction, { before, at: now, limit }: Expiry): Promise<number> => {
        const old = builder
          .select({ id: table.id })
          .from(table)
          .where(and(isWaiting, lt(table.created_at, before)))
          .orderBy(table.created_at)
          .limit(limit);
        const decision = { status: "rejected", reason: "expired", reviewed_by: "expiry" };
        const { rowsAffected } = await tx.db
          .update(table)
          .set({ ...decision, reviewed_at: now, network: null })
          .where(sql`${table.id} IN ${old}`);
        return rowsAffected;
      },
      /**
       * Erases the senders' names and addresses, of at most 500 requests, with an audit log entry for each. Everything else
       * stays, and waiting requests keep their contact.
       */
      planErasure: (async (store, whose, { by, at: now }) => {
        const which =
          "email" in whose
            ? sql`lower(${contact.email}) = lower(${whose.email})`
            : "id" in whose
              ? ofId(whose.id)
              : sql`${contact.mayGo} AND ${table.reviewed_at} <= ${now - contactKeptMs}`;
        if ("id" in whose && (await idsOf(store, which, 1)).length === 0) return null;
        const nameOf = (id: string) => `${kind}-${id}`;
        const expiredRows = and(which, ne(table.status, "pending_review"), contact.isKept);
        const ids = await idsOf(store, expiredRows, erasedAtOnceMax);
        const names = ids.map(nameOf);
        const entry = { operator: by, action: "contact.erased", at: now, detail: {} };
        // Erase the digest as well: with it, guesses of the address could be tested.
        const values = { ...contact.erased(now), request_digest: "" };
        const erasureWrite = builder.update(table).set(values).where(inValues(table.id, ids));
        return {
          names,
          waiting: (await idsOf(store, and(isWaiting, which))).map(nameOf),
          writes: [statement(erasureWrite), ...names.map((subject) => ({ ...entry, subject }))],
        };
      }) satisfies PlanErasure,
    },
    isWaiting,
    first,
    changeWaiting: (id: string, values: Partial<Row>) => changeWaiting(id, { ...values }),
    add: (row: Omit<Table["$inferInsert"], "status">): Statement =>
      statement(builder.insert(table).values({ ...row, status: "pending_review" })),
    byId,
    /** The request that a status page's link shows. */
    byToken: (store: Queryable, digest: string) => first(store, eq(table.status_digest, digest)),
    waitingTwin: (store: Queryable, digest: string) =>
      first(store, and(isWaiting, eq(table.request_digest, digest))),
    waitingFor: (store: Queryable, nonprofitId: number): Promise<Table["$inferSelect"][]> =>
      store.db
        .select()
        .from(table)
        .where(and(eq(table.nonprofit_id, nonprofitId), isWaiting))
        .execute(),
    waitingOfNetwork: (store: Queryable, network: string): Promise<number> =>
      store.db.$count(table, and(eq(table.network, network), isWaiting)),
    /** Decides a waiting request. Its network is no longer needed. */
    close: ({ id, ...decision }: Closure): Statement =>
      changeWaiting(id, { ...decision, network: null }),
    /**
     * The median number of days until the last 20 requests were decided, including expired but not withdrawn ones. Null
     * below five.
     */
    usualDays: async (store: Queryable): Promise<number | null> => {
      const lastWith = (status: "approved" | "rejected") =>
        store.db
          .select({ sent: table.created_at, decided: table.reviewed_at })
          .from(table)
          .where(and(eq(table.status, status), isNotNull(table.reviewed_by)))
          .orderBy(desc(table.created_at))
          .limit(lastOnes);
      const rows = [...(await lastWith("approved")), ...(await lastWith("rejected"))];
      const waits = rows
        .toSorted((a, b) => Number(b.sent) - Number(a.sent))
        .slice(0, lastOnes)
        .map(({ sent, decided }) => Number(decided) - Number(sent))
        .toSorted((a, b) => a - b);
      const middle = waits[Math.floor(waits.length / 2)];
      return middle === undefined || waits.length < enough ? null : middle / dayMs;
    },
  };
}
