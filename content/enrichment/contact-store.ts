import { and, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import type { Erasure, PlanErasure } from "#content/requests/kind.ts";
import { erase } from "#content/requests/requests.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { builder, statement } from "#content/store/query.ts";
import { submissions } from "#content/store/tables/enrichment.ts";

const isContact = and(eq(submissions.field, "contact_email"), ne(submissions.value, ""));

/**
 * Erases an e-mail address from submissions that are decided; the rows stay in the history without it. Scans all
 * submissions.
 */
export const planSentErasure: PlanErasure = async (store, whose) => {
  if (!("email" in whose)) return null;
  const address = whose.email.trim().toLowerCase();
  const won = and(isContact, sql`lower(${submissions.winning_value}) = ${address}`);
  const losing = builder.update(submissions).set({ winning_value: null }).where(won);
  const isSent = and(isContact, eq(submissions.normalised_value, address));
  const { writes, ...erasure } = await erasureOf(
    store,
    and(isSent, ne(submissions.status, "pending")),
  );
  const waiting = await namesOf(store, and(isSent, eq(submissions.status, "pending")));
  return { ...erasure, waiting, writes: [statement(losing), ...writes] };
};

/**
 * Erases the contacts in submissions that were rejected before an instant (milliseconds since 1970). Returns the names of
 * their agents. Scans all submissions.
 */
export async function eraseRejectedContacts(store: Store, beforeMs: number): Promise<string[]> {
  const isOld = and(eq(submissions.status, "rejected"), lt(submissions.decided_at, beforeMs));
  const erased = await erase(store, (tx) => erasureOf(tx, and(isContact, isOld)));
  return erased?.names ?? [];
}

async function erasureOf(store: Queryable, which: SQL | undefined): Promise<Erasure> {
  // A source may hold the address, too.
  const erased = { value: "", normalised_value: "", winning_value: null, source_url: null };
  return {
    names: await namesOf(store, which),
    waiting: [],
    writes: [statement(builder.update(submissions).set(erased).where(which))],
  };
}

async function namesOf(store: Queryable, which: SQL | undefined): Promise<string[]> {
  const rows = await store.db.select({ id: submissions.id }).from(submissions).where(which);
  return rows.map(({ id }) => `submission-${id}`);
}
