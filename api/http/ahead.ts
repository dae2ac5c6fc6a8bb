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
  allowance: Allowance | null;
  countedAtMs: number;
  /** Hits let through and not yet counted, and how many of them are being counted. */
  pendingCount: number;
  sentCount: number;
  /** Until then the limit is used up. */
  fullUntilMs: number;
};

/** Hits that go with what is counted next, and what is done with the answer. */
export type PendingHits = { hits: Hits; onAnswer: (allowance: Allowance) => void };

type AheadOptions = {
  /** Counts the pending hits, then these. */
  ask: (hits: Hits) => Promise<Allowance>;
  /** Has the pending hits counted within `recordEveryMs`. */
  onPending: () => void;
  now: () => number;
  /** Whether hits of a client are let through before anything is known of it. */
  trustsUnknown: boolean;
};

/**
 * Lets hits through before they are counted while their client has used less than half of its limit, and never more
 * than a thirtieth of the limit at a time; otherwise each hit is counted first. Counting all of them first would keep
 * processes waiting for each other, and for a server.
 */
export function openAhead({ ask, onPending, now, trustsUnknown }: AheadOptions) {
  const clientsByKey = countedCache<Client>(clientsMax);
  const waitingClients = new Set<Client>();
  const clientOf = ({ counters }: Hits): Client => {
    const key = counters.map(({ window, clients }) => `${window.policy} ${clients[0]}`).join();
    const client = clientsByKey.get(key);
    if (client !== undefined) return client;
    // For a client that was forgotten the count is asked again.
    const newClient = {
      counters,
      allowance: null,
      countedAtMs: 0,
      pendingCount: 0,
      sentCount: 0,
      fullUntilMs: 0,
    };
    clientsByKey.set(key, newClient);
    return newClient;
  };
  const note = (client: Client, allowance: Allowance): Allowance => {
    client.allowance = allowance;
    client.countedAtMs = now();
    if (!allowance.allowed) client.fullUntilMs = client.countedAtMs + allowance.resetMs;
    return allowance;
  };
  return {
    /** Lets hits through at once, or answers when they are counted. */
    take: (hits: Hits): Allowance | Promise<Allowance> => {
      const client = clientOf(hits);
      client.counters = hits.counters;
      const atMs = now();
      if (atMs < client.fullUntilMs && client.allowance !== null) {
        return { ...client.allowance, allowed: false, resetMs: client.fullUntilMs - atMs };
      }
      const limits = hits.counters.map(({ window }) => window);
      const tightest = limits.reduce((least, limit) => (limit.limit < least.limit ? limit : least));
      const fullAllowance = { ...tightest, remaining: tightest.limit, resetMs: tightest.windowMs };
      const isKnown = client.allowance !== null && atMs - client.countedAtMs <= minuteMs;
      const allowance = isKnown
        ? client.allowance
        : trustsUnknown
          ? { ...fullAllowance, allowed: true }
          : null;
      const pendingCount = client.pendingCount + hits.count;
      const lead = Math.floor(tightest.limit / limitsPart);
      if (
        allowance === null ||
        pendingCount > lead ||
        allowance.remaining - pendingCount < allowance.limit / 2
      ) {
        return ask(hits).then((answer) => note(client, answer));
      }
      client.pendingCount = pendingCount;
      waitingClients.add(client);
      onPending();
      return { ...allowance, allowed: true, remaining: allowance.remaining - pendingCount };
    },
    /** Hits let through since the last call, to be counted even when nothing is left. */
    takePending: (): PendingHits[] => {
      const batch = [...waitingClients];
      waitingClients.clear();
      return batch.map((client) => {
        const count = client.pendingCount - client.sentCount;
        client.sentCount += count;
        const onAnswer = (allowance: Allowance) => {
          client.pendingCount -= count;
          client.sentCount -= count;
          note(client, allowance);
        };
        return { hits: { counters: client.counters, count, always: true }, onAnswer };
      });
    },
  };
}
