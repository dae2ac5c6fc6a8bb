import { sha256Of } from "#content/runtime/digest.ts";
import { and, desc, eq, getTableColumns, lt, asc, gt, sql } from "drizzle-orm";
import { z } from "zod";
import type { AuditEntry, AuditLog } from "#content/contract/operator.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { operatorOperations } from "#content/contract/operations/operator.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { jsonFact } from "#content/store/facts.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { query, valuesOf } from "#content/store/query.ts";
import { auditLog } from "#content/store/tables/operations.ts";

const { hash: _hash, previous_hash: _previous, ...entryColumns } = getTableColumns(auditLog);

/** A page of the log before the id `before`, newest first. Indexes: audit_log_by_subject, _by_operator, _by_action. */
export async function readAudit(
  { store }: { store: Store },
  { before, limit, ...filter }: QueryOf<typeof operatorOperations.readAuditLog>,
): Promise<AuditLog> {
  const conditions = (["operator", "action", "subject"] as const).map((name) => {
    const value = filter[name];
    return value === undefined ? undefined : eq(auditLog[name], value);
  });
  const rows = await store.db
    .select(entryColumns)
    .from(auditLog)
    .where(and(...conditions, before === undefined ? undefined : lt(auditLog.id, before)))
    .orderBy(desc(auditLog.id))
    .limit(limit + 1);
  const entries = rows
    .slice(0, limit)
    .map((entry) => ({ ...entry, happened_at: isoTime(entry.happened_at) }));
  const next = rows.length > limit ? (entries.at(-1)?.id ?? null) : null;
  return { count: entries.length, entries, next };
}

/** The newest decision on a review, to tell an operator who was faster and what they did. */
export const lastDecision = async (
  context: { store: Store },
  subject: string,
): Promise<AuditEntry | null> =>
  (await readAudit(context, { subject, limit: 1 })).entries[0] ?? null;

/**
 * Whether a verification of this profile, or of any profile merged into it, was ever revoked. SQL, because it follows merges
 * from each revoked profile. Indexes: audit_log_by_action, audit_log_by_subject, nonprofits_slug.
 */
export async function wasRevoked(store: Queryable, slug: string): Promise<boolean> {
  const rows = await query(
    store,
    // UNION returns profiles that were merged in a circle only once. The plus makes SQLite look up merges by subject instead
    // of scanning all of them for each profile.
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
  return rows.length > 0;
}

const namesMax = 100;

/** The operators and actions in the log, for choosing one. Indexes: audit_log_by_operator, _by_action. */
export async function auditNames(
  store: Queryable,
): Promise<{ operators: string[]; actions: string[] }> {
  return {
    operators: await distinctNames(store, "operator"),
    actions: await distinctNames(store, "action"),
  };
}

/** Steps from name to name by index, whatever the length of the log. SQL, because drizzle has no recursion. */
async function distinctNames(store: Queryable, column: "operator" | "action"): Promise<string[]> {
  const rows = await query(
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
  return rows.map(({ name }) => name);
}

/** The operator in audit log entries about what happens automatically over time. */
export const clockName = "the clock";

/** An operator's action; `at` is in milliseconds since 1970. */
export type OperatorEntry = Pick<NewEntry, "operator" | "action" | "subject" | "detail"> & {
  at: number;
};

/** Appends an operator's action to the log, which is never changed. The hash of each entry covers the one before. */
export async function logOperator(
  tx: WriteTransaction,
  { at, ...entry }: OperatorEntry,
): Promise<void> {
  const { id, hash } = await chainedHead(tx);
  const row = { ...entry, id: id + 1, detail: entry.detail ?? {}, happened_at: at };
  const text = { ...row, detail: JSON.stringify(row.detail) };
  await tx.db
    .insert(auditLog)
    .values({ ...row, previous_hash: hash, hash: hashOfEntry(hash, text) });
}

type NewEntry = typeof auditLog.$inferInsert;

/** A log entry in the form that is hashed; `detail` is the stored text. */
type HashedEntry = Omit<AuditEntry, "detail" | "happened_at"> & {
  detail: string;
  happened_at: number;
};

const hashedColumns = { ...entryColumns, detail: sql<string>`${auditLog.detail}` };

/**
 * SHA-256, in hexadecimal, of the JSON array of these members in this order, which is unique to an entry. `previous` is the
 * hash of the entry before, "" for the first.
 */
export const hashOfEntry = (
  previous: string,
  { id, operator, action, subject, detail, happened_at }: HashedEntry,
): string =>
  sha256Of(JSON.stringify([previous, id, operator, action, subject, detail, happened_at]));

const entriesPerRead = 1_000;

/** The highest id ever assigned: higher than the newest entry's if someone deleted entries at the end. */
const highestId = sql<number>`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_log'), 0)`;

/** Id and hash of the newest entry; 0 and "" for an empty log. */
async function chainedHead(tx: WriteTransaction): Promise<{ id: number; hash: string }> {
  const [newest] = await tx.db
    .select({ id: highestId, hash: auditLog.hash })
    .from(auditLog)
    .orderBy(desc(auditLog.id))
    .limit(1);
  return newest ?? { id: 0, hash: "" };
}

async function* entriesAfter(store: Queryable, after: number) {
  for (let last = after; ;) {
    const entries = await store.db
      .select({ ...hashedColumns, previous_hash: auditLog.previous_hash, hash: auditLog.hash })
      .from(auditLog)
      .where(gt(auditLog.id, last))
      .orderBy(asc(auditLog.id))
      .limit(entriesPerRead);
    yield* entries;
    if (entries.length < entriesPerRead) return;
    last = entries.at(-1)?.id ?? last;
  }
}

/** The newest entry of a day as published: a reader who keeps a copy can prove what the log was then. */
export const AuditHead = z.object({
  day: z.string(),
  /** The id of the newest entry, which is also the number of entries. */
  entries: z.int().min(1),
  hash: z.string(),
  /** Detached JWS over `signedTextOf` this head. */
  jws: z.string(),
});
export type AuditHead = z.infer<typeof AuditHead>;

/** GET /changes/audit.json. */
export const AuditHeads = z.object({ heads: z.array(AuditHead) });
export type AuditHeads = z.infer<typeof AuditHeads>;

/** The fact that stores the published heads, as JSON of AuditHeads. */
export const auditHeadsFact = "audit_heads";

export const storedHeads = async (store: Queryable): Promise<AuditHead[]> =>
  (await jsonFact(store, auditHeadsFact, AuditHeads))?.heads ?? [];

export const signedTextOf = ({ day, entries, hash }: Omit<AuditHead, "jws">): string =>
  JSON.stringify([day, entries, hash]);

export type AuditFault = { id: number; problem: string };

const headsKept = 400;

/** The published heads with that of this day, as JSON of AuditHeads; the last 400 heads are kept. */
export async function headsWithDay(
  tx: WriteTransaction,
  {
    day,
    before,
    sign,
  }: { day: string; before: string | null; sign: (text: string) => Promise<string> },
): Promise<string> {
  const { heads } = before === null ? { heads: [] } : AuditHeads.parse(JSON.parse(before));
  const { id: entries, hash } = await chainedHead(tx);
  const head = { day, entries, hash };
  // A day's head never changes once it is published.
  const isNew = entries > 0 && !heads.some((earlier) => earlier.day === day);
  const newHeads = isNew ? [{ ...head, jws: await sign(signedTextOf(head)) }] : [];
  const latest = [...heads, ...newHeads].slice(-headsKept);
  return JSON.stringify({ heads: latest } satisfies AuditHeads);
}

const triggers = ["changed", "shortened", "replaced"].map((end) => `audit_log_is_not_${end}`);

/** The missing ones of the triggers that protect the log. SQL, because drizzle cannot query the schema. */
export async function missingTriggers(store: Queryable): Promise<string[]> {
  const { rows } = await store.raw.execute(
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_log' AND sql LIKE '%RAISE(ABORT%'",
  );
  const there = new Set(rows.map(({ name }) => name));
  return triggers.filter((name) => !there.has(name));
}

/** The first entry after those that heads cover and before this time (milliseconds since 1970); null if there is none. */
export async function uncovered(
  store: Queryable,
  { heads, beforeMs }: { heads: readonly AuditHead[]; beforeMs: number },
): Promise<number | null> {
  const coveredTo = Math.max(0, ...heads.map(({ entries }) => entries));
  const { id, happened_at } = auditLog;
  const isUncovered = and(gt(id, coveredTo), lt(happened_at, beforeMs));
  const [first = null] = await valuesOf(store, id, isUncovered, { by: id, limit: 1 });
  return first;
}

const faultsMax = 100;

/**
 * Reads the whole log and reports where it was tampered with: entries that were changed or are missing, do not follow the
 * one before, or differ from a published head. At most 100 faults.
 */
export async function verifyAudit(store: Queryable, heads: readonly AuditHead[]) {
  const faults: AuditFault[] = [];
  const headsByEntries = Map.groupBy(heads, ({ entries }) => entries);
  let id = 0;
  let hash = "";
  for await (const entry of entriesAfter(store, 0)) {
    const problem = faultOf(entry, { id, hash });
    if (problem !== null) faults.push({ id: entry.id, problem });
    [id, hash] = [entry.id, entry.hash];
    for (const head of headsByEntries.get(id) ?? []) {
      if (head.hash !== hash) faults.push({ id, problem: `differs from the head of ${head.day}` });
    }
    headsByEntries.delete(id);
    if (faults.length >= faultsMax) return { entries: id, hash, faults };
  }
  const [newest] = await store.db.select({ id: highestId }).from(sql`(SELECT 1)`);
  const last = Math.max(newest?.id ?? 0, ...headsByEntries.keys());
  if (last > id) faults.push({ id: last, problem: `is missing, with all after entry ${id}` });
  return { entries: id, hash, faults };
}

function faultOf(
  entry: HashedEntry & { previous_hash: string; hash: string },
  before: { id: number; hash: string },
): string | null {
  if (entry.id !== before.id + 1) return `follows entry ${before.id}: those between are missing`;
  if (entry.previous_hash !== before.hash) return "does not follow the entry before";
  return entry.hash === hashOfEntry(entry.previous_hash, entry) ? null : "was changed";
}
