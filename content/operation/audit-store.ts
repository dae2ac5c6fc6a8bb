import { and, desc, eq, getTableColumns, lt } from "drizzle-orm";
import { z } from "zod";
import type { AuditEntry, AuditLog } from "#content/contract/operator.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { operatorOperations } from "#content/contract/operations/operator.ts";
import { isoTime } from "#content/contract/base/time.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { query } from "#content/store/query.ts";
import { auditLog } from "#content/store/tables/operations.ts";
import { chainedHead, hashOfEntry } from "./audit-chain-store.ts";

const { hash: _hash, previous_hash: _previous, ...entryColumns } = getTableColumns(auditLog);

/** A page of what operators did before the entry with the id `before`, the newest first. Indexes: audit_log_by_subject, _by_operator, _by_action. */
export async function readAudit(
  { store }: { store: Store },
  { before, limit, ...filter }: QueryOf<typeof operatorOperations.readAuditLog>,
): Promise<AuditLog> {
  const asked = (["operator", "action", "subject"] as const).map((name) => {
    const value = filter[name];
    return value === undefined ? undefined : eq(auditLog[name], value);
  });
  const found = await store.db
    .select(entryColumns)
    .from(auditLog)
    .where(and(...asked, before === undefined ? undefined : lt(auditLog.id, before)))
    .orderBy(desc(auditLog.id))
    .limit(limit + 1);
  const entries = found
    .slice(0, limit)
    .map((entry) => ({ ...entry, happened_at: isoTime(entry.happened_at) }));
  const next = found.length > limit ? (entries.at(-1)?.id ?? null) : null;
  return { count: entries.length, entries, next };
}

/** The newest decision on a review: who was faster, and what they did. */
export const lastDecision = async (
  context: { store: Store },
  subject: string,
): Promise<AuditEntry | null> =>
  (await readAudit(context, { subject, limit: 1 })).entries[0] ?? null;

/**
 * Whether a verification of this profile was ever taken back, or of one that was ever merged into it. SQL, because it goes
 * from each revoked profile along its merges. Indexes: audit_log_by_action, audit_log_by_subject, nonprofits_slug.
 */
export async function wasRevoked(store: Queryable, slug: string): Promise<boolean> {
  const found = await query(
    store,
    // UNION, so that profiles that were merged in a circle come once. The plus has merges looked up by their subject, not
    // all of them gone through for each profile.
    `WITH RECURSIVE revoked(slug) AS (
       SELECT subject FROM audit_log WHERE action = 'verification.revoked'
       UNION
       SELECT merged_into FROM revoked JOIN nonprofits USING (slug) WHERE merged_into IS NOT NULL
       UNION
       SELECT detail ->> 'into' FROM revoked JOIN audit_log ON subject = slug
       WHERE +action = 'profile.merged'
     )
     SELECT slug FROM revoked WHERE slug = ?`,
    [slug],
    z.object({ slug: z.string() }),
  );
  return found.length > 0;
}

const namesMax = 100;

/** The names of the operators and the actions of the log, for choosing one. Indexes: audit_log_by_operator, _by_action. */
export async function auditNames(
  store: Queryable,
): Promise<{ operators: string[]; actions: string[] }> {
  return {
    operators: await distinctNames(store, "operator"),
    actions: await distinctNames(store, "action"),
  };
}

/** Goes from one name to the next by index, whatever the length of the log. SQL, because drizzle knows no recursion. */
async function distinctNames(store: Queryable, column: "operator" | "action"): Promise<string[]> {
  const found = await query(
    store,
    `WITH RECURSIVE names(name) AS (
       SELECT min(${column}) FROM audit_log
       UNION ALL
       SELECT (SELECT min(${column}) FROM audit_log WHERE ${column} > name)
       FROM names
       WHERE name IS NOT NULL
     )
     SELECT name FROM names WHERE name IS NOT NULL LIMIT ${namesMax}`,
    [],
    z.object({ name: z.string() }),
  );
  return found.map(({ name }) => name);
}

/** Appends what an operator did to the log that is never changed. The hash of each entry seals the one before. */
export async function logOperator(
  tx: WriteTransaction,
  {
    at,
    ...entry
  }: Omit<NewEntry, "id" | "happened_at" | "hash" | "previous_hash"> & { at: number },
): Promise<void> {
  const { id, hash } = await chainedHead(tx);
  const row = { ...entry, id: id + 1, detail: entry.detail ?? {}, happened_at: at };
  const text = { ...row, detail: JSON.stringify(row.detail) };
  await tx.db
    .insert(auditLog)
    .values({ ...row, previous_hash: hash, hash: hashOfEntry(hash, text) });
}

type NewEntry = typeof auditLog.$inferInsert;
