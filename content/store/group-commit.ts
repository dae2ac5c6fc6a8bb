import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { StoreBusy } from "./busy.ts";
import type { Store, WriteTransaction } from "./open.ts";

/** What the jobs of one transaction gather together, and how it is written at the end. */
export type Gathering<Gathered> = {
  begin(): Gathered;
  end(tx: WriteTransaction, gathered: Gathered): Promise<void>;
};

export type Job<Value, Gathered> = (tx: WriteTransaction, gathered: Gathered) => Promise<Value>;

export type GroupCommit<Gathered> = {
  /**
   * Runs a job in a transaction that it may share with others, and answers after the commit is on disk. A job must write
   * nothing before it is sure to succeed. Throws what the job or the store throws, then nothing of the job is stored.
   */
  run<Value>(job: Job<Value, Gathered>): Promise<Value>;
};

type Waiting<Gathered> = {
  job: Job<unknown, Gathered>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** More would keep other writers, and this process's event loop, waiting. */
const groupSizeMax = 32;
const turnsBeforeGroup = 2;

/**
 * Lets writes that arrive while a commit is on its way share the next one: with synchronous=FULL the sync to disk is
 * most of what a small write costs. Nobody waits for company: an idle store commits a single job at once.
 */
export function groupCommit<Gathered>(
  store: Store,
  gathering: Gathering<Gathered>,
): GroupCommit<Gathered> {
  const waiting: Waiting<Gathered>[] = [];
  let draining = false;

  const commit = (group: readonly Waiting<Gathered>[]) =>
    store.write(async (tx) => {
      const gathered = gathering.begin();
      const values: unknown[] = [];
      for (const { job } of group) values.push(await job(tx, gathered));
      await gathering.end(tx, gathered);
      return values;
    });

  const settle = async (group: readonly Waiting<Gathered>[]): Promise<void> => {
    try {
      const values = await commit(group);
      group.forEach(({ resolve }, at) => resolve(values[at]));
    } catch (error) {
      if (group.length === 1 || error instanceof StoreBusy) {
        group.forEach(({ reject }) => reject(error));
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
    run: <Value>(job: Job<Value, Gathered>) =>
      new Promise<Value>((resolve, reject) => {
        waiting.push({ job, resolve: resolve as (value: unknown) => void, reject });
        if (!draining) void drain();
      }),
  };
}
