import type { Result } from "#content/contract/result.ts";
import { fail, ok } from "#content/contract/result.ts";
import type { ChainUnclear } from "./chain.ts";
import { type Endpoint, type RpcAnswer, WrongChain } from "./endpoint.ts";

/** What an answer is worth: a value, or nothing but a reason to ask again. */
export type Reading<Value> = { readonly clear: Value } | { readonly unclear: string };

/** `doubted`: another attempt of the same call ended, or hangs, without an answer. It may have had its effect. */
export type Told<Value> = { readonly value: Value; readonly doubted: boolean };

/** Asks several nodes as if they were one. */
export type Rpc = {
  /**
   * The first clear answer. A node that fails is followed by the next at once, one that is slow after `hedgeMs`; all
   * of it takes at most `deadlineMs`.
   */
  ask<Value>(
    method: string,
    params: readonly unknown[],
    read: (answer: RpcAnswer) => Reading<Value>,
  ): Promise<Result<Told<Value>, ChainUnclear>>;
};

export type RpcOptions = {
  /** How long one call may take in all. */
  deadlineMs?: number;
  /** How long a node may think before the next is asked as well. */
  hedgeMs?: number;
  onTrouble?: (trouble: { host: string; method: string; why: string }) => void;
};

/** Promise 8 wants an answer within 3 s; what is left is for the service's own work. */
const deadlineMsDefault = 2_500;
const hedgeMsDefault = 700;
const attemptsMax = 6;
/** Before a node that just failed is asked once more, doubled each round. */
const againAfterMs = 50;

/** Opens the failover over some nodes. With none, everything is unclear. */
export function openRpc(endpoints: readonly Endpoint[], options: RpcOptions = {}): Rpc {
  const { deadlineMs = deadlineMsDefault, hedgeMs = hedgeMsDefault, onTrouble } = options;
  return {
    ask: async (method, params, read) => {
      if (endpoints.length === 0) return unclear("no RPC node is configured");
      const order = endpoints.toSorted((a, b) => Number(a.ailing()) - Number(b.ailing()));
      const stop = new AbortController();
      const attempt = async (endpoint: Endpoint) => {
        const reading = await readingOf(endpoint, method, params, read, stop.signal);
        if (stop.signal.aborted) return reading;
        endpoint.did("clear" in reading ? "well" : "failed");
        if ("unclear" in reading) {
          onTrouble?.({ host: endpoint.host, method, why: reading.unclear });
        }
        return reading;
      };
      const told = await firstClear(order, attempt, { deadlineMs, hedgeMs });
      stop.abort();
      return told;
    },
  };
}

const unclear = (why: string) => fail<ChainUnclear>({ kind: "chain_unclear", why });

async function readingOf<Value>(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  read: (answer: RpcAnswer) => Reading<Value>,
  signal: AbortSignal,
): Promise<Reading<Value>> {
  try {
    return read(await endpoint.ask(method, params, signal));
  } catch (error) {
    if (error instanceof WrongChain) return { unclear: "a node serves another chain" };
    return { unclear: error instanceof Error ? error.message : String(error) };
  }
}

/** Starts attempts one after the other, later ones beside those that are slow, until one is clear or time is up. */
async function firstClear<Value>(
  order: readonly Endpoint[],
  attempt: (endpoint: Endpoint) => Promise<Reading<Value>>,
  { deadlineMs, hedgeMs }: { deadlineMs: number; hedgeMs: number },
): Promise<Result<Told<Value>, ChainUnclear>> {
  const endMs = performance.now() + deadlineMs;
  const open = new Map<Promise<Reading<Value>>, Endpoint>();
  let why = `no answer within ${deadlineMs} ms`;
  for (let made = 0; made < attemptsMax || open.size > 0;) {
    const endpoint = order[made % order.length];
    if (made < attemptsMax && endpoint !== undefined) {
      open.set(attempt(endpoint), endpoint);
      made++;
    }
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) return unclear(why);
    const first = await firstOf(
      open.keys(),
      made < attemptsMax ? Math.min(hedgeMs, leftMs) : leftMs,
    );
    if (first === null) {
      for (const slow of open.values()) slow.did("slow");
      continue;
    }
    open.delete(first.promise);
    if ("clear" in first.reading) return ok({ value: first.reading.clear, doubted: made > 1 });
    why = first.reading.unclear;
    const round = Math.floor(made / order.length);
    if (round > 0)
      await Bun.sleep(Math.min(againAfterMs * 2 ** (round - 1), endMs - performance.now()));
  }
  return unclear(why);
}

/** The first of several to end, null when none did in time. */
function firstOf<Value>(
  open: Iterable<Promise<Value>>,
  waitMs: number,
): Promise<{ promise: Promise<Value>; reading: Value } | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), waitMs);
  const ended = [...open].map((promise) => promise.then((reading) => ({ promise, reading })));
  return Promise.race([...ended, late.promise]).finally(() => clearTimeout(timer));
}
