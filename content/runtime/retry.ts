import pRetry from "p-retry";

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
