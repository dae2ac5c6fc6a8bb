import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { within } from "#content/runtime/with-timeout.ts";

/** No RPC endpoint gave a clear answer in time: nothing is known, least of all that no money has moved. */
export type ChainUnclear = { kind: "chain_unclear"; why: string };

/** What an answer is worth: a value, or nothing but a reason to ask again. */
export type Reading<Value> = { readonly clear: Value } | { readonly unclear: string };

/** `doubted`: another attempt of the same call ended, or hangs, without an answer. It may have had its effect. */
export type Answered<Value> = { readonly value: Value; readonly doubted: boolean };

/** Asks several nodes as if they were one. */
export type Rpc = ReturnType<typeof openRpc>;

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
export function openRpc(endpoints: readonly Endpoint[], options: RpcOptions = {}) {
  const { deadlineMs = deadlineMsDefault, hedgeMs = hedgeMsDefault, onTrouble } = options;
  return {
    /**
     * The first clear answer. A node that fails is followed by the next at once, one that is slow after `hedgeMs`; all
     * of it takes at most `deadlineMs`.
     */
    ask: async <Value>(
      method: string,
      params: readonly unknown[],
      read: (answer: RpcAnswer) => Reading<Value>,
    ): Promise<Result<Answered<Value>, ChainUnclear>> => {
      if (endpoints.length === 0) return unclear("no RPC node is configured");
      const order = endpoints.toSorted((a, b) => Number(a.isFailing()) - Number(b.isFailing()));
      const stop = new AbortController();
      const attempt = async (endpoint: Endpoint): Promise<Reading<Value>> => {
        const { host } = endpoint;
        const answer = endpoint.ask(method, params, stop.signal);
        const reading = await answer.then(read).catch((error) => ({ unclear: whyUnclear(error) }));
        if (stop.signal.aborted) return reading;
        endpoint.did("clear" in reading ? "well" : "failed");
        if ("unclear" in reading) onTrouble?.({ host, method, why: reading.unclear });
        return reading;
      };
      const answered = await firstClear(order, attempt, { deadlineMs, hedgeMs });
      stop.abort();
      return answered;
    },
  };
}

function whyUnclear(error: unknown): string {
  if (error instanceof WrongChain) return "a node serves another chain";
  return error instanceof Error ? error.message : String(error);
}

/** What a shape makes of the first answer that fits it. An error of the node, or any other answer, leaves it unclear. */
export async function askFor<Value>(
  rpc: Rpc,
  method: string,
  params: readonly unknown[],
  shape: z.ZodType<Value>,
): Promise<Result<Value, ChainUnclear>> {
  const answered = await rpc.ask(method, params, (answer): Reading<Value> => {
    if ("error" in answer) return { unclear: `RPC error ${answer.error.code}` };
    const read = shape.safeParse(answer.result);
    return read.success ? { clear: read.data } : { unclear: "an answer of another shape" };
  });
  return answered.ok ? ok(answered.value.value) : answered;
}

const unclear = (why: string) => fail<ChainUnclear>({ kind: "chain_unclear", why });

/** Starts attempts one after the other, later ones beside those that are slow, until one is clear or time is up. */
async function firstClear<Value>(
  order: readonly Endpoint[],
  attempt: (endpoint: Endpoint) => Promise<Reading<Value>>,
  { deadlineMs, hedgeMs }: { deadlineMs: number; hedgeMs: number },
): Promise<Result<Answered<Value>, ChainUnclear>> {
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
    const ended = [...open.keys()].map(async (promise) => ({ promise, reading: await promise }));
    const waitMs = made < attemptsMax ? Math.min(hedgeMs, leftMs) : leftMs;
    const first = await within(Promise.race(ended), waitMs);
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

/** What a node said: a result, or that it will not. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string; data?: unknown } };

/** A node whose genesis hash is another than the configured network's: its answers are about other money. */
export class WrongChain extends Error {
  override name = "WrongChain";
  readonly genesis: string;
  constructor(genesis: string) {
    super(`answers for another chain (genesis ${genesis})`);
    this.genesis = genesis;
  }
}

/** How long a node that failed stands behind the others. */
const failingMs = 30_000;

/** One RPC node. */
export type Endpoint = ReturnType<typeof openEndpoint>;

/** Opens an RPC node by its address. Nothing is asked of it before its genesis hash was found to be the expected one. */
export function openEndpoint(url: string, genesis: string) {
  let verified = false;
  let failingUntilMs = 0;
  const verify = async (signal: AbortSignal) => {
    const answer = await post(url, "getGenesisHash", [], signal);
    const found = "result" in answer ? answer.result : undefined;
    if (typeof found !== "string") throw new Error("did not say which chain it serves");
    if (found !== genesis) throw new WrongChain(found);
    verified = true;
  };
  return {
    /** Host and port: addresses of RPC nodes hold keys, and are never logged. */
    host: new URL(url).host,
    /** Throws as `ask` does, unless the node serves the chain that is meant. */
    verify,
    /** Throws when no answer can be made out, WrongChain when it serves another chain. */
    ask: async (method: string, params: readonly unknown[], signal: AbortSignal) => {
      if (!verified) await verify(signal);
      return post(url, method, params, signal);
    },
    /** Whether it failed a short while ago, so that others go first. */
    isFailing: () => performance.now() < failingUntilMs,
    /** Notes how it did: one that failed or was slow stands behind the others for a while. */
    did: (how: "well" | "slow" | "failed") => {
      failingUntilMs = how === "well" ? 0 : performance.now() + failingMs;
      // Behind a name that failed, another chain may come up: it is looked at again.
      if (how === "failed") verified = false;
    },
  };
}

const Envelope = z.union([
  z.object({
    id: z.number(),
    error: z
      .object({ code: z.number(), message: z.string(), data: z.unknown() })
      .partial({ data: true }),
  }),
  z.object({ id: z.number(), result: z.unknown() }),
]);

let lastId = 0;

async function post(
  url: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<RpcAnswer> {
  const id = ++lastId;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    redirect: "error",
    signal,
  });
  // Nodes tell a refused transaction as 200, and overload as 429 or 5xx, sometimes with an envelope around it.
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const envelope = Envelope.safeParse(await response.json());
  if (!envelope.success || envelope.data.id !== id) throw new Error("no JSON-RPC answer");
  return envelope.data;
}

/** Why a transaction fails: null for one that does not. A node that leaves it out has not said that nothing failed. */
export const TransactionError = z.union([z.null(), z.string(), z.looseObject({})]);
