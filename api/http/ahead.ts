import { countedCache } from "#content/runtime/cache.ts";
import { minuteMs } from "#content/contract/base/time.ts";
import type { Allowance, Hits } from "#content/operation/limit-store.ts";

/** How long what was let through ahead may stay uncounted. */
export const recordEveryMs = 100;
/** This part of a limit may be let through before it is counted: four services together are a tenth above at most. */
const limitsPart = 30;
const clientsMax = 50_000;

/** What this process knows of a client. */
type Client = Pick<Hits, "counters"> & {
  /** What was left, of all processes, when last counted; null for not known. */
  left: Allowance | null;
  countedAtMs: number;
  /** Hits let through and not yet counted, and how many of them are being counted. */
  pending: number;
  sent: number;
  /** Full until then: nothing comes free earlier. */
  fullUntilMs: number;
};

/** Hits that go with what is counted next, and what is done with the answer. */
export type Pending = { hits: Hits; onAnswer: (left: Allowance) => void };

type AheadOptions = {
  /** Counts hits, and what is pending before them. */
  ask: (hits: Hits) => Promise<Allowance>;
  /** Has what is pending counted in `recordEveryMs`. */
  onPending: () => void;
  now: () => number;
  /** Whether hits of clients are let through that nothing is known of. */
  trustsUnknown: boolean;
};

/**
 * Lets hits through before they are counted, at most a thirtieth of their limit, while their client is known to have used
 * less than half of it; after that every hit is counted first. To count each would keep processes waiting for each other,
 * and for a server.
 */
export function openAhead({ ask, onPending, now, trustsUnknown }: AheadOptions) {
  const known = countedCache<Client>(clientsMax);
  const waiting = new Set<Client>();
  const clientOf = ({ counters }: Hits): Client => {
    const key = counters.map(({ window, clients }) => `${window.policy} ${clients[0]}`).join();
    const client = known.get(key);
    if (client !== undefined) return client;
    // Anyone who is forgotten is asked about again.
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
    /** Lets hits through, or answers for them when they are counted. */
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
    /** What was let through since it was last asked, to be counted whatever is left. */
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
