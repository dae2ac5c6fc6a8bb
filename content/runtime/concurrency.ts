import pRetry from "p-retry";

/**
 * Collects the questions of one turn of the event loop and asks them together, for questions with a high fixed cost, such as
 * a transaction. `askAll` answers in the order of the questions, at once or later.
 */
export function batcher<Question, Answer>(
  askAll: (questions: readonly Question[]) => readonly Answer[] | Promise<readonly Answer[]>,
) {
  let waiting: (PromiseWithResolvers<Answer> & { question: Question })[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    Promise.try(
      askAll,
      batch.map(({ question }) => question),
    ).then(
      (answers) => {
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer);
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error);
      },
    );
  };
  return {
    /** Answers at the end of this turn of the event loop. If asking throws, it throws for all who asked together. */
    ask: (question: Question): Promise<Answer> => {
      const entry = { question, ...Promise.withResolvers<Answer>() };
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(entry);
      return entry.promise;
    },
    /** Asks all waiting questions now. */
    flush,
  };
}

const flights = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs work once for all calls with the same key of an object that come while it runs. */
export function singleFlight<Value>(
  of: object,
  key: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const running = flights.get(of) ?? new Map<string, Promise<unknown>>();
  flights.set(of, running);
  const flight = running.get(key);
  if (flight !== undefined) return flight as Promise<Value>;
  const call = work().finally(() => running.delete(key));
  running.set(key, call);
  return call;
}

/** Runs work one after another in the order of the calls, also after a failure. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Runs work on each item, at most `limit` at a time. When work throws, no further item is begun. */
export async function eachAtMost<Item>(
  limit: number,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = iteratedOnce(items);
  const next = async () => {
    for await (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, next));
}

/** Several consumers share this iterator; each item goes to one of them. */
async function* iteratedOnce<Item>(items: Iterable<Item> | AsyncIterable<Item>) {
  yield* items;
}

export type RetryOptions = {
  /** Including the first. */
  triesMax: number;
  /** The wait before the second try. Later waits are `factor` times as long, and each is randomly extended up to double. */
  firstMs: number;
  factor?: number;
  waitMaxMs?: number;
  /** Aborting it ends the waiting; no further try is made. */
  signal?: AbortSignal;
};

/** Passes an outcome through p-retry, which retries what is thrown. */
class Passing extends Error {}

/**
 * Repeats work while its outcome says that another try may help, with growing waits. Returns the last outcome; errors that
 * work throws are not retried.
 */
export async function retry<Outcome>(
  work: () => Promise<Outcome>,
  mayPass: (outcome: Outcome) => boolean,
  { triesMax, firstMs, factor = 2, waitMaxMs = 10_000, signal }: RetryOptions,
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const attempt = async () => {
    const outcome = await work();
    outcomes[0] = outcome;
    if (mayPass(outcome)) throw new Passing("another try may help");
    return outcome;
  };
  try {
    return await pRetry(attempt, {
      retries: triesMax - 1,
      minTimeout: firstMs,
      maxTimeout: waitMaxMs,
      factor,
      randomize: true,
      ...(signal !== undefined && { signal }),
      shouldRetry: ({ error }) => error instanceof Passing,
    });
  } catch (error) {
    const [last] = outcomes;
    const over = error instanceof Passing || signal?.aborted === true;
    if (!over || last === undefined) throw error;
    return last;
  }
}

/** A worker's answer (from a thread or process) to the task with this number. `code`: that of the failure. */
export type TaskAnswer<Output> =
  | { id: number; done: Output }
  | { id: number; failure: string; code: string | null };

type PendingTask<Output> = PromiseWithResolvers<Output> & { timer: Timer | undefined };

/** Tasks given to one worker and not yet answered; `what` names them in failures. */
export function pendingTasks<Output>(what: string) {
  const pending = new Map<number, PendingTask<Output>>();
  let lastId = 0;
  const take = (id: number): PendingTask<Output> | undefined => {
    const task = pending.get(id);
    pending.delete(id);
    clearTimeout(task?.timer);
    return task;
  };
  return {
    count: (): number => pending.size,
    /** Passes a task on by `send` and returns the worker's answer. `late` is called if it does not answer in time. */
    give: (send: (id: number) => void, limit?: { ms: number; late: () => void }) => {
      const id = ++lastId;
      // Send first: it throws if the task cannot be sent, before anyone waits for an answer.
      send(id);
      const timer = limit && setTimeout(limit.late, limit.ms);
      const task = { ...Promise.withResolvers<Output>(), timer };
      pending.set(id, task);
      return task.promise;
    },
    answer: (message: TaskAnswer<Output>): void => {
      const task = take(message.id);
      if ("done" in message) return task?.resolve(message.done);
      const { failure, code } = message;
      task?.reject(Object.assign(new Error(`${what} failed: ${failure}`), code && { code }));
    },
    /** Rejects all tasks, because the worker is lost. */
    refuseAll: (why: string): void => {
      for (const id of pending.keys()) take(id)?.reject(new Error(why));
    },
  };
}
