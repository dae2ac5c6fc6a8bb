import type { Watch } from "#content/feed/store.ts";
import { withTimeout } from "#content/runtime/timing.ts";

/**
 * In answers to what changed public data: the newest change that is in them. Sent back with a read it has any service of the
 * directory show at least that.
 */
export const sequenceHeader = "almoner-sequence";

const sequenceOf = (request: Request): number | null => {
  const text = request.headers.get(sequenceHeader);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
};

/** Whether a client says how far it has seen: one that does not waits for nothing. */
export const namesSequence = (request: Request): boolean => sequenceOf(request) !== null;

/**
 * Waits until this service knows the change that a request names, and, where it publishes, shows it: at most
 * `config.publishWaitMs`. A number that no change has is not waited for. A store that is away is no reason not to answer.
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

/** Names the newest change in a 200 that does not name its own; what was changed here just now is looked for first. */
export async function nameSequence(
  watch: Watch,
  response: Response,
  { changed }: { changed: boolean },
) {
  if (response.status !== 200 || response.headers.has(sequenceHeader)) return;
  if (changed || watch.sequence() < 0) await watch.refresh().catch(() => undefined);
  response.headers.set(sequenceHeader, String(Math.max(0, watch.sequence())));
}
