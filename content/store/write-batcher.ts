import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { isStoreTrouble } from "./busy.ts";
import type { Store, WriteTransaction } from "./open.ts";
import { doAll, type Statement } from "./statement.ts";

type Work = (tx: WriteTransaction) => Promise<unknown>;
type Waiting = {
  work: Work;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** More would keep other writers, and this process's event loop, waiting. */
const batchSizeMax = 32;
const turnsBeforeBatch = 2;

const batchers = new WeakMap<Store, (work: Work) => Promise<unknown>>();

/**
 * Does `work` in a transaction that it may share with other work, one after the other, and answers after the commit is
 * on disk. With synchronous=FULL the sync to disk is most of what a small write takes, so writes that arrive while a
 * commit is on its way share the next one; an idle store commits a single one at once. Throws what the work or the
 * store throws, and then nothing of the work is stored. `work` may run more than once.
 */
export async function batchedWrite<Value>(
  store: Store,
  work: (tx: WriteTransaction) => Promise<Value>,
): Promise<Value> {
  const known = batchers.get(store);
  const run = known ?? openBatcher(store);
  if (known === undefined) batchers.set(store, run);
  return (await run(work)) as Value;
}

/** The same for statements that need nothing read. */
export const batchedStatements = (store: Store, ...statements: Statement[]): Promise<void> =>
  batchedWrite(store, (tx) => doAll(tx, statements));

function openBatcher(store: Store): (work: Work) => Promise<unknown> {
  const waiting: Waiting[] = [];
  let draining = false;

  const commit = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const values = await store.write(async (tx) => {
        const done: unknown[] = [];
        for (const { work } of batch) done.push(await work(tx));
        return done;
      });
      for (const [at, { resolve }] of batch.entries()) resolve(values[at]);
    } catch (error) {
      if (batch.length === 1 || isStoreTrouble(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One write's bug must not refuse its neighbours: each gets a transaction of its own.
      for (const one of batch) await commit([one]);
    }
  };

  const drain = async () => {
    draining = true;
    while (waiting.length > 0) {
      // An embedded store works synchronously: without turns of the event loop requests that wait at the socket would
      // not be read before the commit, and every batch would hold one write.
      for (let turn = 0; turn < turnsBeforeBatch; turn++) await eventLoopTurn();
      await commit(waiting.splice(0, batchSizeMax));
    }
    draining = false;
  };

  return (work) =>
    new Promise<unknown>((resolve, reject) => {
      waiting.push({ work, resolve, reject });
      if (!draining) void drain();
    });
}
