import assert from "node:assert/strict";
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import type { EnrichableField, StructuredField } from "#content/contract/enrichment.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
import { saveField } from "#content/nonprofit/save.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { query } from "#content/store/query.ts";
import { provenance } from "#content/store/tables/nonprofits.ts";
import { rejectionReasons } from "./consensus.ts";
import type { EnrichmentTally } from "./tally.ts";

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
 * Makes an agreed value live: winners, losers, credit, and the profile's field with its provenance, in the caller's
 * transaction. The pending submissions that agree must be stored already. Answers the sequence of the change, null when
 * the field has a value after all: then nothing was written.
 */
export async function applyAgreed(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  agreed: Agreed,
): Promise<number | null> {
  const { nonprofit_id, field, now } = agreed;
  const set_by = agreed.decidedBy ?? "consensus";
  if (!(await isOpen(tx, agreed))) return null;
  const winners = await decideVotes(tx, tally, agreed);
  const sequence = await saveField(
    tx,
    {
      nonprofit_id,
      field,
      value: field === "founded_year" ? Number(agreed.value) : agreed.value,
      provenance: {
        set_by,
        source: set_by,
        source_url: winners.find(({ source_url }) => source_url !== null)?.source_url ?? null,
        agents: [
          ...new Set(winners.slice(0, provenanceAgentsMax).map(({ agent_name }) => agent_name)),
        ],
        applied_at: now.getTime(),
      },
    },
    { origin: set_by === "operator" ? "review" : "consensus", now },
  );
  assert(sequence !== null, `${field} of nonprofit ${nonprofit_id} was filled in between`);
  return sequence;
}

async function isOpen(tx: WriteTransaction, { nonprofit_id, field }: Agreed): Promise<boolean> {
  const { rows } = await tx.raw.execute({
    sql: `SELECT 1 FROM nonprofits
          WHERE id = ? AND (${field} IS NULL OR ${field} = '') AND status <> 'withdrawn'`,
    args: [nonprofit_id],
  });
  return rows.length > 0;
}

const Winner = z.object({
  id: z.number(),
  agent_id: z.string(),
  agent_name: z.string(),
  source_url: z.string().nullable(),
  test_data: z.number(),
});

/** The winners, earliest first, are applied and credited; all others are rejected with the winning value. */
async function decideVotes(tx: WriteTransaction, tally: EnrichmentTally, agreed: Agreed) {
  const { nonprofit_id, field, now } = agreed;
  if (!(await applied(tx, nonprofit_id))) tally.add("nonprofits_improved");
  const where = `nonprofit_id = ? AND field = ? AND ${inConsensus}`;
  const winners = await query(
    tx,
    `UPDATE submissions SET status = 'applied', confidence = ?, applied_at = ?, decided_at = ?, network = NULL
     WHERE ${where} AND normalised_value = ?
     RETURNING id, agent_id, agent_name, source_url, test_data`,
    [agreed.confidence, now.getTime(), now.getTime(), nonprofit_id, field, agreed.normalised_value],
    Winner,
  );
  for (const { agent_id, test_data } of winners) {
    if (test_data === 0) tally.credit(agent_id, 1);
  }
  const losers = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = ?, decided_at = ?, network = NULL
          WHERE ${where}`,
    args: [rejectionReasons.outvoted, agreed.value, now.getTime(), nonprofit_id, field],
  });
  tally.move("pending", "applied", winners.length);
  tally.move("pending", "rejected", losers.rowsAffected);
  return winners.toSorted((a, b) => a.id - b.id);
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
  one: { nonprofit_id: number; field: EnrichableField; agent_name: string; now: Date },
): Promise<number | null> {
  const { nonprofit_id, field, agent_name, now } = one;
  const [known] = await tx.db
    .select()
    .from(provenance)
    .where(and(eq(provenance.nonprofit_id, nonprofit_id), eq(provenance.field, field)));
  if (known === undefined || known.agents.length >= provenanceAgentsMax) return null;
  if (known.agents.includes(agent_name)) return null;
  const { set_by, source, source_url, applied_at } = known;
  const agents = [...known.agents, agent_name];
  return saveField(
    tx,
    { nonprofit_id, field, provenance: { set_by, source, source_url, agents, applied_at } },
    { origin: "corroboration", now },
  );
}
