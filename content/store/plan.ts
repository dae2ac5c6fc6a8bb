import type { Result } from "#content/contract/base/result.ts";
import type { WriteTransaction } from "./open.ts";

/** One write, bound to what it writes; it may read what it needs for that. */
export type Write = (tx: WriteTransaction) => Promise<unknown>;

/**
 * What a verb decided of what it read: a refusal, or an outcome with the writes that bring it about, in order. Whoever
 * decides is given a Queryable, which has no way to write but SQL; the writes are done in the transaction that was read
 * from.
 */
export type Plan<Value, Failure> =
  | { readonly ok: false; readonly failure: Failure }
  | { readonly outcome: Result<Value, Failure>; readonly writes: readonly Write[] };

/** An outcome, a refusal among them, with its writes. */
export const planned = <Value = never, Failure = never>(
  outcome: Result<Value, Failure>,
  ...writes: readonly Write[]
): Plan<Value, Failure> => ({ outcome, writes });

/** Does the writes of a plan, and answers its outcome. */
export async function carryOut<Value, Failure>(
  tx: WriteTransaction,
  plan: Plan<Value, Failure>,
): Promise<Result<Value, Failure>> {
  if ("failure" in plan) return plan;
  await writeAll(tx, plan.writes);
  return plan.outcome;
}

/** Does writes one after another. */
export async function writeAll(tx: WriteTransaction, writes: readonly Write[]): Promise<void> {
  for (const write of writes) await write(tx);
}
