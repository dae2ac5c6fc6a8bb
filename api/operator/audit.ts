import type { AuditEntry, AuditLog } from "#content/contract/audit.ts";
import { auditEntries, type AuditFilter } from "#content/operation/audit-log.ts";
import type { Store } from "#content/store/open.ts";

export const auditPageMax = 200;

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
