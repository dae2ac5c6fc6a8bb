import type { SQL } from "drizzle-orm";
import type { Result } from "#content/contract/base/result.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { doAll, type Statement } from "#content/store/query.ts";
import { logOperator, type OperatorEntry } from "./audit-store.ts";

/** One write as data: a statement, or an audit log entry, whose hash is computed when it is written. */
export type Write = Statement | OperatorEntry;

/**
 * A decision about what was read: a refusal, or an outcome and the writes for it, in order. Deciding functions get a
 * Queryable, which they cannot write to. The writes are valid only for the state that was read, so they are carried out in
 * the same transaction, before the next plan is made.
 */
export type Plan<Value, Failure> =
  | { readonly ok: false; readonly failure: Failure }
  | {
      readonly outcome: Result<Value, Failure>;
      readonly writes: readonly Write[];
      /** If the store assigns ids in the outcome: SQL for storing the outcome as JSON, to run right after the writes. */
      readonly outcomeSql?: (json: string) => SQL;
    };

/** An outcome, possibly a refusal, with its writes. */
export const planned = <Value = never, Failure = never>(
  outcome: Result<Value, Failure>,
  ...writes: readonly Write[]
): Plan<Value, Failure> => ({ outcome, writes });

/** A plan with one more write, unless it refuses. */
export const withWrite = <Value, Failure>(
  plan: Plan<Value, Failure>,
  writeOf: (value: Value) => Write,
): Plan<Value, Failure> =>
  "failure" in plan || !plan.outcome.ok
    ? plan
    : planned(plan.outcome, ...plan.writes, writeOf(plan.outcome.value));

export async function carryOut<Value, Failure>(
  tx: WriteTransaction,
  plan: Plan<Value, Failure>,
): Promise<Result<Value, Failure>> {
  if ("failure" in plan) return plan;
  await writeAll(tx, plan.writes);
  return plan.outcome;
}

export async function writeAll(tx: WriteTransaction, writes: readonly Write[]): Promise<void> {
  for (const write of writes) {
    if ("sql" in write) await doAll(tx, [write]);
    else await logOperator(tx, write);
  }
}
