import { type GroupCommit, groupCommit } from "#content/store/write-batcher.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";

type Job<Value> = (tx: WriteTransaction) => Promise<Value>;

const groups = new WeakMap<Store, GroupCommit<Job<unknown>, unknown>>();

/** Writes in a transaction that it may share: donations and proofs that arrive together share a sync to disk. */
export async function writeTogether<Value>(store: Store, job: Job<Value>): Promise<Value> {
  const known = groups.get(store);
  const group = known ?? groupCommit(store, oneAfterTheOther);
  if (known === undefined) groups.set(store, group);
  return (await group.run(job)) as Value;
}

async function oneAfterTheOther(
  tx: WriteTransaction,
  jobs: readonly Job<unknown>[],
): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const job of jobs) values.push(await job(tx));
  return values;
}
