import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { isStoreTrouble } from "./busy.ts";
import type { Store, WriteTransaction } from "./open.ts";

/** Does jobs in the caller's transaction, as if one after the other; answers their values in their order. */
export type DoTogether<Job, Value> = (
  tx: WriteTransaction,
  jobs: readonly Job[],
) => Promise<Value[]>;

export type GroupCommit<Job, Value> = {
  /**
   * Does a job in a transaction that it may share with others, and answers after the commit is on disk. Throws what the
   * job or the store throws, then nothing of the job is stored.
   */
  run(job: Job): Promise<Value>;
};

type Waiting<Job, Value> = {
  job: Job;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
};

/** More would keep other writers, and this process's event loop, waiting. */
const groupSizeMax = 32;
const turnsBeforeGroup = 2;

/**
 * Lets writes that arrive while a commit is on its way share the next one: with synchronous=FULL the sync to disk, and
 * what each statement costs, are most of what a small write takes. Nobody waits for company: an idle store commits a
 * single job at once.
 */
export function groupCommit<Job, Value>(
  store: Store,
  doTogether: DoTogether<Job, Value>,
): GroupCommit<Job, Value> {
  const waiting: Waiting<Job, Value>[] = [];
  let draining = false;

  const settle = async (group: readonly Waiting<Job, Value>[]): Promise<void> => {
    try {
      const jobs = group.map(({ job }) => job);
      const values = await store.write((tx) => doTogether(tx, jobs));
      for (const [at, { resolve }] of group.entries()) resolve(values[at] as Value);
    } catch (error) {
      if (group.length === 1 || isStoreTrouble(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      // One job's bug must not refuse its neighbours: each gets a transaction of its own.
      for (const one of group) await settle([one]);
    }
  };

  const drain = async () => {
    draining = true;
    while (waiting.length > 0) {
      // An embedded store works synchronously: without turns of the event loop requests that lie at the socket would
      // not be read before the commit, and every group would hold one job.
      for (let turn = 0; turn < turnsBeforeGroup; turn++) await eventLoopTurn();
      await settle(waiting.splice(0, groupSizeMax));
    }
    draining = false;
  };

  return {
    run: (job) =>
      new Promise<Value>((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        if (!draining) void drain();
      }),
  };
}
