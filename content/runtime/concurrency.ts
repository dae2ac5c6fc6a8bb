import pRetry from "p-retry";

/**
 * Asks questions that come in one turn of the event loop together, where asking costs more than what is asked: a
 * transaction for instance. `askAll` answers in the order of the questions, at once or later.
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
    /** Answers at the end of this turn of the event loop. Throws what asking threw, for all who asked together. */
    ask: (question: Question): Promise<Answer> => {
      const entry = { question, ...Promise.withResolvers<Answer>() };
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(entry);
      return entry.promise;
    },
    /** Asks now what is waiting. */
    flush,
  };
}

const flights = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Does work once for all calls under one key of an object that come while it runs: a thousand calls are one. */
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

/** Does one piece of work after another, in the order in which they are asked for, also after one that failed. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Does work on each item, at most `limit` at a time. When work throws, no further item is begun. */
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

/** Each item is given to one of those who iterate over it. */
async function* iteratedOnce<Item>(items: Iterable<Item> | AsyncIterable<Item>) {
  yield* items;
}

export type RetryOptions = {
  /** Including the first. */
  triesMax: number;
  /** Wait before the second try; later ones are `factor` times as long, and each is drawn out by up to the double. */
  firstMs: number;
  factor?: number;
  waitMaxMs?: number;
  /** Ends the waiting: no further try is made. */
  signal?: AbortSignal;
};

/** Carries an outcome through p-retry, which tries again what is thrown. */
class Passing extends Error {}

/**
 * Repeats work as long as its outcome says that another try may help, with growing waits. Answers the last outcome; what
 * work throws is not tried again.
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

/** What a worker, in a thread or a process of its own, answers to the task of this number. `code`: the one of the failure. */
export type TaskAnswer<Output> =
  | { id: number; done: Output }
  | { id: number; failure: string; code: string | null };

type PendingTask<Output> = PromiseWithResolvers<Output> & { timer: Timer | undefined };

/** The tasks that one worker was given and has not answered; `what` names them in failures. */
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
    /** Hands a task over by `send`, and answers what the worker does. `late` is called when it has not answered in time. */
    give: (send: (id: number) => void, limit?: { ms: number; late: () => void }) => {
      const id = ++lastId;
      // First: what cannot be sent throws here, before anyone waits for its answer.
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
    /** The worker is lost. */
    refuseAll: (why: string): void => {
      for (const id of pending.keys()) take(id)?.reject(new Error(why));
    },
  };
}
