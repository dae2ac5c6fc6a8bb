import { isGivenUp, pauseMs, retryDelayMs } from "#content/operation/webhook-retries.ts";
import type { Clock } from "#content/contract/time.ts";
import type { Store } from "#content/store/open.ts";
import {
  type Attempted,
  type DueDelivery,
  dueDeliveries,
  noteAttempts,
} from "#content/operation/webhook-queue.ts";
import type { Post, Posted } from "./webhooks.ts";

export type DeliverContext = {
  store: Store;
  clock: Clock;
  post: Post;
  /** A random number from 0 to 1. */
  chance: () => number;
};

/** A receiver that fails is left alone for a while, so that a long queue does not wear out its attempts at once. */
export type Receiver = { url: string; failuresInARow: number; pausedUntilMs: number };

export const newReceiver = (url: string): Receiver => ({
  url,
  failuresInARow: 0,
  pausedUntilMs: 0,
});

const atOnce = 4;

/**
 * Sends what is due to one address, a few at a time, and notes what became of it. True when there may be more to send
 * now. When `stop` fires, what is under way is left as if it had not been tried.
 */
export async function deliverDue(
  { store, clock, post, chance }: DeliverContext,
  receiver: Receiver,
  stop: AbortSignal,
): Promise<boolean> {
  const { url } = receiver;
  if (clock().getTime() < receiver.pausedUntilMs) return false;
  const due = await dueDeliveries(store, { url, now: clock(), limit: atOnce });
  if (due.length === 0 || stop.aborted) return false;
  const sent = await Promise.allSettled(
    due.map(async (one) => {
      const posted = await post({ url, id: one.event_id, payload: one.payload }, stop);
      return { one, posted };
    }),
  );
  const known = sent.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const now = clock();
  if (known.length > 0) {
    const attempts = known.map(({ one, posted }) =>
      attemptOf(one, posted, { now, chance: chance() }),
    );
    await store.write((tx) => noteAttempts(tx, attempts, now));
  }
  const ailing = known.length > 0 && known.every(({ posted }) => isAiling(posted));
  receiver.failuresInARow = ailing ? receiver.failuresInARow + 1 : 0;
  receiver.pausedUntilMs = now.getTime() + pauseMs(receiver.failuresInARow);
  return !ailing && !stop.aborted;
}

function attemptOf(
  { id, attempts, created_at }: DueDelivery,
  { delivered, status, answer, retryAfterMs }: Posted,
  { now, chance }: { now: Date; chance: number },
): Attempted {
  const made = attempts + 1;
  const noted = { id, answered_status: status, answer };
  if (delivered) return { ...noted, status: "delivered", due_at: null };
  // 410: the receiver says that it wants no more of this. Source: Standard Webhooks, "Deliverability".
  if (status === 410 || isGivenUp(made, now.getTime() - created_at)) {
    return { ...noted, status: "failed", due_at: null };
  }
  const due_at = now.getTime() + retryDelayMs(made, chance, retryAfterMs);
  return { ...noted, status: "pending", due_at };
}

/** Nothing answered, or the receiver says of itself that it cannot take anything now. */
const isAiling = ({ status }: Posted): boolean =>
  status === null || status === 429 || status >= 500;
