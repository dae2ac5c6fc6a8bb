import { and, asc, eq, inArray, isNotNull, isNull, lt, lte, ne, type SQL, sql } from "drizzle-orm";
import type { Old } from "#content/enrichment/proposal-store.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { inValues } from "#content/store/query.ts";
import { corrections } from "#content/store/tables/enrichment.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";

// How long what people sent waits, and how long its contact is kept: of requests of organisations and of corrections alike.

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
    erase: async (tx: WriteTransaction, which: SQL, at: number) => {
      const request = sql`json_set(${onboarding.request}, '$.contact_email', '', '$.contact_name', null)`;
      await tx.db
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
    erase: async (tx: WriteTransaction, which: SQL) => {
      await tx.db
        .update(corrections)
        .set({ contact_email: null, ...noDigest })
        .where(which);
    },
  },
} as const;

/** A digest of a text with an address in it gives guesses of the address away. */
const noDigest = { request_digest: "" };

export type SentKind = keyof typeof kinds;
export const sentKinds = ["onboarding", "correction"] as const satisfies readonly SentKind[];

/** Those whose contact was kept long enough by now. */
export const isOldContact = (kind: SentKind, now: Date): SQL => {
  const { isOld, table } = kinds[kind];
  return sql`${isOld} AND ${lte(table.reviewed_at, now.getTime() - contactKeptMs)}`;
};
export const isSentAs = (kind: SentKind, id: string): SQL => eq(kinds[kind].table.id, id);
export const isSentFrom = (kind: SentKind, email: string): SQL =>
  sql`lower(${kinds[kind].email}) = lower(${email})`;

/** The status of the first of these; null when there is none. */
export async function statusOfSent(store: Queryable, kind: SentKind, which: SQL) {
  const { table } = kinds[kind];
  const [row] = await store.db.select({ status: table.status }).from(table).where(which).limit(1);
  return row?.status ?? null;
}

/** The names of those that wait among these, as reviews show them. */
export async function waitingSent(store: Queryable, kind: SentKind, which: SQL): Promise<string[]> {
  const { table } = kinds[kind];
  const isWaiting = sql`${table.status} = 'pending_review'`;
  const rows = await store.db.select({ id: table.id }).from(table).where(and(isWaiting, which));
  return rows.map(({ id }) => `${kind}-${id}`);
}

/**
 * Erases name and address of who sent these, with a line of the audit log for each; the rest stays, and those that wait
 * keep theirs. Answers their names, at most 500.
 */
export async function eraseContacts(
  tx: WriteTransaction,
  kind: SentKind,
  which: SQL,
  { by, at }: { by: string; at: number },
): Promise<string[]> {
  const { table, hasContact, erase } = kinds[kind];
  const found = await tx.db
    .select({ id: table.id })
    .from(table)
    .where(and(which, ne(table.status, "pending_review"), hasContact))
    .limit(erasedAtOnceMax);
  const ids = found.map(({ id }) => id);
  await erase(tx, inValues(table.id, ids), at);
  const names = ids.map((id) => `${kind}-${id}`);
  for (const subject of names) {
    await logOperator(tx, { operator: by, action: "contact.erased", subject, at, detail: {} });
  }
  return names;
}

/** Rejects those of a kind that have waited longest. Answers how many. Indexes: onboarding_by_status, corrections_by_status. */
export async function expireSent(
  tx: WriteTransaction,
  kind: SentKind,
  { before, at, limit }: Old,
): Promise<number> {
  const { table } = kinds[kind];
  const isWaiting = sql`${table.status} = 'pending_review'`;
  const old = tx.db
    .select({ id: table.id })
    .from(table)
    .where(and(isWaiting, lt(table.created_at, before)))
    .orderBy(asc(table.created_at))
    .limit(limit);
  const decided = { status: "rejected", reason: "expired", reviewed_by: "expiry" } as const;
  const { rowsAffected } = await tx.db
    .update(table)
    .set({ ...decided, reviewed_at: at, network: null })
    .where(inArray(table.id, old));
  return rowsAffected;
}
