import { structuredFields } from "#content/contract/enrichment.ts";
import { type Statement, builder, inValues, statement } from "#content/store/query.ts";
import { pendingFields } from "#content/store/tables/enrichment.ts";
import { yieldsToAgents } from "./provenance.ts";
import type { NonprofitRecord } from "./record.ts";

/**
 * Says literally what the partial index one_pending_per_agent_and_field says, so that SQLite uses it: the submissions
 * that take part in consensus.
 */
export const inConsensus = "status = 'pending' AND audit_only = 0 AND field_type = 'structured'";

type SavedRecord = { before: NonprofitRecord | null; after: NonprofitRecord };

type StructuredField = (typeof structuredFields)[number];
const isOpen = (record: NonprofitRecord, field: StructuredField, at: number): boolean =>
  (record[field] ?? "") === "" || yieldsToAgents(record.provenance[field], at);

/**
 * Keeps what waits for a second agent in step with saved nonprofits: a field that was filled from elsewhere makes its
 * pending submissions audit-only, a withdrawn nonprofit waits for nothing, and a new place in the list is copied.
 */
export function pendingWrites(saves: readonly SavedRecord[], now: number): Statement[] {
  const moved = saves.filter(
    ({ before, after }) =>
      before !== null &&
      (before.status !== after.status ||
        before.verified !== after.verified ||
        before.beneficiaries_per_year !== after.beneficiaries_per_year ||
        structuredFields.some((field) => isOpen(before, field, now) !== isOpen(after, field, now))),
  );
  if (moved.length === 0) return [];
  const ids = [...new Set(moved.map(({ after }) => after.id))];
  const filled = moved.flatMap(({ after }) =>
    structuredFields.flatMap((field) => (isOpen(after, field, now) ? [] : [[after.id, field]])),
  );
  return [
    {
      // CROSS JOIN: from the few profiles to their submissions, whatever the statistics say.
      sql: `UPDATE submissions SET audit_only = 1, network = NULL
            WHERE id IN (
              SELECT s.id FROM json_each(?) AS filled
              CROSS JOIN submissions AS s ON s.nonprofit_id = filled.value ->> 0 AND s.field = filled.value ->> 1
              WHERE ${inConsensus}
            )`,
      args: [JSON.stringify(filled)],
    },
    statement(builder.delete(pendingFields).where(inValues(pendingFields.nonprofit_id, ids))),
    {
      // A withdrawn nonprofit stands in no list, so nothing is found for it.
      sql: `INSERT INTO pending_fields (nonprofit_id, field, pending, list_order)
            SELECT s.nonprofit_id, s.field, count(*), l.list_order
            FROM json_each(?) AS moved
            CROSS JOIN listings AS l ON l.nonprofit_id = moved.value AND l.list = 'all'
            CROSS JOIN submissions AS s ON s.nonprofit_id = moved.value AND ${inConsensus} AND s.test_data = 0
            GROUP BY s.nonprofit_id, s.field`,
      args: [JSON.stringify(ids)],
    },
  ];
}
