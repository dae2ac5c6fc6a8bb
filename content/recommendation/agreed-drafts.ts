import { draftFrom, type QueuedDraft, type SameIntents, type Settling } from "./drafts.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** Drafts of an agent that went live by agreement, by id. Reads the whole table: for an operator's command. */
export async function agreedDraftsOf(
  store: Queryable,
  agentId: string,
  limit: number,
): Promise<QueuedDraft[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT d.*, n.slug, n.name
          FROM recommendation_drafts AS d
          JOIN nonprofits AS n ON n.id = d.nonprofit_id
          WHERE d.agent_id = ? AND d.status = 'applied' AND d.decided_by = 'consensus'
          ORDER BY d.id
          LIMIT ?`,
    args: [agentId, limit],
  });
  return rows.map((row) => draftFrom(row) as QueuedDraft);
}

/** How many distinct agents' drafts made a recommendation by agreement. Index: drafts_by_nonprofit. */
export async function agentsAgreed(
  store: Queryable,
  { nonprofit_id, normalised }: SameIntents,
): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(DISTINCT agent_id) AS agents FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status = 'applied' AND decided_by = 'consensus' AND normalised = ?`,
    args: [nonprofit_id, normalised],
  });
  return Number(rows[0]?.["agents"] ?? 0);
}

/** Takes back agreement on these donor intents: one draft's, or with a null id that of all. */
export async function rejectAgreed(
  tx: WriteTransaction,
  { nonprofit_id, normalised, id }: SameIntents & { id: number | null },
  { reason, decided_by, at }: Omit<Settling, "status">,
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE recommendation_drafts SET status = 'rejected', reason = ?, decided_by = ?, decided_at = ?
          WHERE nonprofit_id = ? AND status = 'applied' AND decided_by = 'consensus' AND normalised = ?
            AND id = coalesce(?, id)`,
    args: [reason, decided_by, at, nonprofit_id, normalised, id],
  });
}
