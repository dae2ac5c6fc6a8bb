import type { Watch } from "#content/feed/watch.ts";

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
  {
    watch,
    waitForPublication,
  }: { watch: Watch; waitForPublication?: (sequence: number) => Promise<unknown> },
  request: Request,
): Promise<void> {
  const sequence = sequenceOf(request);
  if (sequence === null) return;
  if (watch.sequence() < sequence) await watch.refresh(sequence).catch(() => undefined);
  if (watch.sequence() >= sequence) await waitForPublication?.(sequence);
}

/** Names the newest change in the answer to a write that was done and does not name its own. */
export async function nameSequence({ watch }: { watch: Watch }, response: Response) {
  if (!response.ok || response.headers.has(sequenceHeader)) return;
  await watch.refresh().catch(() => undefined);
  response.headers.set(sequenceHeader, String(watch.sequence()));
}
