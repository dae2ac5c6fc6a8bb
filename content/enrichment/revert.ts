import { comparedValue } from "./value.ts";
import type { StructuredField } from "#content/contract/enrichment.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { applied } from "./apply-field.ts";
import type { EnrichmentTally } from "./tally.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";

export type AgreedField = { nonprofit_id: number; field: StructuredField };

/** Fields in which submissions of this agent went live by agreement, by id; after a field, at most `limit`. */
export async function agreedFieldsOf(
  store: Queryable,
  agentId: string,
  after: number,
  limit: number,
): Promise<(AgreedField & { id: number; normalised_value: string })[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT id, nonprofit_id, field, normalised_value FROM submissions
          WHERE agent_id = ? AND status = 'applied' AND field_type = 'structured' AND id > ?
          ORDER BY id
          LIMIT ?`,
    args: [agentId, after, limit],
  });
  return rows.map(
    (row) => ({ ...row }) as unknown as AgreedField & { id: number; normalised_value: string },
  );
}

/**
 * Empties a field that agreement made live, rejects the submissions that agreed and takes back their credit; the field
 * counts anew. A value that someone else set since stays, only the submissions are rejected. Answers the sequence of
 * the change, null when the profile stays as it is.
 */
export async function revertField(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  { nonprofit_id, field, reason, now }: AgreedField & { reason: string; now: Date },
): Promise<number | null> {
  const [record] = await recordsById(tx, [nonprofit_id]);
  if (record === undefined) return null;
  const { rows } = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = NULL, decided_at = ?
          WHERE nonprofit_id = ? AND field = ? AND status = 'applied' AND field_type = 'structured'
          RETURNING agent_id, normalised_value, test_data`,
    args: [reason, now.getTime(), nonprofit_id, field],
  });
  for (const { agent_id, test_data } of rows) {
    if (test_data === 0) tally.credit(String(agent_id), -1);
  }
  tally.move("applied", "rejected", rows.length);
  if (rows.length > 0 && !(await applied(tx, nonprofit_id))) tally.add("nonprofits_improved", -1);
  const agreed = new Set(rows.map((row) => String(row["normalised_value"])));
  if (!holdsAgreed(record, field, agreed)) return null;
  const { [field]: _, ...provenance } = record.provenance;
  const after = { ...record, [field]: null, provenance };
  await saveNonprofits(tx, [{ before: record, after }], { origin: "revert", now });
  return newestChangeOf(tx, nonprofit_id);
}

function holdsAgreed(record: NonprofitRecord, field: StructuredField, agreed: ReadonlySet<string>) {
  const live = record[field];
  if (live === null || record.provenance[field]?.set_by !== "consensus") return false;
  return agreed.has(comparedValue(field, String(live)));
}
