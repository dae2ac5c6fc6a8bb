import assert from "node:assert/strict";
import { and, eq, gt, ne, sql } from "drizzle-orm";
import {
  type EnrichableField,
  fieldTypeOf,
  isStructured,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import { publicName, shownSource } from "#content/nonprofit/public-name.ts";
import {
  type NonprofitRecord,
  sourceFrom,
  type StoredProvenance,
} from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import type { Write } from "#content/store/plan.ts";
import { inValues } from "#content/store/query.ts";
import { submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { corroborates, rejectionReasons } from "./consensus.ts";
import { decided } from "./proposal-store.ts";
import { type Field, ofField, rejectAll, votesOn } from "./submission-store.ts";
import { comparedValue } from "./value.ts";

export type Agreed = {
  nonprofit_id: number;
  field: StructuredField;
  /** As it goes live: what the agreeing submissions have in common, or the operator's. */
  value: string;
  normalised_value: string;
  confidence: number;
  /** Where the value comes from when an operator decided what agents disagree on. Default: their consensus. */
  decided?: StoredProvenance;
  now: Date;
};

/** A profile names and counts at most this many agents for one value; more would only feed the vain. */
const provenanceAgentsMax = 20;

/**
 * Makes an agreed value live: winners, losers, and the profile's field with its provenance, in the caller's transaction,
 * which has seen that the field is empty. The pending submissions that agree must be stored already. Answers the
 * sequence of the change.
 */
export async function applyAgreed(tx: WriteTransaction, agreed: Agreed): Promise<number> {
  const { nonprofit_id, field, now } = agreed;
  const word = agreed.decided ?? sourceFrom("consensus", now.getTime());
  const winners = await decideVotes(tx, agreed);
  const names = winners.slice(0, provenanceAgentsMax).map(publicName);
  const [before] = await recordsById(tx, [nonprofit_id]);
  // The transaction holds the write lock, so the profile is as open as it was when it was read.
  assert(
    before !== undefined && before.status !== "withdrawn" && !before[field],
    `${field} of nonprofit ${nonprofit_id} is not open`,
  );
  const sources = winners.map(({ source_url }) => source_url);
  const website = field === "website" ? agreed.value : before.website;
  const shown = sources.map((one) => shownSource(one, sources, website));
  const source = {
    ...word,
    source_url:
      shown.find((one, at) => one !== null && one === sources[at]) ??
      shown.find((one) => one !== null) ??
      null,
    agents: [...new Set(names)],
  };
  const value = field === "founded_year" ? Number(agreed.value) : agreed.value;
  const after = {
    ...before,
    [field]: value,
    provenance: { ...before.provenance, [field]: source },
  };
  const origin = agreed.decided === undefined ? "consensus" : "review";
  await saveNonprofits(tx, [{ before, after }], { origin, now });
  return sequenceOf(tx, nonprofit_id);
}

/** The sequence of the change that was just made. */
async function sequenceOf(tx: WriteTransaction, nonprofitId: number): Promise<number> {
  const sequence = await newestChangeOf(tx, nonprofitId);
  assert(sequence !== null, `nothing has changed of nonprofit ${nonprofitId}`);
  return sequence;
}

/**
 * The winners, earliest first, are applied, with the value in which they went live where that is not their own; test data
 * of that value stays as a corroboration; all others are rejected with the winning value. Index: submissions_by_field.
 */
async function decideVotes(tx: WriteTransaction, agreed: Agreed) {
  const { normalised_value, confidence, value, now } = agreed;
  const at = now.getTime();
  const { id, agent_id, agent_name, source_url, test_data } = submissions;
  const agreeing = and(votesOn(agreed), eq(submissions.normalised_value, normalised_value));
  const winners = await tx.db
    .update(submissions)
    .set({
      ...decided({ status: "applied", reason: null, at }),
      winning_value: sql`nullif(${value}, ${submissions.value})`,
      confidence,
      applied_at: at,
    })
    .where(and(agreeing, eq(test_data, 0)))
    .returning({ id, agent_id, agent_name, source_url });
  if (confidence > winners.length) {
    const logged = { audit_only: 1, reason: corroborates, network: null };
    await tx.db.update(submissions).set(logged).where(agreeing);
  }
  const { nonprofit_id, field } = agreed;
  const reason = rejectionReasons[agreed.decided === undefined ? "outvoted" : "overruled"];
  await rejectAll(tx, "votes", { nonprofit_id, field, reason, at, winning_value: value });
  return winners.toSorted((a, b) => a.id - b.id);
}

/** An agent that found a live value, too; `name` is null where no one vouches for it. */
export type Corroboration = {
  nonprofit_id: number;
  field: EnrichableField;
  name: string | null;
  now: Date;
};

/**
 * Counts an agent among the sources of a live value that it found too, or names it when `name` is given: anyone can send what
 * is live, and put a name beside it. Does nothing when the name is there already, enough are known, or nothing is known of
 * the value's source.
 */
export async function addCorroboration(
  tx: WriteTransaction,
  { nonprofit_id, field, name, now }: Corroboration,
): Promise<void> {
  const [before] = await recordsById(tx, [nonprofit_id]);
  const known = before?.provenance[field];
  if (before === undefined || known === undefined) return;
  const { agents, corroborations = 0 } = known;
  if (agents.length + corroborations >= provenanceAgentsMax) return;
  if (name !== null && agents.includes(name)) return;
  const more =
    name === null ? { corroborations: corroborations + 1 } : { agents: [...agents, name] };
  const after = {
    ...before,
    provenance: { ...before.provenance, [field]: { ...known, ...more } },
  };
  await saveNonprofits(tx, [{ before, after }], { origin: "corroboration", now });
}

export type AgreedField = { nonprofit_id: number; field: StructuredField };

/** Which submissions are meant: an agent's, those with these numbers, or both. */
export type SubmissionSelection = {
  agent_id?: string | undefined;
  ids?: readonly number[] | undefined;
};

export type AgreedSubmission = AgreedField &
  Pick<typeof submissions.$inferSelect, "id" | "value" | "source_url" | "decided_at"> & {
    slug: string;
  };

/** The chosen submissions that went live by agreement, by number; after one, at most `limit`. */
export async function agreedSubmissions(
  store: Queryable,
  { agent_id, ids }: SubmissionSelection,
  after: number,
  limit: number,
): Promise<AgreedSubmission[]> {
  const { id, nonprofit_id, field, value, source_url, decided_at } = submissions;
  const found = await store.db
    .select({ id, nonprofit_id, field, value, source_url, decided_at, slug: nonprofits.slug })
    .from(submissions)
    .innerJoin(nonprofits, eq(nonprofits.id, nonprofit_id))
    .where(
      and(
        agent_id === undefined ? undefined : eq(submissions.agent_id, agent_id),
        ids === undefined ? undefined : inValues(id, ids),
        eq(submissions.status, "applied"),
        gt(id, after),
        isField,
      ),
    )
    .orderBy(id)
    .limit(limit);
  return found.flatMap((one) => (isStructured(one.field) ? [{ ...one, field: one.field }] : []));
}

const isField = eq(submissions.field_type, "structured");

/**
 * How a field that agreement made live is emptied, and the submissions that agreed rejected; the field counts again then.
 * A value that someone else set since stays, only the submissions are rejected: not `empties`.
 */
export async function planRevert(
  store: Queryable,
  { nonprofit_id, field, reason, now }: AgreedField & { reason: string; now: Date },
): Promise<{ empties: boolean; writes: Write[] }> {
  const [record] = await recordsById(store, [nonprofit_id]);
  if (record === undefined) return { empties: false, writes: [] };
  const applied = and(ofField({ nonprofit_id, field }), eq(submissions.status, "applied"), isField);
  const found = await store.db
    .select({ live: sql<string>`coalesce(${submissions.winning_value}, ${submissions.value})` })
    .from(submissions)
    .where(applied);
  const rejected = decided({ status: "rejected", reason, at: now.getTime() });
  const writes: Write[] = [(tx) => tx.db.update(submissions).set(rejected).where(applied)];
  const agreed = new Set(found.map(({ live }) => comparedValue(field, live)));
  const empties = holdsAgreed(record, field, agreed);
  if (empties) {
    const { [field]: _, ...others } = record.provenance;
    const after = { ...record, [field]: null, provenance: others };
    const saves = [{ before: record, after }];
    writes.push((tx) => saveNonprofits(tx, saves, { origin: "revert", now }));
  }
  return { empties, writes };
}

/**
 * An operator set a field: what waits for it is rejected with the operator's value, and so is what agreement had made
 * live, if that was another value. To be called before the profile is saved. A null value empties the field.
 */
export async function overruleField(
  tx: WriteTransaction,
  { value, now, ...of }: Field & { value: string | null; now: Date },
): Promise<void> {
  const reason = rejectionReasons.overruled;
  const at = now.getTime();
  const group = fieldTypeOf(of.field) === "prose" ? "texts" : "votes";
  await rejectAll(tx, group, { ...of, reason, at, winning_value: value });
  const normalised = value === null ? "" : comparedValue(of.field, value);
  await tx.db
    .update(submissions)
    .set(decided({ status: "rejected", reason, at }))
    .where(
      and(
        ofField(of),
        isField,
        eq(submissions.status, "applied"),
        ne(submissions.normalised_value, normalised),
      ),
    );
}

function holdsAgreed(record: NonprofitRecord, field: StructuredField, agreed: ReadonlySet<string>) {
  const live = record[field];
  if (live === null || record.provenance[field]?.set_by !== "consensus") return false;
  return agreed.has(comparedValue(field, String(live)));
}
