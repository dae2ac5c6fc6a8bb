import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { WriteTransaction } from "./open.ts";

/** One write, bound to what it writes. */
export type Write = (tx: WriteTransaction) => Promise<unknown>;

/**
 * What a verb decided of what it read, and the writes that bring it about, in order; a refusal seldom has any. Whoever
 * decides is given a Queryable and writes nothing; the writes are done in the transaction that was read from.
 */
export type Plan<Value, Failure> = Result<Value, Failure> & { writes?: readonly Write[] };

/** An outcome with its writes. */
export const planned = <Value = never, Failure = never>(
  outcome: Result<Value, Failure>,
  ...writes: readonly Write[]
): Plan<Value, Failure> => ({ ...outcome, writes });

/** Does the writes of a plan, and answers its outcome. */
export async function carryOut<Value, Failure>(
  tx: WriteTransaction,
  plan: Plan<Value, Failure>,
): Promise<Result<Value, Failure>> {
  for (const write of plan.writes ?? []) await write(tx);
  return plan.ok ? ok(plan.value) : fail(plan.failure);
}
