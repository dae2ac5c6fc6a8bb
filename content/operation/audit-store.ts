import type { AuditEntry, AuditLog } from "#content/contract/operator.ts";
import { isoTime } from "#content/contract/time.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";

/** Which entries are asked for; null is any. `before` is the id of an entry. */
export type AuditFilter = {
  operator: string | null;
  action: string | null;
  subject: string | null;
  before: number | null;
};

/** What operators did, the newest first. Indexes: audit_log_by_subject, _by_operator, _by_action. */
export async function auditEntries(
  store: Queryable,
  filter: AuditFilter,
  limit: number,
): Promise<AuditEntry[]> {
  const given = (["operator", "action", "subject"] as const).filter(
    (name) => filter[name] !== null,
  );
  const { rows } = await store.raw.execute({
    sql: `SELECT id, operator, action, subject, detail, happened_at
          FROM audit_log
          WHERE ${[...given.map((name) => `${name} = ?`), "id < ?"].join(" AND ")}
          ORDER BY id DESC
          LIMIT ?`,
    args: [...given.map((name) => filter[name]), filter.before ?? Number.MAX_SAFE_INTEGER, limit],
  });
  return rows.map(({ id, operator, action, subject, detail, happened_at }) => ({
    id: Number(id),
    operator: String(operator),
    action: String(action),
    subject: String(subject),
    detail: JSON.parse(String(detail)) as AuditEntry["detail"],
    happened_at: isoTime(Number(happened_at)),
  }));
}

/** The names of the operators and the actions of the log, for choosing one. Index: audit_log_by_operator, _by_action. */
export async function auditNames(
  store: Queryable,
): Promise<{ operators: string[]; actions: string[] }> {
  return {
    operators: await distinctNames(store, "operator"),
    actions: await distinctNames(store, "action"),
  };
}

const namesMax = 100;

/** Goes from one name to the next by index, whatever the length of the log. */
async function distinctNames(store: Queryable, column: "operator" | "action"): Promise<string[]> {
  const { rows } = await store.raw.execute({
    sql: `WITH RECURSIVE names(name) AS (
            SELECT min(${column}) FROM audit_log
            UNION ALL
            SELECT (SELECT min(${column}) FROM audit_log WHERE ${column} > name)
            FROM names
            WHERE name IS NOT NULL
          )
          SELECT name FROM names WHERE name IS NOT NULL LIMIT ${namesMax}`,
    args: [],
  });
  return rows.map((row) => String(row["name"]));
}

/** Appends what an operator did to the log that is never changed. */
export async function logOperator(
  tx: WriteTransaction,
  entry: { operator: string; action: string; subject: string; detail: object; at: number },
): Promise<void> {
  await tx.raw.execute({
    sql: "INSERT INTO audit_log (operator, action, subject, detail, happened_at) VALUES (?, ?, ?, ?, ?)",
    args: [entry.operator, entry.action, entry.subject, JSON.stringify(entry.detail), entry.at],
  });
}

/** A page of what operators did, the newest first. */
export async function readAudit(
  { store }: { store: Store },
  { limit, ...filter }: AuditFilter & { limit: number },
): Promise<AuditLog> {
  const found = await auditEntries(store, filter, limit + 1);
  const entries = found.slice(0, limit);
  const next = found.length > limit ? (entries.at(-1)?.id ?? null) : null;
  return { count: entries.length, entries, next };
}

/** The newest decision on a review: who was faster, and what they did. */
export async function lastDecision(
  { store }: { store: Store },
  review: string,
): Promise<AuditEntry | null> {
  const filter = { operator: null, action: null, subject: review, before: null };
  return (await auditEntries(store, filter, 1))[0] ?? null;
}
