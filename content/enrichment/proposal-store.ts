import { and, type SQL, sql } from "drizzle-orm";
import type { SubmissionStatus } from "#content/contract/enrichment.ts";
import { builder, statement, type Statement } from "#content/store/statement.ts";
import type { submissions } from "#content/store/tables/enrichment.ts";
import type { recommendationDrafts } from "#content/store/tables/recommendations.ts";

/** What agents propose lies in two tables with the same states: values of fields, and drafts of recommendations. */
type Proposals = typeof submissions | typeof recommendationDrafts;

type ProposalDecision = {
  status: Exclude<SubmissionStatus, "pending">;
  /** Public for a rejection. */
  reason: string | null;
  at: number;
};

/** The columns that a decision writes. The network of an agent is kept only while its proposal waits. */
export const decided = ({ status, reason, at }: ProposalDecision) => ({
  status,
  reason,
  decided_at: at,
  network: null,
});

/** Decides proposals that wait: a decision that came first stands. `also` are columns that only this table has. */
export const decideWaiting = <Table extends Proposals>(
  table: Table,
  which: SQL | undefined,
  decision: ProposalDecision,
  also: Partial<Table["$inferInsert"]> = {},
): Statement =>
  statement(
    builder
      .update<Proposals>(table)
      .set({ ...also, ...decided(decision) })
      // A literal: with a parameter, on which partial indexes depend, SQLite plans the statement at each execution.
      .where(and(sql`${table.status} = 'pending'`, which)),
  );
