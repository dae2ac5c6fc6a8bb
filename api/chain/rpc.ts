import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { networks } from "#content/giving/network.ts";
import { countDurations, withTimeout } from "#content/runtime/timing.ts";
import { boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import type { ChainUnclear } from "#content/giving/world.ts";

/** What an answer is worth: a value, or nothing but a reason to ask again. */
export type Reading<Value> = { readonly clear: Value } | { readonly unclear: string };

/** `doubted`: another attempt of the same call ended, or hangs, without an answer. It may have had its effect. */
export type CallOutcome<Value> = { readonly value: Value; readonly doubted: boolean };

/** Asks several nodes as if they were one. */
export type Rpc = ReturnType<typeof openRpc>;

export type RpcOptions = {
  /** How long one call may take in all. */
  deadlineMs?: number;
  /** How long a node may think before the next is asked as well. */
  hedgeMs?: number;
  onTrouble?: (trouble: { host: string; method: string; why: string }) => void;
  clock?: () => Date;
};

/** Promise 8 wants an answer within 3 s; what is left is for the service's own work. */
const deadlineMsDefault = 2_500;
const hedgeMsDefault = 700;
const attemptsMax = 6;
/** So many nodes have to say the same before it is believed, where there are as many. */
const votesNeeded = 2;
/** About a slot: what one node shows and another does not yet is asked for once more after it. */
const lagMs = 500;
/** Before a node that just failed is asked once more, doubled each round. */
const againAfterMs = 50;
const dayMs = 24 * 3_600_000;
const disagreementsKept = 1_000;

/** What two answers tell alike; undefined when they contradict each other. */
export type Common<Value> = (value: Value, other: Value) => Value | undefined;

/** Answers that have to be the same. */
export const same = <Value extends boolean | null>(value: Value, other: Value): Value | undefined =>
  value === other ? value : undefined;

/** Opens the failover over some nodes. With none, everything is unclear. */
export function openRpc(endpoints: readonly Endpoint[], options: RpcOptions = {}) {
  const { deadlineMs = deadlineMsDefault, hedgeMs = hedgeMsDefault, onTrouble } = options;
  const { clock = () => new Date() } = options;
  // Two addresses at one host are one node: its keeper answers for both.
  const nodes = new Set(endpoints.map(({ host }) => host)).size;
  let disagreedAtMs: number[] = [];
  const durations = countDurations();
  const contradicted = (host: string, method: string, why: string): void => {
    disagreedAtMs = [...disagreedAtMs, clock().getTime()].slice(-disagreementsKept);
    onTrouble?.({ host, method, why });
  };
  return {
    /** Nodes that can contradict each other. */
    nodes,
    /** How often nodes contradicted each other in the last 24 hours; stops counting at 1,000. */
    disagreements: (): number => {
      const since = clock().getTime() - dayMs;
      return disagreedAtMs.filter((at) => at > since).length;
    },
    /** How long nodes took to answer, by node, method and outcome. */
    durations: durations.all,
    /** Notes what cannot be true, from any node. */
    contradicted,
    /**
     * The first clear answer, or, with `common`, the first on which two nodes agree (of a single node its own). A node that
     * fails is followed by the next at once, one that is slow after `hedgeMs`; all of it takes at most `deadlineMs`. Null
     * stands for what a node does not know yet: those who know more may only be ahead.
     */
    ask: async <Value>(
      method: string,
      params: readonly unknown[],
      read: (answer: RpcAnswer) => Reading<Value>,
      common: Common<Value> | null = null,
    ): Promise<Result<CallOutcome<Value>, ChainUnclear>> => {
      if (endpoints.length === 0) return unclear("no RPC node is configured");
      const order = endpoints.toSorted((a, b) => Number(a.isFailing()) - Number(b.isFailing()));
      const stop = new AbortController();
      const attempt = async (endpoint: Endpoint): Promise<Reading<Value>> => {
        const { host } = endpoint;
        const askedMs = performance.now();
        const answer = endpoint.ask(method, params, stop.signal);
        const reading = await answer.then(read).catch((error) => ({ unclear: whyUnclear(error) }));
        const clarity = "clear" in reading ? "clear" : "unclear";
        const outcome = stop.signal.aborted ? "given_up" : clarity;
        durations.count({ host, method, outcome }, (performance.now() - askedMs) / 1_000);
        if (stop.signal.aborted) return reading;
        endpoint.did("clear" in reading ? "well" : "failed");
        if ("unclear" in reading) onTrouble?.({ host, method, why: reading.unclear });
        return reading;
      };
      const poll: Poll<Value> = {
        deadlineMs,
        endMs: performance.now() + deadlineMs,
        hedgeMs,
        votes: common === null ? 1 : Math.min(votesNeeded, nodes),
        common: common ?? ((value) => value),
      };
      let polled = await askNodes(order, attempt, poll);
      if (!polled.outcome.ok && isSplit(polled.clear, poll.votes)) {
        // One may be a slot behind the other: all are asked once more.
        await Bun.sleep(lagMs);
        polled = await askNodes(order, attempt, poll);
      }
      stop.abort();
      const hosts = contradictingIn(polled.clear, poll.common);
      if (hosts.length > 0) contradicted(hosts.join(" and "), method, "contradict each other");
      return polled.outcome;
    },
  };
}

function whyUnclear(error: unknown): string {
  if (error instanceof WrongChain) return "a node serves another chain";
  return error instanceof Error ? error.message : String(error);
}

/**
 * What a shape makes of the first answer that fits it, or what two nodes tell alike. An error of the node, or any other
 * answer, leaves it unclear.
 */
export async function askFor<Value>(
  rpc: Rpc,
  method: string,
  params: readonly unknown[],
  shape: z.ZodType<Value>,
  common: Common<Value> | null = null,
): Promise<Result<Value, ChainUnclear>> {
  const read = (answer: RpcAnswer): Reading<Value> => {
    if ("error" in answer) return { unclear: `RPC error ${answer.error.code}` };
    const fitting = shape.safeParse(answer.result);
    return fitting.success ? { clear: fitting.data } : { unclear: "an answer of another shape" };
  };
  const answered = await rpc.ask(method, params, read, common);
  return answered.ok ? ok(answered.value.value) : answered;
}

const unclear = (why: string) => fail<ChainUnclear>({ kind: "chain_unclear", why });

type Poll<Value> = {
  deadlineMs: number;
  /** When time is up, by performance.now(). */
  endMs: number;
  hedgeMs: number;
  /** So many nodes have to agree: one or two. */
  votes: number;
  common: Common<Value>;
};

/** What came of it, and what each node said that gave a clear answer, by its host. */
type PollResult<Value> = {
  outcome: Result<CallOutcome<Value>, ChainUnclear>;
  clear: ReadonlyMap<string, Value>;
};

/**
 * Asks as many nodes at once as have to agree, and others in place of those that fail, or beside those that are slow, until
 * enough agree, all have answered or time is up.
 */
async function askNodes<Value>(
  order: readonly Endpoint[],
  attempt: (endpoint: Endpoint) => Promise<Reading<Value>>,
  { deadlineMs, endMs, hedgeMs, votes, common }: Poll<Value>,
): Promise<PollResult<Value>> {
  const open = new Map<Promise<Reading<Value>>, Endpoint>();
  const clear = new Map<string, Value>();
  let why = `no answer within ${deadlineMs} ms`;
  let [made, wanted] = [0, votes];
  const start = () => {
    while (made < attemptsMax && open.size + clear.size < wanted) {
      const endpoint = nextOf(order, made++, { clear, open: [...open.values()] });
      if (endpoint === undefined) return;
      open.set(attempt(endpoint), endpoint);
    }
  };
  for (;;) {
    start();
    const leftMs = endMs - performance.now();
    if (isSplit(clear, votes) && open.size === 0) why = "the nodes disagree";
    if (leftMs <= 0 || open.size === 0) return { outcome: unclear(why), clear };
    const first = await firstOf(open, made < attemptsMax ? Math.min(hedgeMs, leftMs) : leftMs);
    if (first === null) {
      for (const slow of open.values()) slow.did("slow");
      wanted = open.size + clear.size + 1;
      continue;
    }
    const { endpoint, reading } = first;
    if ("unclear" in reading) {
      why = reading.unclear;
      await Bun.sleep(Math.min(pauseMs(Math.floor(made / order.length)), leftMs));
      continue;
    }
    const value = agreedOn(reading.clear, endpoint, clear, { votes, common });
    clear.set(endpoint.host, reading.clear);
    if (value !== undefined) return { outcome: ok({ value, doubted: made > votes }), clear };
    // Those that think yet may agree with one of them; else one more is asked.
    if (open.size === 0) wanted = clear.size + 1;
  }
}

/** What an answer and that of another node tell alike, of a single node what it says; undefined when none tells the same. */
const agreedOn = <Value>(
  value: Value,
  { host }: Endpoint,
  clear: ReadonlyMap<string, Value>,
  { votes, common }: Pick<Poll<Value>, "votes" | "common">,
): Value | undefined =>
  votes === 1
    ? value
    : [...clear]
        .map(([other, told]) => (other === host ? undefined : common(told, value)))
        .find((agreed) => agreed !== undefined);

/** The first attempt to end, which is taken out; null when none does in time. */
async function firstOf<Value>(open: Map<Promise<Reading<Value>>, Endpoint>, waitMs: number) {
  const ending = [...open].map(async ([promise, endpoint]) => ({
    promise,
    endpoint,
    reading: await promise,
  }));
  const first = await withTimeout(Promise.race(ending), waitMs);
  if (first !== null) open.delete(first.promise);
  return first;
}

const pauseMs = (round: number): number => (round === 0 ? 0 : againAfterMs * 2 ** (round - 1));

/** Whether as many nodes answered as have to agree; that none of them agreed, the caller knows. */
const isSplit = (clear: ReadonlyMap<string, unknown>, votes: number): boolean =>
  votes > 1 && clear.size >= votes;

/** The nodes whose answers cannot all be true. One that knows nothing is only behind. */
function contradictingIn<Value>(clear: ReadonlyMap<string, Value>, common: Common<Value>) {
  const answers = [...clear].filter(([, value]) => value !== null);
  const isOne = answers.every(([, value]) =>
    answers.every(([, other]) => value === other || common(value, other) !== undefined),
  );
  return isOne ? [] : answers.map(([host]) => host);
}

/** The next node in turn that has not answered, if possible one that is not thinking already. */
function nextOf(
  order: readonly Endpoint[],
  made: number,
  { clear, open }: { clear: ReadonlyMap<string, unknown>; open: readonly Endpoint[] },
): Endpoint | undefined {
  const at = made % order.length;
  const silent = [...order.slice(at), ...order.slice(0, at)].filter(({ host }) => !clear.has(host));
  return silent.find(({ host }) => open.every((endpoint) => endpoint.host !== host)) ?? silent[0];
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
    const hash = "result" in answer ? answer.result : undefined;
    if (typeof hash !== "string") throw new Error("did not say which chain it serves");
    if (hash !== genesis) throw new WrongChain(hash);
    verified = true;
  };
  return {
    /** Who answers: addresses of RPC nodes hold keys, and are never logged. */
    host: genesis === networks.local.genesis ? new URL(url).host : hostOf(url),
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

/** One machine by all its names and ports; only nodes of a local chain are told apart by port. */
const hostOf = (url: string): string =>
  new URL(url).hostname.replace(/\.$/, "").replace(/^(127\..*|\[::1\])$/, "localhost");

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
/** Measured: 1,000 signatures of an account, the largest answer that is asked for, take 0.3 MB. */
const answerBytesMax = 4_194_304;

async function post(
  url: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<RpcAnswer> {
  const id = ++lastId;
  const response = await fetchPlain(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    redirect: "error",
    signal,
  });
  // Nodes tell a refused transaction as 200, and overload as 429 or 5xx, sometimes with an envelope around it.
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const envelope = Envelope.safeParse(JSON.parse(await boundedText(response, answerBytesMax)));
  if (!envelope.success || envelope.data.id !== id) throw new Error("no JSON-RPC answer");
  return envelope.data;
}

/** What stands in an answer beside the slot that it is of. */
export const valueOf = <Value>(shape: z.ZodType<Value>) =>
  z.object({ value: shape }).transform(({ value }) => value);

/** Why a transaction fails: null for one that does not. A node that leaves it out has not said that nothing failed. */
export const TransactionError = z.union([z.null(), z.string(), z.looseObject({})]);
