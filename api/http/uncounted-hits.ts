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
  allowance: Allowance | null;
  countedAtMs: number;
  /** Hits that were let through but not counted yet; `sentCount` of them are being counted now. */
  pendingCount: number;
  sentCount: number;
  /** The window stays full until this time. */
  fullUntilMs: number;
};

/** Hits to count together with the next ones, and the callback for the result. */
export type PendingHits = { hits: Hits; onAnswer: (allowance: Allowance) => void };

type UncountedOptions = {
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
export function openUncountedHits({ ask, onPending, now, trustsUnknown }: UncountedOptions) {
  const clientsByKey = countedCache<Client>(clientsMax);
  const waitingClients = new Set<Client>();
  const clientOf = ({ counters }: Hits): Client => {
    const key = counters.map(({ window, clients }) => `${window.policy} ${clients[0]}`).join();
    const client = clientsByKey.get(key);
    if (client !== undefined) return client;
    // A client that the cache has dropped is simply asked about again.
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
    /** Lets hits pass at once, or counts them first and answers with the result. */
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
    /** Hits that were let through since the last call. They are counted even where the limit is used up. */
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
