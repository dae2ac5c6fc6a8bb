import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { type InStatement, type InValue, LibsqlBatchError, type ResultSet } from "@libsql/client";
import { batcher, retry } from "#content/runtime/concurrency.ts";
import { StoreBusy, isStoreTrouble } from "./busy.ts";
import { type Queryable, type Store, type WriteTransaction, queryable } from "./open.ts";
import type { Statement } from "./query.ts";

/** What to write, and a function that makes the answer from the statements' results, in order. */
export type BatchedWrite<Value> = {
  readonly statements: readonly Statement[];
  readonly answer: (results: readonly ResultSet[]) => Value;
};

/** Reads from the store it is given and decides. It may be called again, so it must have no side effects. */
export type DecideWrite<Value> = (store: Queryable) => Promise<BatchedWrite<Value>>;

type Waiting = {
  /** Writes with a common subject may depend on each other, so on a server they never share a batch. */
  subjects: readonly string[];
  decide: DecideWrite<unknown>;
  settle: (outcome: Outcome) => void;
};
type Outcome = { answer: () => unknown } | { error: unknown } | typeof overtaken;
/** What a decision had read was changed by others before it was written. */
const overtaken = { overtaken: true } as const;

/** A larger batch would keep other writers and the event loop waiting. */
const batchSizeMax = 32;
const turnsBeforeBatch = 2;
/** How often, and after what waits, an overtaken decision is repeated. */
const tries = { triesMax: 20, firstMs: 2, waitMaxMs: 100 } as const;

type CarryOut = (store: Store, batch: readonly Waiting[]) => Promise<Outcome[]>;
const batchers = new WeakMap<Store, ReturnType<typeof openBatcher>>();

/**
 * Calls `decide` with the store's state, carries out its statements (all or none), and returns its answer once they are on
 * disk; what `decide` read is unchanged then. Decisions that arrive together share a commit, most of the cost of a small
 * write. An embedded store decides one after another in a transaction. A server gets all reads of a group, then all its
 * statements, which fail if anything read has changed: such overtaken decisions are repeated at most 20 times, then
 * StoreBusy is thrown. Throws what `decide` or the store throws; nothing is then stored, except perhaps after StoreAway.
 */
export async function batchedWrite<Value>(
  store: Store,
  subjects: readonly string[],
  decide: DecideWrite<Value>,
): Promise<Value> {
  const run = batchers.get(store) ?? openBatcher(store);
  batchers.set(store, run);
  const once = () => run({ subjects, decide });
  let outcome = await once();
  if ("overtaken" in outcome) outcome = await retry(once, (result) => "overtaken" in result, tries);
  if ("overtaken" in outcome) throw new StoreBusy("others write the same again and again");
  if ("error" in outcome) throw outcome.error;
  return outcome.answer() as Value;
}

/** `batchedWrite` for statements that need no reads. */
export const batchedStatements = (store: Store, ...statements: Statement[]): Promise<void> =>
  batchedWrite(store, [], async () => ({ statements, answer: () => undefined }));

/** Decides and carries out the statements within a transaction. */
export async function decideAndRun<Value>(
  tx: WriteTransaction,
  decide: DecideWrite<Value>,
): Promise<Value> {
  const { statements, answer } = await decide(tx);
  const results: ResultSet[] = [];
  for (const statement of statements) results.push(await tx.raw.execute(statement));
  return answer(results);
}

function openBatcher(store: Store) {
  let waiting: Waiting[] = [];
  let draining = false;
  const carryOutAll = store.embedded ? carryOutInside : carryOutAcross;

  const commit = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const outcomes = await carryOutAll(store, batch);
      for (const [at, { settle }] of batch.entries()) settle(outcomes[at] ?? overtaken);
    } catch (error) {
      if (batch.length === 1 || isStoreTrouble(error)) {
        for (const { settle } of batch) settle({ error });
        return;
      }
      // A failing write must not take its neighbours with it: run each in a transaction of its own.
      for (const entry of batch) await commit([entry]);
    }
  };

  const nextBatch = (): Waiting[] => {
    if (store.embedded) return waiting.splice(0, batchSizeMax);
    const busy = new Set<string>();
    const free = waiting.filter(({ subjects }) => {
      const isFree = !subjects.some((each) => busy.has(each));
      for (const each of subjects) busy.add(each);
      return isFree;
    });
    const batch = free.slice(0, batchSizeMax);
    waiting = waiting.filter((entry) => !batch.includes(entry));
    return batch;
  };

  const drain = async () => {
    draining = true;
    while (waiting.length > 0) {
      // An embedded store works synchronously: without turns of the event loop, requests waiting at the socket would not be
      // read before the commit, and every batch would hold one write.
      for (let turn = 0; turn < turnsBeforeBatch; turn++) await eventLoopTurn();
      await commit(nextBatch());
    }
    draining = false;
  };

  return (job: Omit<Waiting, "settle">) =>
    new Promise<Outcome>((settle) => {
      waiting.push({ ...job, settle });
      if (!draining) void drain();
    });
}

/** Runs the decisions one after another in a transaction. */
const carryOutInside: CarryOut = (store, batch) =>
  store.write(async (tx) => {
    const outcomes: Outcome[] = [];
    for (const { decide } of batch) {
      const value = await decideAndRun(tx, decide);
      outcomes.push({ answer: () => value });
    }
    return outcomes;
  });

/** Reads for all, then writes for all. All are overtaken if anything that one of them read changed in between. */
const carryOutAcross: CarryOut = async (store, batch) => {
  const { store: reader, guards } = gatherReads(store);
  const decisions = await Promise.all(batch.map(({ decide }) => decide(reader)));
  const statements = decisions.flatMap((decision) => decision.statements);
  try {
    const all = statements.length === 0 ? [] : await store.batch([...guards, ...statements]);
    const results = all.slice(guards.length);
    return decisions.map((decision) => {
      const resultsOfDecision = results.splice(0, decision.statements.length);
      return { answer: () => decision.answer(resultsOfDecision) };
    });
  } catch (error) {
    const isGuard = error instanceof LibsqlBatchError && error.statementIndex < guards.length;
    if (isGuard) return batch.map(() => overtaken);
    throw error;
  }
};

/** `isEach`: a read of `queryEach`; equal SQL texts are sent as one statement. */
type Read = Statement & { isEach: boolean };
/** The result of a statement, and the index of this read among those that share it. */
type ReadAnswer = { result: ResultSet; place: number };

/**
 * Reads for decisions that are made side by side: reads in one turn of the event loop are sent together and see one moment.
 * `guards` are statements that fail, and with them their batch, unless everything read is unchanged.
 */
export function gatherReads(server: Store): { store: Queryable; guards: Statement[] } {
  const guards: Statement[] = [];
  // Wait one more turn, so that reads that follow from earlier answers are sent together.
  const { ask } = batcher<Read, ReadAnswer>(async (reads) => {
    const groups = [...Map.groupBy(reads, (read) => (read.isEach ? read.sql : read)).entries()];
    const statements = groups.map(([key, all]): Statement =>
      typeof key === "string"
        ? { sql: key, args: [JSON.stringify(all.map(({ args }) => args))] }
        : { sql: key.sql, args: key.args },
    );
    const results = await server.raw.batch(statements, "read");
    guards.push(...statements.map((statement, at) => guardOf(statement, results[at])));
    const answers = new Map<Read, ReadAnswer>();
    for (const [at, result] of results.entries()) {
      for (const [place, read] of groups[at]?.[1].entries() ?? [])
        answers.set(read, { result, place });
    }
    return reads.flatMap((read) => answers.get(read) ?? []);
  });
  const execute = async (question: InStatement, values?: InValue[]) => {
    const { sql, args = [] } =
      typeof question === "string" ? { sql: question, args: values } : question;
    return (await ask({ sql, args: Object.values(args), isEach: false })).result;
  };
  const each = async (sql: string, args: InValue[]) => {
    const { result, place } = await ask({ sql, args, isEach: true });
    return result.rows.find((row) => row["call_index"] === place);
  };
  return { store: Object.assign(queryable({ execute }), { each }), guards };
}

/**
 * A statement that cancels its batch if the rows have changed: it then fails on purpose, because json('changed') is invalid.
 */
function guardOf({ sql, args }: Statement, result?: ResultSet): Statement {
  const { rows = [], columns = [] } = result ?? {};
  const cells = columns.map((_, at) => `value ->> ${at}`).join(", ");
  const isSame = `(SELECT count(*) FROM now) = ${rows.length}
    AND NOT EXISTS (SELECT * FROM now EXCEPT SELECT ${cells} FROM json_each(?${args.length + 1}))`;
  return {
    sql: `WITH now AS MATERIALIZED (${sql}) SELECT json(iif(${isSame}, '1', 'changed'))`,
    args: [...args, JSON.stringify(rows.map((row) => columns.map((_, at) => row[at])))],
  };
}
