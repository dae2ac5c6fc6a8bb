import { countedCache } from "#content/runtime/cache.ts";
import { minuteMs } from "#content/contract/base/time.ts";
import type { Allowance, Hits } from "#content/operation/limit-store.ts";

/** Hits that were let through uncounted are counted within this time. */
export const recordEveryMs = 100;
/** This fraction of a limit may pass uncounted: four services together exceed it by at most a tenth. */
const limitsPart = 30;
const clientsMax = 50_000;

/** What this process knows about a client. */
type Client = Pick<Hits, "counters"> & {
  /** What all processes together left the client at the last count; null before the first. */
  left: Allowance | null;
  countedAtMs: number;
  /** Hits that were let through but not counted yet; `sent` of them are being counted now. */
  pending: number;
  sent: number;
  /** The window stays full until this time. */
  fullUntilMs: number;
};

/** Hits to count together with the next ones, and the callback for the result. */
export type Pending = { hits: Hits; onAnswer: (left: Allowance) => void };

type AheadOptions = {
  /** Counts these hits, and before them all pending ones. */
  ask: (hits: Hits) => Promise<Allowance>;
  /** Arranges that the pending hits are counted within `recordEveryMs`. */
  onPending: () => void;
  now: () => number;
  /** Whether hits of clients that this process has never counted may pass uncounted. */
  trustsUnknown: boolean;
};

/**
 * Lets hits pass before they are counted, as long as the client has used less than half of its limit and its uncounted
 * hits are at most a thirtieth of it. All other hits are counted first. Counting each hit first would make processes wait
 * for each other and for a server.
 */
export function openAhead({ ask, onPending, now, trustsUnknown }: AheadOptions) {
  const known = countedCache<Client>(clientsMax);
  const waiting = new Set<Client>();
  const clientOf = ({ counters }: Hits): Client => {
    const key = counters.map(({ window, clients }) => `${window.policy} ${clients[0]}`).join();
    const client = known.get(key);
    if (client !== undefined) return client;
    // A client that the cache has dropped is simply asked about again.
    const fresh = { counters, left: null, countedAtMs: 0, pending: 0, sent: 0, fullUntilMs: 0 };
    known.set(key, fresh);
    return fresh;
  };
  const note = (client: Client, left: Allowance): Allowance => {
    client.left = left;
    client.countedAtMs = now();
    if (!left.allowed) client.fullUntilMs = client.countedAtMs + left.resetMs;
    return left;
  };
  return {
    /** Lets hits pass at once, or counts them first and answers with the result. */
    take: (hits: Hits): Allowance | Promise<Allowance> => {
      const client = clientOf(hits);
      client.counters = hits.counters;
      const atMs = now();
      if (atMs < client.fullUntilMs && client.left !== null) {
        return { ...client.left, allowed: false, resetMs: client.fullUntilMs - atMs };
      }
      const limits = hits.counters.map(({ window }) => window);
      const tightest = limits.reduce((one, other) => (other.limit < one.limit ? other : one));
      const whole = { ...tightest, remaining: tightest.limit, resetMs: tightest.windowMs };
      const isKnown = client.left !== null && atMs - client.countedAtMs <= minuteMs;
      const left = isKnown ? client.left : trustsUnknown ? { ...whole, allowed: true } : null;
      const pending = client.pending + hits.count;
      const lead = Math.floor(tightest.limit / limitsPart);
      if (left === null || pending > lead || left.remaining - pending < left.limit / 2) {
        return ask(hits).then((taken) => note(client, taken));
      }
      client.pending = pending;
      waiting.add(client);
      onPending();
      return { ...left, allowed: true, remaining: left.remaining - pending };
    },
    /** Hits that were let through since the last call. They are counted even where the limit is used up. */
    takePending: (): Pending[] => {
      const clients = [...waiting];
      waiting.clear();
      return clients.map((client) => {
        const count = client.pending - client.sent;
        client.sent += count;
        const onAnswer = (left: Allowance) => {
          client.pending -= count;
          client.sent -= count;
          note(client, left);
        };
        return { hits: { counters: client.counters, count, always: true }, onAnswer };
      });
    },
  };
}
