import { type WantedField, wantedFields } from "#content/nonprofit/thin-fields.ts";
import { rejectionReasons } from "./consensus.ts";
import type { StructuredField } from "#content/contract/enrichment.ts";
import type { EnrichmentTally } from "./tally.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { packed, unpacked } from "#content/store/packed.ts";
import { closePending, inConsensus } from "#content/nonprofit/pending-fields.ts";

export type Agreed = {
  nonprofit_id: number;
  slug: string;
  field: StructuredField;
  /** The value of the earliest agreeing submission, as it goes live. */
  value: string;
  normalised_value: string;
  confidence: number;
  /** An operator may settle what agents disagree on; the value is no less theirs. Default: consensus. */
  decidedBy?: "consensus" | "operator";
  now: Date;
};

/**
 * Makes an agreed value live: value, provenance, list, change row, winners, losers, and credit, in the caller's
 * transaction. The pending submissions that agree must be stored already. Answers the sequence of the change, null when
 * the field holds a value after all: then nothing was written. Its effect on public data equals saveNonprofits, which
 * reads and compares whole records and would take five times as long on this hot path.
 */
export async function applyAgreed(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  agreed: Agreed,
): Promise<number | null> {
  const { nonprofit_id, field } = agreed;
  const live = field === "founded_year" ? Number(agreed.value) : agreed.value;
  // First writer wins inside the statement: a value that is there is never overwritten.
  const { rows } = await tx.raw.execute({
    sql: `UPDATE nonprofits SET ${field} = ?, updated_at = ?
          WHERE id = ? AND (${field} IS NULL OR ${field} = '') AND status <> 'withdrawn'
          RETURNING ${packed(wantedFields)}`,
    args: [live, agreed.now.getTime(), nonprofit_id],
  });
  const [row] = unpacked<Record<WantedField, string | number | null>>(rows);
  if (row === undefined) return null;
  const complete = wantedFields.every(
    (wanted: WantedField) => row[wanted] !== null && row[wanted] !== "",
  );
  if (complete) {
    await tx.raw.execute({
      sql: "DELETE FROM listings WHERE nonprofit_id = ? AND list = 'thin'",
      args: [nonprofit_id],
    });
  }
  await settleVoices(tx, tally, agreed);
  await writeProvenance(tx, agreed);
  await closePending(tx, agreed);
  const { lastInsertRowid } = await tx.raw.execute({
    sql: `INSERT INTO changes (kind, nonprofit_id, slug, fields, moved_lists, origin, changed_at)
          VALUES ('changed', ?, ?, ?, ?, ?, ?)`,
    args: [
      nonprofit_id,
      agreed.slug,
      JSON.stringify([field, "provenance"]),
      complete ? '["thin"]' : "[]",
      agreed.decidedBy === "operator" ? "review" : "consensus",
      agreed.now.getTime(),
    ],
  });
  return Number(lastInsertRowid);
}

/** The winners are applied and credited, all others rejected with the winning value. */
async function settleVoices(tx: WriteTransaction, tally: EnrichmentTally, agreed: Agreed) {
  const { nonprofit_id, field, now } = agreed;
  if (!(await applied(tx, nonprofit_id))) tally.add("nonprofits_improved");
  const where = `nonprofit_id = ? AND field = ? AND ${inConsensus}`;
  const winners = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'applied', confidence = ?, applied_at = ?, decided_at = ?, network = NULL
          WHERE ${where} AND normalised_value = ?
          RETURNING agent_id, test_data`,
    args: [
      agreed.confidence,
      now.getTime(),
      now.getTime(),
      nonprofit_id,
      field,
      agreed.normalised_value,
    ],
  });
  for (const { agent_id, test_data } of winners.rows) {
    if (test_data === 0) tally.credit(String(agent_id), 1);
  }
  const losers = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = ?, decided_at = ?, network = NULL
          WHERE ${where}`,
    args: [rejectionReasons.outvoted, agreed.value, now.getTime(), nonprofit_id, field],
  });
  tally.move("pending", "applied", winners.rows.length);
  tally.move("pending", "rejected", losers.rowsAffected);
}

/** Who agreed, with which source: the earliest agreeing submission that names one. */
async function writeProvenance(tx: WriteTransaction, agreed: Agreed): Promise<void> {
  await tx.raw.execute({
    sql: `INSERT INTO provenance (nonprofit_id, field, set_by, source, source_url, agents, applied_at)
          SELECT ?1, ?2, ?5, ?5,
            (SELECT source_url FROM submissions
             WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'applied' AND normalised_value = ?3
               AND decided_at = ?4 AND source_url IS NOT NULL
             ORDER BY id LIMIT 1),
            json_group_array(DISTINCT agent_name), ?4
          FROM (SELECT agent_name FROM submissions
                WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'applied' AND normalised_value = ?3
                  AND decided_at = ?4
                ORDER BY id LIMIT ${provenanceAgentsMax})
          WHERE true
          ON CONFLICT (nonprofit_id, field) DO UPDATE SET
            set_by = excluded.set_by, source = excluded.source, source_url = excluded.source_url,
            agents = excluded.agents, applied_at = excluded.applied_at`,
    args: [
      agreed.nonprofit_id,
      agreed.field,
      agreed.normalised_value,
      agreed.now.getTime(),
      agreed.decidedBy ?? "consensus",
    ],
  });
}

/** A profile names at most so many agents for one value; more would only feed the vain. */
const provenanceAgentsMax = 20;

/** True when some submission is live on this nonprofit. Index: submissions_by_field. */
export async function applied(tx: WriteTransaction, nonprofitId: number): Promise<boolean> {
  const { rows } = await tx.raw.execute({
    sql: `SELECT 1 FROM submissions
          WHERE nonprofit_id = ? AND status = 'applied'
            AND field IN ('mission', 'description', 'tagline', 'website', 'city', 'region', 'founded_year',
              'contact_email', 'programme', 'impact_metric')
          LIMIT 1`,
    args: [nonprofitId],
  });
  return rows.length > 0;
}

/**
 * Names an agent among the sources of a live value that it found too. Answers the sequence of the change, null when
 * nothing changed: the name is there already, the list is full, or nothing is known of the value's source.
 */
export async function addCorroboration(
  tx: WriteTransaction,
  one: { nonprofit_id: number; slug: string; field: string; agent_name: string; now: Date },
): Promise<number | null> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE provenance SET agents = json_insert(agents, '$[#]', ?3)
          WHERE nonprofit_id = ?1 AND field = ?2 AND json_array_length(agents) < ${provenanceAgentsMax}
            AND NOT EXISTS (SELECT 1 FROM json_each(agents) WHERE value = ?3)`,
    args: [one.nonprofit_id, one.field, one.agent_name],
  });
  if (rowsAffected === 0) return null;
  await tx.raw.execute({
    sql: "UPDATE nonprofits SET updated_at = ? WHERE id = ?",
    args: [one.now.getTime(), one.nonprofit_id],
  });
  const { lastInsertRowid } = await tx.raw.execute({
    sql: `INSERT INTO changes (kind, nonprofit_id, slug, fields, moved_lists, origin, changed_at)
          VALUES ('changed', ?, ?, '["provenance"]', '[]', 'corroboration', ?)`,
    args: [one.nonprofit_id, one.slug, one.now.getTime()],
  });
  return Number(lastInsertRowid);
}
