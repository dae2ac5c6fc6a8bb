import { and, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import type { Erasure } from "#content/requests/request-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { builder, statement } from "#content/store/query.ts";
import { submissions } from "#content/store/tables/enrichment.ts";

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
