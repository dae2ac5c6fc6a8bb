const firstDelayMs = 5_000;
const longestDelayMs = 2 * 3_600_000;
const jitterShare = 0.2;

/** A message is tried so often, over about half a day. */
export const webhookAttemptsMax = 12;
/** What could not be delivered by then is given up, and what happened longer ago is not sent any more. */
export const webhookAgeMaxMs = 24 * 3_600_000;

/**
 * How long to wait after an attempt that failed: 5 s, then three times as long each time, at most 2 h, give or take a
 * fifth. `attempts` were made so far, from 1; `chance` is a random number from 0 to 1; `askedMs` is what the
 * receiver's Retry-After asked for, which counts when it is longer, up to 2 h.
 */
export function retryDelayMs(attempts: number, chance: number, askedMs = 0): number {
  const steady = Math.min(firstDelayMs * 3 ** Math.min(attempts - 1, 20), longestDelayMs);
  const jittered = Math.round(steady * (1 - jitterShare + 2 * jitterShare * chance));
  return Math.max(jittered, Math.min(askedMs, longestDelayMs));
}

/** Whether a message that failed again is given up. */
export const isGivenUp = (attempts: number, ageMs: number): boolean =>
  attempts >= webhookAttemptsMax || ageMs >= webhookAgeMaxMs;

const pauseMaxMs = 60_000;

/** How long a receiver is left alone after this many failures in a row: 1 s, doubled each time, at most a minute. */
export const pauseMs = (failuresInARow: number): number =>
  failuresInARow === 0 ? 0 : Math.min(1_000 * 2 ** Math.min(failuresInARow - 1, 20), pauseMaxMs);

/** Milliseconds that a Retry-After header asks for, as seconds or as a date; 0 for none. */
export function retryAfterMs(header: string | null, now: Date): number {
  if (header === null) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
