import assert from "node:assert/strict";
import { and, eq, gt, ne, sql } from "drizzle-orm";
import {
  type EnrichableField,
  fieldTypeOf,
  isStructured,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { yieldsToAgents } from "#content/nonprofit/provenance.ts";
import { publicName, shownSource } from "#content/nonprofit/public-name.ts";
import {
  type NonprofitRecord,
  sourceFrom,
  type StoredProvenance,
} from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { planSaves, type Save, type SaveContext } from "#content/nonprofit/save.ts";
import type { Queryable } from "#content/store/open.ts";
import { type Statement, builder, inValues, statement } from "#content/store/query.ts";
import { submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { corroborates, rejectionReasons } from "./consensus.ts";
import {
  type Field,
  type StoredSubmission,
  decisionColumns,
  ofField,
  rejectAll,
  votesOn,
} from "./submission-store.ts";
import { comparedValue } from "./value.ts";

export type AgreedValue = {
  nonprofit_id: number;
  field: StructuredField;
  /** The value that goes live: what the agreeing submissions have in common, or the operator's value. */
  value: string;
  normalised_value: string;
  confidence: number;
  /** The provenance when an operator decided what agents disagree on. Default: the consensus of the agents. */
  decision?: StoredProvenance;
  now: Date;
};

/** The most agents that a profile names and counts for one value; naming more would only reward vanity. */
const provenanceAgentsMax = 20;

/** The profile after the save, and the statements that save it. */
type ProfilePlan = Pick<Awaited<ReturnType<typeof planSaves>>, "statements" | "appended"> & {
  after: NonprofitRecord;
};

/** An agreeing submission, reduced to what the profile shows of it. */
export type AgreeingVote = Pick<
  StoredSubmission,
  "agent_id" | "agent_name" | "source_url" | "test_data"
>;

/**
 * Plans the statements that make an agreed value live: winners, losers, and the profile's field with its provenance. The
 * field of `before` must be open: empty, or with a value that yields to agents. `votes`: all agreeing submissions, earliest
 * first, including one that an earlier statement of the same transaction inserts.
 */
export async function planAgreed(
  store: Queryable,
  agreement: AgreedValue,
  { before, votes }: { before: NonprofitRecord; votes: readonly AgreeingVote[] },
): Promise<ProfilePlan> {
  const { nonprofit_id, field, now } = agreement;
  const decision = agreement.decision ?? sourceFrom("consensus", now.getTime());
  const winners = votes.filter((vote) => vote.test_data === 0);
  const names = winners.slice(0, provenanceAgentsMax).map(publicName);
  assert(
    before.status !== "withdrawn" &&
      (!before[field] || yieldsToAgents(before.provenance[field], now.getTime())),
    `${field} of nonprofit ${nonprofit_id} is not open`,
  );
  const sources = winners.map(({ source_url }) => source_url);
  const website = field === "website" ? agreement.value : before.website;
  const shownSources = sources.map((sourceUrl) => shownSource(sourceUrl, sources, website));
  const source = {
    ...decision,
    source_url:
      shownSources.find((sourceUrl, at) => sourceUrl !== null && sourceUrl === sources[at]) ??
      shownSources.find((sourceUrl) => sourceUrl !== null) ??
      null,
    agents: [...new Set(names)],
  };
  const value = field === "founded_year" ? Number(agreement.value) : agreement.value;
  const after = {
    ...before,
    [field]: value,
    provenance: { ...before.provenance, [field]: source },
  };
  const origin = agreement.decision === undefined ? "consensus" : "review";
  return planProfile(store, { before, after }, { origin, now }, decideVotes(agreement, winners));
}

/** Plans one save; `first` are statements to run before it. */
async function planProfile(
  store: Queryable,
  save: Save,
  context: SaveContext,
  first: readonly Statement[] = [],
): Promise<ProfilePlan> {
  const { records, statements, appended } = await planSaves(store, [save], context);
  return { after: records[0] ?? save.after, statements: [...first, ...statements], appended };
}

const agreeingCondition = (agreement: AgreedValue) =>
  and(votesOn(agreement), eq(submissions.normalised_value, agreement.normalised_value));

/** The stored submissions that agree with a value, including test data, earliest first. Index: submissions_by_field. */
export const agreeingVotes = (
  store: Queryable,
  agreement: AgreedValue,
): Promise<AgreeingVote[]> => {
  const { id, agent_id, agent_name, source_url, test_data } = submissions;
  return store.db
    .select({ agent_id, agent_name, source_url, test_data })
    .from(submissions)
    .where(agreeingCondition(agreement))
    .orderBy(id);
};

/**
 * Marks the winners as applied, with the live value where it differs from their own. Test data with this value stays as a
 * corroboration. All others are rejected with the winning value. Index: submissions_by_field.
 */
function decideVotes(agreement: AgreedValue, winners: readonly AgreeingVote[]): Statement[] {
  const { nonprofit_id, field, confidence, value, now } = agreement;
  const at = now.getTime();
  const appliedColumns = {
    ...decisionColumns({ status: "applied", reason: null, at }),
    winning_value: sql`nullif(${value}, ${submissions.value})`,
    confidence,
    applied_at: at,
  };
  const win = and(agreeingCondition(agreement), eq(submissions.test_data, 0));
  const auditColumns = { audit_only: 1, reason: corroborates, network: null };
  const reason = rejectionReasons[agreement.decision === undefined ? "outvoted" : "overruled"];
  return [
    statement(builder.update(submissions).set(appliedColumns).where(win)),
    ...(confidence > winners.length
      ? [
          statement(
            builder.update(submissions).set(auditColumns).where(agreeingCondition(agreement)),
          ),
        ]
      : []),
    rejectAll("votes", { nonprofit_id, field, reason, at, winning_value: value }),
  ];
}

/** An agent that sent a value that was already live. `name` is null when no one vouches for the agent's name. */
export type Corroboration = {
  nonprofit_id: number;
  field: EnrichableField;
  name: string | null;
  now: Date;
};

/**
 * Adds an agent to the sources of a live value that it sent too. Only a vouched `name` is added as a name; other agents are
 * just counted, because anyone can send a live value with any name beside it. Changes nothing if the name is listed already,
 * if the maximum is reached, or if the value has no provenance.
 */
export async function planCorroboration(
  store: Queryable,
  { field, name, now }: Corroboration,
  before: NonprofitRecord,
): Promise<ProfilePlan> {
  const noChange = { after: before, statements: [], appended: 0 };
  const liveSource = before.provenance[field];
  if (liveSource === undefined) return noChange;
  const { agents, corroborations = 0 } = liveSource;
  if (agents.length + corroborations >= provenanceAgentsMax) return noChange;
  if (name !== null && agents.includes(name)) return noChange;
  const more =
    name === null ? { corroborations: corroborations + 1 } : { agents: [...agents, name] };
  const after = {
    ...before,
    provenance: { ...before.provenance, [field]: { ...liveSource, ...more } },
  };
  return planProfile(store, { before, after }, { origin: "corroboration", now });
}

export type AgreedField = { nonprofit_id: number; field: StructuredField };

/** Selects the submissions of an agent, those with these ids, or those that match both. */
export type SubmissionSelection = {
  agent_id?: string | undefined;
  ids?: readonly number[] | undefined;
};

/** The selected submissions that went live by agreement, in order of id: those after the id `after`, at most `limit`. */
export async function agreedSubmissions(
  store: Queryable,
  { agent_id, ids }: SubmissionSelection,
  after: number,
  limit: number,
) {
  const { id, nonprofit_id, field, value, source_url, decided_at } = submissions;
  const rows = await store.db
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
  return rows.flatMap((row) => (isStructured(row.field) ? [{ ...row, field: row.field }] : []));
}

const isField = eq(submissions.field_type, "structured");

/**
 * Plans to empty a field that agreement made live and to reject the submissions that agreed; the field is then open again.
 * If someone else has set the value since, only the submissions are rejected, and `empties` is false.
 */
export async function planRevert(
  store: Queryable,
  { nonprofit_id, field, reason, now }: AgreedField & { reason: string; now: Date },
): Promise<{ empties: boolean; statements: Statement[] }> {
  const [record] = await recordsById(store, [nonprofit_id]);
  if (record === undefined) return { empties: false, statements: [] };
  const appliedVotes = and(
    ofField({ nonprofit_id, field }),
    eq(submissions.status, "applied"),
    isField,
  );
  const rows = await store.db
    .select({ live: sql<string>`coalesce(${submissions.winning_value}, ${submissions.value})` })
    .from(submissions)
    .where(appliedVotes);
  const rejectedColumns = decisionColumns({ status: "rejected", reason, at: now.getTime() });
  const rejectStatement = statement(
    builder.update(submissions).set(rejectedColumns).where(appliedVotes),
  );
  const agreedForms = new Set(rows.map(({ live }) => comparedValue(field, live)));
  const empties = holdsAgreed(record, field, agreedForms);
  if (!empties) return { empties, statements: [rejectStatement] };
  const { [field]: _, ...otherSources } = record.provenance;
  const after = { ...record, [field]: null, provenance: otherSources };
  const save = { before: record, after };
  return {
    empties,
    ...(await planProfile(store, save, { origin: "revert", now }, [rejectStatement])),
  };
}

/**
 * After an operator set a field: rejects the waiting submissions with the operator's value, and also those that agreement
 * had made live with another value. Run these statements before the profile is saved. A null value empties the field.
 */
export function overruleField({
  value,
  now,
  ...of
}: Field & { value: string | null; now: Date }): Statement[] {
  const reason = rejectionReasons.overruled;
  const at = now.getTime();
  const group = fieldTypeOf(of.field) === "prose" ? "texts" : "votes";
  const normalForm = value === null ? "" : comparedValue(of.field, value);
  const otherVotes = and(
    ofField(of),
    isField,
    eq(submissions.status, "applied"),
    ne(submissions.normalised_value, normalForm),
  );
  const rejectedColumns = decisionColumns({ status: "rejected", reason, at });
  return [
    rejectAll(group, { ...of, reason, at, winning_value: value }),
    statement(builder.update(submissions).set(rejectedColumns).where(otherVotes)),
  ];
}

function holdsAgreed(
  record: NonprofitRecord,
  field: StructuredField,
  agreedForms: ReadonlySet<string>,
) {
  const live = record[field];
  if (live === null || record.provenance[field]?.set_by !== "consensus") return false;
  return agreedForms.has(comparedValue(field, String(live)));
}
