import type { Watch } from "#content/feed/store.ts";
import { withTimeout } from "#content/runtime/timing.ts";

/**
 * In answers to writes of public data: the newest change that they contain. A client that sends it back with a read gets
 * at least that state, from any service of the directory.
 */
export const sequenceHeader = "almoner-sequence";

const sequenceOf = (request: Request): number | null => {
  const text = request.headers.get(sequenceHeader);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
};

/** Whether a client named a change to wait for. */
export const namesSequence = (request: Request): boolean => sequenceOf(request) !== null;

/**
 * Waits until this service knows the change that a request names and, where it publishes, has published it: at most
 * `config.publishWaitMs`. It does not wait for a number that no change has, nor for a store that is away.
 */
export async function waitForSequence(
  { watch, config, waitForPublication }: WaitContext,
  request: Request,
): Promise<void> {
  const sequence = sequenceOf(request);
  if (sequence === null) return;
  const wait = watch.sequence() < sequence ? watch.refresh(sequence).catch(() => undefined) : null;
  if (wait !== null) await withTimeout(wait, config.publishWaitMs);
  if (watch.sequence() >= sequence) await waitForPublication?.(sequence);
}

type WaitContext = {
  watch: Watch;
  config: { publishWaitMs: number };
  waitForPublication?: (sequence: number) => Promise<unknown>;
};

/** Adds the newest change to a 200 that names none. `changed`: looks first for a change that this request made. */
export async function nameSequence(
  watch: Watch,
  response: Response,
  { changed }: { changed: boolean },
) {
  if (response.status !== 200 || response.headers.has(sequenceHeader)) return;
  if (changed || watch.sequence() < 0) await watch.refresh().catch(() => undefined);
  response.headers.set(sequenceHeader, String(Math.max(0, watch.sequence())));
}
