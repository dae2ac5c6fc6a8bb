import type { SQL } from "drizzle-orm";
import type { Result } from "#content/contract/base/result.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { doAll, type Statement } from "#content/store/query.ts";
import { logOperator, type OperatorEntry } from "./audit-store.ts";

/** One write as data: a statement, or an entry of the audit log, which is sealed with the entry before it as it is written. */
export type Write = Statement | OperatorEntry;

/**
 * What a verb decided of what it read: a refusal, or an outcome with the writes that bring it about, in order. Whoever
 * decides is given a Queryable, which has no way to write but SQL. The writes hold for the state that was read: they are done
 * in the same transaction, before the next plan is made.
 */
export type Plan<Value, Failure> =
  | { readonly ok: false; readonly failure: Failure }
  | {
      readonly outcome: Result<Value, Failure>;
      readonly writes: readonly Write[];
      /** Where the store gives numbers in the outcome: how it is kept as JSON, in SQL, right after the writes. */
      readonly kept?: (json: string) => SQL;
    };

/** An outcome, a refusal among them, with its writes. */
export const planned = <Value = never, Failure = never>(
  outcome: Result<Value, Failure>,
  ...writes: readonly Write[]
): Plan<Value, Failure> => ({ outcome, writes });

/** The same plan with one write more, unless it refuses. */
export const withWrite = <Value, Failure>(
  plan: Plan<Value, Failure>,
  writeOf: (value: Value) => Write,
): Plan<Value, Failure> =>
  "failure" in plan || !plan.outcome.ok
    ? plan
    : planned(plan.outcome, ...plan.writes, writeOf(plan.outcome.value));

/** Does the writes of a plan, and answers its outcome. */
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
