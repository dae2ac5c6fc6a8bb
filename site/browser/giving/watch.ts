import type { Told } from "./service.ts";

export type Found = Extract<Told, { kind: "received" }>;
type Refused = Extract<Told, { kind: "refused" }>;

const firstWaitMs = 2_000;
const slowerBy = 1.25;
const longestWaitMs = 15_000;
/** About 90 looks: 20 minutes of a page that is looked at. */
const looksMax = 90;

/**
 * Looks until a payment is found or refused, less and less often, and not while no one sees the page; anyone who comes
 * back from their wallet is told at once. Null when it has looked for long enough, or was stopped.
 */
export async function watchFor(
  look: () => Promise<Told>,
  signal: AbortSignal,
): Promise<Found | Refused | null> {
  let waitMs = firstWaitMs;
  for (let looks = 0; looks < looksMax && !signal.aborted; looks++) {
    const told = await look();
    if (signal.aborted) return null;
    if (told.kind === "received" || told.kind === "refused") return told;
    await rest(Math.max(waitMs, told.retryAfterS * 1_000), signal);
    waitMs = Math.min(waitMs * slowerBy, longestWaitMs);
  }
  return null;
}

/** No one has paid before they have seen what to pay. */
export const readingTime = (signal: AbortSignal): Promise<void> => rest(firstWaitMs, signal);

/** Ends after the time, as soon as the page is seen again, or when it is stopped; never while no one sees the page. */
function rest(waitMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = new AbortController();
  const seen = () => {
    if (!document.hidden) resolve();
  };
  setTimeout(seen, waitMs);
  document.addEventListener("visibilitychange", seen, { signal: ended.signal });
  signal.addEventListener("abort", () => resolve(), { signal: ended.signal });
  return promise.finally(() => ended.abort());
}
