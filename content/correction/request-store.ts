import { and, desc, eq, isNotNull, isNull, lt, lte, ne, type SQL, sql } from "drizzle-orm";
import { dayMs } from "#content/contract/base/time.ts";
import type { Write } from "#content/operation/plan.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { builder, statement } from "#content/store/statement.ts";
import { corrections, submissions } from "#content/store/tables/enrichment.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";

// What people ask for, as organisations and as readers: how long it waits, and how long its contact is kept.

/** Contacts of rejected requests and decided corrections are erased after this time. */
export const contactKeptMs = 90 * 86_400_000;

const erasedAtOnceMax = 500;

/** The contact in what was sent. `isOld` says literally what its partial index says, so that SQLite uses it. */
const kinds = {
  // Index: onboarding_to_erase.
  onboarding: {
    table: onboarding,
    email: sql`${onboarding.request} ->> 'contact_email'`,
    hasContact: isNull(onboarding.erased_at),
    isOld: sql`${onboarding.status} = 'rejected' AND ${onboarding.erased_at} IS NULL`,
    erase: (which: SQL, at: number) => {
      const request = sql`json_set(${onboarding.request}, '$.contact_email', '', '$.contact_name', null)`;
      return builder
        .update(onboarding)
        .set({ request, ...noDigest, erased_at: at })
        .where(which);
    },
  },
  // Index: corrections_with_contact.
  correction: {
    table: corrections,
    email: corrections.contact_email,
    hasContact: isNotNull(corrections.contact_email),
    isOld: sql`${corrections.contact_email} IS NOT NULL AND ${corrections.status} <> 'pending_review'`,
    erase: (which: SQL) =>
      builder
        .update(corrections)
        .set({ contact_email: null, ...noDigest })
        .where(which),
  },
} as const;

/** A digest of a text with an address in it gives guesses of the address away. */
const noDigest = { request_digest: "" };

export type RequestKind = keyof typeof kinds;
export const requestKinds = ["onboarding", "correction"] as const satisfies readonly RequestKind[];

/** Those whose contact was kept long enough by now. */
export const isOldContact = (kind: RequestKind, now: Date): SQL => {
  const { isOld, table } = kinds[kind];
  return sql`${isOld} AND ${lte(table.reviewed_at, now.getTime() - contactKeptMs)}`;
};
export const isRequest = (kind: RequestKind, id: string): SQL => eq(kinds[kind].table.id, id);
export const isRequestFrom = (kind: RequestKind, email: string): SQL =>
  sql`lower(${kinds[kind].email}) = lower(${email})`;

/** The status of the first of these; null when there is none. */
export async function statusOf(store: Queryable, kind: RequestKind, which: SQL) {
  const { table } = kinds[kind];
  const [row] = await store.db.select({ status: table.status }).from(table).where(which).limit(1);
  return row?.status ?? null;
}

/** The names of those that wait among these, as reviews show them. */
export async function waitingRequests(
  store: Queryable,
  kind: RequestKind,
  which: SQL,
): Promise<string[]> {
  const { table } = kinds[kind];
  const isWaiting = sql`${table.status} = 'pending_review'`;
  const rows = await store.db.select({ id: table.id }).from(table).where(and(isWaiting, which));
  return rows.map(({ id }) => `${kind}-${id}`);
}

/** Whose contacts are erased, by the names of their requests, and the writes that do it. */
export type Erasure = { names: string[]; writes: Write[] };

/**
 * Erases name and address of who sent these, at most 500, with a line of the audit log for each; the rest stays, and those
 * that wait keep theirs.
 */
export async function planErasure(
  store: Queryable,
  kind: RequestKind,
  which: SQL,
  { by, at }: { by: string; at: number },
): Promise<Erasure> {
  const { table, hasContact, erase } = kinds[kind];
  const found = await store.db
    .select({ id: table.id })
    .from(table)
    .where(and(which, ne(table.status, "pending_review"), hasContact))
    .limit(erasedAtOnceMax);
  const ids = found.map(({ id }) => id);
  const names = ids.map((id) => `${kind}-${id}`);
  const entry = { operator: by, action: "contact.erased", at, detail: {} };
  const entries = names.map((subject) => ({ ...entry, subject }));
  return { names, writes: [statement(erase(inValues(table.id, ids), at)), ...entries] };
}

const lastOnes = 20;
const enough = 5;

/**
 * Days in which half of the last ones were decided, whichever way: what a sender may expect. One that expired counts with
 * all the days it waited; one that its sender withdrew was decided by no one. Null while there are too few to say so.
 * Indexes: corrections_by_status, onboarding_by_status.
 */
export async function usualDays(store: Queryable, kind: RequestKind): Promise<number | null> {
  const { table } = kinds[kind];
  const lastWith = (status: "approved" | "rejected") =>
    store.db
      .select({ sent: table.created_at, decided: table.reviewed_at })
      .from(table)
      .where(and(eq(table.status, status), isNotNull(table.reviewed_by)))
      .orderBy(desc(table.created_at))
      .limit(lastOnes);
  const rows = [...(await lastWith("approved")), ...(await lastWith("rejected"))];
  const waits = rows
    .toSorted((a, b) => b.sent - a.sent)
    .slice(0, lastOnes)
    .map(({ sent, decided }) => Number(decided) - sent)
    .toSorted((a, b) => a - b);
  const middle = waits[Math.floor(waits.length / 2)];
  return middle === undefined || waits.length < enough ? null : middle / dayMs;
}

const isContact = and(eq(submissions.field, "contact_email"), ne(submissions.value, ""));

/** What agents sent as this contact, in any letter case. */
const isAddress = (email: string): SQL =>
  eq(submissions.normalised_value, email.trim().toLowerCase());

/**
 * Erases an address from what agents sent as a contact and what is decided; the rows stay in the history without it. Looks
 * through all submissions.
 */
export async function planSentErasure(store: Queryable, email: string): Promise<Erasure> {
  const address = email.trim().toLowerCase();
  const won = and(isContact, sql`lower(${submissions.winning_value}) = ${address}`);
  const losing = builder.update(submissions).set({ winning_value: null }).where(won);
  const isSent = and(isContact, ne(submissions.status, "pending"), isAddress(email));
  const { names, writes } = await erasureOf(store, isSent);
  return { names, writes: [statement(losing), ...writes] };
}

/** Erases the contacts that agents sent and that were rejected before an instant. Looks through all submissions. */
export const planRejectedErasure = (store: Queryable, beforeMs: number): Promise<Erasure> =>
  erasureOf(
    store,
    and(isContact, eq(submissions.status, "rejected"), lt(submissions.decided_at, beforeMs)),
  );

async function erasureOf(store: Queryable, which: SQL | undefined): Promise<Erasure> {
  const erased = { value: "", normalised_value: "", winning_value: null };
  return {
    names: await namesOf(store, which),
    writes: [statement(builder.update(submissions).set(erased).where(which))],
  };
}

/** Those that still wait with this address. */
export const waitingContacts = (store: Queryable, email: string): Promise<string[]> =>
  namesOf(store, and(isContact, eq(submissions.status, "pending"), isAddress(email)));

async function namesOf(store: Queryable, which: SQL | undefined): Promise<string[]> {
  const rows = await store.db.select({ id: submissions.id }).from(submissions).where(which);
  return rows.map(({ id }) => `submission-${id}`);
}
