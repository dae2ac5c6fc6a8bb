import type { DraftStatus } from "#content/contract/recommendation-draft.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

/** What an agent proposed to recommend. Instants are in milliseconds since 1970. */
export type StoredDraft = {
  id: number;
  nonprofit_id: number;
  recommended_for: string[];
  normalised: string;
  why_recommended: string;
  source_url: string;
  agent_id: string;
  agent_name: string;
  network: string | null;
  sensitive_claims: string[];
  test_data: 0 | 1;
  phase: number;
  status: DraftStatus;
  reason: string | null;
  decided_by: string | null;
  created_at: number;
  decided_at: number | null;
};

export type QueuedDraft = StoredDraft & { slug: string; name: string };

const waitingMax = 500;

export type SameIntents = Pick<StoredDraft, "nonprofit_id" | "normalised">;

/**
 * The drafts of one nonprofit that wait and name the same donor intents, oldest first, at most 500: however many others
 * wait, they do not keep these from being found. Index: drafts_by_nonprofit.
 */
export async function waitingDrafts(
  store: Queryable,
  { nonprofit_id, normalised }: SameIntents,
): Promise<StoredDraft[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status = 'pending' AND normalised = ?
          ORDER BY id
          LIMIT ${waitingMax}`,
    args: [nonprofit_id, normalised],
  });
  return rows.map(draftFrom);
}

/** What an agent proposed for a nonprofit that was not rejected, the newest first. Index: drafts_by_nonprofit. */
export async function ownDrafts(
  store: Queryable,
  { nonprofit_id, agent_id }: Pick<StoredDraft, "nonprofit_id" | "agent_id">,
): Promise<StoredDraft[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status IN ('pending', 'applied') AND agent_id = ?
          ORDER BY id DESC
          LIMIT 20`,
    args: [nonprofit_id, agent_id],
  });
  return rows.map(draftFrom);
}

/** Whether an operator rejected a draft of this nonprofit, or removed its recommendation. */
export async function operatorRefused(
  store: Queryable,
  { nonprofit_id, slug }: Pick<QueuedDraft, "nonprofit_id" | "slug">,
): Promise<boolean> {
  const { rows } = await store.raw.execute({
    sql: `SELECT 1 FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status = 'rejected' AND decided_by LIKE 'operator:%'
          UNION ALL
          SELECT 1 FROM audit_log WHERE subject = ? AND action = 'pick.removed'
          LIMIT 1`,
    args: [nonprofit_id, slug],
  });
  return rows.length > 0;
}

export type RefusedDraft = Pick<StoredDraft, "agent_name" | "recommended_for" | "reason"> & {
  decided_at: number;
};

const refusedMax = 5;

/** What operators refused of one nonprofit, or took back, the newest first, at most 5. Index: drafts_by_nonprofit. */
export async function refusedDrafts(
  store: Queryable,
  nonprofit_id: number,
): Promise<RefusedDraft[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT agent_name, recommended_for, reason, decided_at FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status = 'rejected'
            AND (decided_by LIKE 'operator:%' OR decided_by LIKE 'revert:%')
          ORDER BY decided_at DESC, id DESC
          LIMIT ${refusedMax}`,
    args: [nonprofit_id],
  });
  return rows.map(({ agent_name, recommended_for, reason, decided_at }) => ({
    agent_name: String(agent_name),
    recommended_for: JSON.parse(String(recommended_for)) as string[],
    reason: reason === null ? null : String(reason),
    decided_at: Number(decided_at),
  }));
}

/** How many distinct agents' drafts stand behind the same donor intents: those that wait and those that agreed. */
export async function agentsBehind(
  store: Queryable,
  { nonprofit_id, normalised }: SameIntents,
): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(DISTINCT agent_id) AS agents FROM recommendation_drafts
          WHERE nonprofit_id = ? AND status IN ('pending', 'applied') AND normalised = ?`,
    args: [nonprofit_id, normalised],
  });
  return Number(rows[0]?.["agents"] ?? 0);
}

export async function draftById(store: Queryable, id: number): Promise<StoredDraft | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT * FROM recommendation_drafts WHERE id = ?",
    args: [id],
  });
  const [row] = rows;
  return row === undefined ? null : draftFrom(row);
}

/** What waits for an operator, the oldest first, after the draft with this id. Index: drafts_for_review. */
export async function draftQueue(
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<QueuedDraft[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT d.*, n.slug, n.name
          FROM recommendation_drafts AS d INDEXED BY drafts_for_review
          JOIN nonprofits AS n ON n.id = d.nonprofit_id
          WHERE d.status = 'pending' AND d.id > ? AND n.status <> 'withdrawn'
          ORDER BY d.id
          LIMIT ?`,
    args: [after, limit],
  });
  return rows.map((row) => draftFrom(row) as QueuedDraft);
}

/** How many wait for an operator; stops counting at `max`. Index: drafts_for_review. */
export async function waitingDraftCount(store: Queryable, max: number): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS waiting FROM (
            SELECT 1 FROM recommendation_drafts AS d INDEXED BY drafts_for_review
            JOIN nonprofits AS n ON n.id = d.nonprofit_id
            WHERE d.status = 'pending' AND n.status <> 'withdrawn'
            LIMIT ?
          )`,
    args: [max],
  });
  return Number(rows[0]?.["waiting"] ?? 0);
}

export type NewDraft = Omit<StoredDraft, "id" | "reason" | "decided_at">;

export async function insertDraft(tx: WriteTransaction, draft: NewDraft): Promise<number> {
  const { rows } = await tx.raw.execute({
    sql: `INSERT INTO recommendation_drafts
            (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, network,
             sensitive_claims, test_data, phase, status, decided_by, created_at, decided_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          RETURNING id`,
    args: [
      draft.nonprofit_id,
      JSON.stringify(draft.recommended_for),
      draft.normalised,
      draft.why_recommended,
      draft.source_url,
      draft.agent_id,
      draft.agent_name,
      draft.network,
      JSON.stringify(draft.sensitive_claims),
      draft.test_data,
      draft.phase,
      draft.status,
      draft.decided_by,
      draft.created_at,
      draft.status === "pending" ? null : draft.created_at,
    ],
  });
  return Number(rows[0]?.["id"]);
}

export type Settling = {
  status: Exclude<DraftStatus, "pending">;
  reason: string | null;
  /** "operator:<name>", "consensus", or "agent" for one that the agent itself replaced. */
  decided_by: string;
  at: number;
};

/** Decides a draft that waits. Answers false when it was decided before. */
export async function settleDraft(
  tx: WriteTransaction,
  id: number,
  { status, reason, decided_by, at }: Settling,
): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE recommendation_drafts SET status = ?, reason = ?, decided_by = ?, decided_at = ?
          WHERE id = ? AND status = 'pending'`,
    args: [status, reason, decided_by, at, id],
  });
  return rowsAffected === 1;
}

/** Closes, with the draft that an operator approved, all that wait and name the same donor intents. */
export async function applyAgreeing(
  tx: WriteTransaction,
  { nonprofit_id, normalised }: SameIntents,
  { decided_by, at }: Pick<Settling, "decided_by" | "at">,
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE recommendation_drafts SET status = 'applied', reason = NULL, decided_by = ?, decided_at = ?
          WHERE nonprofit_id = ? AND status = 'pending' AND normalised = ?`,
    args: [decided_by, at, nonprofit_id, normalised],
  });
}

/** Takes back, with the recommendation of a nonprofit, the agreement that made it. */
export async function rejectApplied(
  tx: WriteTransaction,
  nonprofit_id: number,
  { reason, decided_by, at }: Omit<Settling, "status">,
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE recommendation_drafts SET status = 'rejected', reason = ?, decided_by = ?, decided_at = ?
          WHERE nonprofit_id = ? AND status = 'applied'`,
    args: [reason, decided_by, at, nonprofit_id],
  });
}

/** A draft as a row of its table holds it. */
export const draftFrom = (row: Record<string, unknown>): StoredDraft =>
  ({
    ...row,
    recommended_for: JSON.parse(String(row["recommended_for"])),
    sensitive_claims: JSON.parse(String(row["sensitive_claims"])),
  }) as unknown as StoredDraft;

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
