import { eq } from "drizzle-orm";
import { structuredFields } from "#content/contract/enrichment.ts";
import { inValues } from "#content/store/query.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import type { NonprofitRecord } from "./record.ts";
import type { WriteTransaction } from "#content/store/open.ts";

/**
 * Says literally what the partial index one_pending_per_agent_and_field says, so that SQLite uses it: the submissions
 * that take part in consensus.
 */
export const inConsensus = "status = 'pending' AND audit_only = 0 AND field_type = 'structured'";

type Saved = { before: NonprofitRecord | null; after: NonprofitRecord };

const isEmpty = (value: unknown): boolean => value === null || value === "";

/**
 * Keeps what waits for a second agent in step with saved nonprofits: a field that was filled from elsewhere makes its
 * pending submissions audit-only, a withdrawn nonprofit waits for nothing, and a new place in the list is copied.
 */
export async function refreshPending(tx: WriteTransaction, saves: readonly Saved[]): Promise<void> {
  const moved = saves.filter(
    ({ before, after }) =>
      before !== null &&
      (before.status !== after.status ||
        before.verified !== after.verified ||
        before.beneficiaries_per_year !== after.beneficiaries_per_year ||
        structuredFields.some((field) => isEmpty(before[field]) !== isEmpty(after[field]))),
  );
  if (moved.length === 0) return;
  const records = new Map(moved.map(({ after }) => [after.id, after]));
  const asked = await tx.db
    .selectDistinct({ id: submissions.nonprofit_id })
    .from(submissions)
    .where(inValues(submissions.nonprofit_id, [...records.keys()]));
  for (const { id } of asked) {
    const record = records.get(id);
    if (record !== undefined) await refreshOne(tx, record);
  }
}

async function refreshOne(tx: WriteTransaction, record: NonprofitRecord): Promise<void> {
  const filled = structuredFields.filter((field) => !isEmpty(record[field]));
  await tx.raw.execute({
    sql: `UPDATE submissions SET audit_only = 1, network = NULL
          WHERE nonprofit_id = ? AND field IN (SELECT value FROM json_each(?)) AND ${inConsensus}`,
    args: [record.id, JSON.stringify(filled)],
  });
  await tx.db.delete(pendingFields).where(eq(pendingFields.nonprofit_id, record.id));
  // A withdrawn nonprofit stands in no list, so nothing is found for it.
  await tx.raw.execute({
    sql: `INSERT INTO pending_fields (nonprofit_id, field, pending, list_order)
          SELECT s.nonprofit_id, s.field, count(*), l.list_order
          FROM submissions AS s
          JOIN listings AS l ON l.nonprofit_id = s.nonprofit_id AND l.list = 'all'
          WHERE s.nonprofit_id = ? AND ${inConsensus} AND s.test_data = 0
          GROUP BY s.field`,
    args: [record.id],
  });
}
