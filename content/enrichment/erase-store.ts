import { and, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { submissions } from "#content/store/tables/enrichment.ts";

const { id, field, status, value, normalised_value, winning_value, decided_at } = submissions;
const isContact = and(eq(field, "contact_email"), ne(value, ""));

/** What agents sent as this contact, in any letter case. */
const isAddress = (email: string): SQL => eq(normalised_value, email.trim().toLowerCase());

/**
 * Erases an address from what agents sent as a contact and what is decided; the rows stay in the history without it. Looks
 * through all submissions. Answers their ids.
 */
export async function eraseSentContact(tx: WriteTransaction, email: string): Promise<string[]> {
  const address = email.trim().toLowerCase();
  await tx.db
    .update(submissions)
    .set({ winning_value: null })
    .where(and(isContact, sql`lower(${winning_value}) = ${address}`));
  return erased(tx, and(isContact, ne(status, "pending"), isAddress(email)));
}

/** Erases the contacts that agents sent and that were rejected before an instant. Looks through all submissions. */
export const eraseRejectedContacts = (tx: WriteTransaction, beforeMs: number): Promise<string[]> =>
  erased(tx, and(isContact, eq(status, "rejected"), lt(decided_at, beforeMs)));

async function erased(tx: WriteTransaction, which: SQL | undefined): Promise<string[]> {
  const rows = await tx.db
    .update(submissions)
    .set({ value: "", normalised_value: "", winning_value: null })
    .where(which)
    .returning({ id });
  return rows.map((row) => `submission-${row.id}`);
}

/** Those that still wait with this address. */
export async function waitingContacts(store: Queryable, email: string): Promise<string[]> {
  const rows = await store.db
    .select({ id })
    .from(submissions)
    .where(and(isContact, eq(status, "pending"), isAddress(email)));
  return rows.map((row) => `submission-${row.id}`);
}
