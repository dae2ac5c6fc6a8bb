import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { type InStatement, type InValue, LibsqlBatchError, type ResultSet } from "@libsql/client";
import { batcher, retry } from "#content/runtime/concurrency.ts";
import { StoreBusy, isStoreTrouble } from "./busy.ts";
import { type Queryable, type Store, type WriteTransaction, queryable } from "./open.ts";
import type { Statement } from "./query.ts";

/** What is to be written, and what is answered once it is, given what each statement answered, in order. */
export type Decision<Value> = {
  readonly statements: readonly Statement[];
  readonly answer: (results: readonly ResultSet[]) => Value;
};

/** Reads by what it is given, and decides. It may be asked again, so it must have no effects of its own. */
export type Decide<Value> = (store: Queryable) => Promise<Decision<Value>>;

type Waiting = {
  /** Writes with a common subject may depend on each other and never share a batch on a server. */
  subjects: readonly string[];
  decide: Decide<unknown>;
  settle: (outcome: Outcome) => void;
};
type Outcome = { answer: () => unknown } | { error: unknown } | typeof overtaken;
/** Others wrote, since it was read, what a decision had read. */
const overtaken = { overtaken: true } as const;

/** More would keep other writers, and this process's event loop, waiting. */
const batchSizeMax = 32;
const turnsBeforeBatch = 2;
/** How often a decision is repeated after others were faster. */
const tries = { triesMax: 20, firstMs: 2, waitMaxMs: 100 } as const;

type CarryOut = (store: Store, batch: readonly Waiting[]) => Promise<Outcome[]>;
const batchers = new WeakMap<Store, ReturnType<typeof openBatcher>>();

/**
 * Has something decided of what the store holds and carries it out, all or nothing, and answers once that is on disk. What is
 * read is still so when it is written. Decisions that arrive together share a commit, which is most of what a small write takes; an
 * idle store commits a single one at once. An embedded store decides within a transaction, one after another. A server is asked
 * twice for a whole group: it reads for all of them, then does all of their statements in a batch that fails when
 * something read is no longer so, and what was overtaken is decided again, at most 20 times; then StoreBusy is thrown. In
 * a group of a server no two have one of their `subjects` in common. Throws what `decide` or the store throws, and then nothing is stored;
 * but after StoreAway, it may be.
 */
export async function batchedWrite<Value>(
  store: Store,
  subjects: readonly string[],
  decide: Decide<Value>,
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

/** The same for statements that need nothing read. */
export const batchedStatements = (store: Store, ...statements: Statement[]): Promise<void> =>
  batchedWrite(store, [], async () => ({ statements, answer: () => undefined }));

/** Decides within a transaction, and carries it out there. */
export async function carriedOut<Value>(
  tx: WriteTransaction,
  decide: Decide<Value>,
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
      // One write's bug must not refuse its neighbours: each gets a transaction of its own.
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
      // An embedded store works synchronously: without turns of the event loop requests that wait at the socket would
      // not be read before the commit, and every batch would hold one write.
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

/** In a transaction, one after another. */
const carryOutInside: CarryOut = (store, batch) =>
  store.write(async (tx) => {
    const outcomes: Outcome[] = [];
    for (const { decide } of batch) {
      const value = await carriedOut(tx, decide);
      outcomes.push({ answer: () => value });
    }
    return outcomes;
  });

/** All read at once, then all written at once; all are overtaken when something that any of them read was changed between. */
const carryOutAcross: CarryOut = async (store, batch) => {
  const { store: reader, guards } = gatherReads(store);
  const decisions = await Promise.all(batch.map(({ decide }) => decide(reader)));
  const statements = decisions.flatMap((decision) => decision.statements);
  try {
    const all = statements.length === 0 ? [] : await store.batch([...guards, ...statements]);
    const results = all.slice(guards.length);
    return decisions.map((decision) => {
      const own = results.splice(0, decision.statements.length);
      return { answer: () => decision.answer(own) };
    });
  } catch (error) {
    const isGuard = error instanceof LibsqlBatchError && error.statementIndex < guards.length;
    if (isGuard) return batch.map(() => overtaken);
    throw error;
  }
};

/** `isEach`: a read of `queryEach`; equal SQL texts are sent as one statement. */
type Read = Statement & { isEach: boolean };
/** Of what the statement answered, the place of this read among those that it was sent for. */
type ReadAnswer = { result: ResultSet; place: number };

/**
 * Reads a server for decisions that are made side by side: all that is asked in one turn of the event loop is sent at
 * once, and is of one moment. `guards` are statements that fail, and with them the batch in which they stand, unless all
 * that was read is still so.
 */
export function gatherReads(server: Store): { store: Queryable; guards: Statement[] } {
  const guards: Statement[] = [];
  // One turn later, so that reads which follow from earlier answers are sent together.
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
    return result.rows.find((row) => row["asked"] === place);
  };
  return { store: Object.assign(queryable({ execute }), { each }), guards };
}

/**
 * A statement that fails on purpose (json('changed') is invalid JSON) when the rows are no longer those read, and so cancels
 * the batch.
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
