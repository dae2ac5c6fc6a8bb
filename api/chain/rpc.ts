import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { dayMs } from "#content/contract/base/time.ts";
import { networks } from "#content/giving/network.ts";
import { countDurations, withTimeout } from "#content/runtime/timing.ts";
import { boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import type { ChainUnclear } from "#content/giving/world.ts";

/** A usable value, or a reason to ask again. */
export type Reading<Value> = { readonly clear: Value } | { readonly unclear: string };

/** `doubted`: another attempt of the same call failed or got no answer yet, so it may have had an effect. */
export type CallOutcome<Value> = { readonly value: Value; readonly doubted: boolean };

export type Rpc = ReturnType<typeof openRpc>;

export type RpcOptions = {
  /** Maximum time of one call with all its attempts. */
  deadlineMs?: number;
  /** How long a node may take before the next one is asked as well. */
  hedgeMs?: number;
  onTrouble?: (trouble: { host: string; method: string; why: string }) => void;
  clock?: () => Date;
};

/** Answers are due within 3 s (docs/reliability.md, 8); the rest is for the service's own work. */
const deadlineMsDefault = 2_500;
const hedgeMsDefault = 700;
const attemptsMax = 6;
/** This many nodes have to agree before an answer is believed, if there are as many. */
const votesNeeded = 2;
/** About one slot: after it, nodes are asked again when one shows what another does not show yet. */
const lagMs = 500;
/** Pause before a failed node is asked again; doubled each round. */
const againAfterMs = 50;
const disagreementsKept = 1_000;

/** The common part of two answers; undefined when they contradict each other. */
export type Common<Value> = (value: Value, other: Value) => Value | undefined;

/** For answers that have to be equal. */
export const same = <Value extends boolean | null>(value: Value, other: Value): Value | undefined =>
  value === other ? value : undefined;

/** Opens the failover over some nodes. Without nodes, every answer is unclear. */
export function openRpc(endpoints: readonly Endpoint[], options: RpcOptions = {}) {
  const { deadlineMs = deadlineMsDefault, hedgeMs = hedgeMsDefault, onTrouble } = options;
  const { clock = () => new Date() } = options;
  // Two URLs on one host count as one node, because the same operator answers for both.
  const nodes = new Set(endpoints.map(({ host }) => host)).size;
  let disagreedAtMs: number[] = [];
  const durations = countDurations();
  const contradicted = (host: string, method: string, why: string): void => {
    disagreedAtMs = [...disagreedAtMs, clock().getTime()].slice(-disagreementsKept);
    onTrouble?.({ host, method, why });
  };
  return {
    /** Number of independent nodes. */
    nodes,
    /** How often nodes contradicted each other in the last 24 hours, counted up to 1,000. */
    disagreements: (): number => {
      const since = clock().getTime() - dayMs;
      return disagreedAtMs.filter((at) => at > since).length;
    },
    /** How long nodes took to answer, by node, method and outcome. */
    durations: durations.all,
    /** Records an answer that cannot be true, from any node. */
    contradicted,
    /**
     * The first clear answer or, with `common`, the first on which two nodes agree (a single node needs no second). After
     * a node that fails, the next is asked at once; beside a slow one, after `hedgeMs`. It takes at most `deadlineMs`. An
     * answer of null means that a node does not know yet: nodes that know more may only be ahead.
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
      let pollResult = await askNodes(order, attempt, poll);
      if (!pollResult.outcome.ok && isSplit(pollResult.clear, poll.votes)) {
        // One node may be a slot behind the other, so all are asked once more.
        await Bun.sleep(lagMs);
        pollResult = await askNodes(order, attempt, poll);
      }
      stop.abort();
      const hosts = contradictingIn(pollResult.clear, poll.common);
      if (hosts.length > 0) contradicted(hosts.join(" and "), method, "contradict each other");
      return pollResult.outcome;
    },
  };
}

function whyUnclear(error: unknown): string {
  if (error instanceof WrongChain) return "a node serves another chain";
  return error instanceof Error ? error.message : String(error);
}

/**
 * The first answer that fits the shape, transformed by it, or the one on which two nodes agree. An error of the node, or
 * an answer of another shape, is unclear.
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
  const outcome = await rpc.ask(method, params, read, common);
  return outcome.ok ? ok(outcome.value.value) : outcome;
}

const unclear = (why: string) => fail<ChainUnclear>({ kind: "chain_unclear", why });

type Poll<Value> = {
  deadlineMs: number;
  /** When time is up, in the time of performance.now(). */
  endMs: number;
  hedgeMs: number;
  /** How many nodes have to agree: one or two. */
  votes: number;
  common: Common<Value>;
};

/** The outcome, and the clear answer of each node by its host. */
type PollResult<Value> = {
  outcome: Result<CallOutcome<Value>, ChainUnclear>;
  clear: ReadonlyMap<string, Value>;
};

/**
 * Asks as many nodes at once as have to agree, then others in place of failed ones and beside slow ones, until enough
 * agree, all have answered or time is up.
 */
async function askNodes<Value>(
  order: readonly Endpoint[],
  attempt: (endpoint: Endpoint) => Promise<Reading<Value>>,
  { deadlineMs, endMs, hedgeMs, votes, common }: Poll<Value>,
): Promise<PollResult<Value>> {
  const open = new Map<Promise<Reading<Value>>, Endpoint>();
  const clear = new Map<string, Value>();
  let why = `no answer within ${deadlineMs} ms`;
  let attempts = 0;
  let wanted = votes;
  const start = () => {
    while (attempts < attemptsMax && open.size + clear.size < wanted) {
      const endpoint = nextOf(order, attempts++, { clear, open: [...open.values()] });
      if (endpoint === undefined) return;
      open.set(attempt(endpoint), endpoint);
    }
  };
  for (;;) {
    start();
    const leftMs = endMs - performance.now();
    if (isSplit(clear, votes) && open.size === 0) why = "the nodes disagree";
    if (leftMs <= 0 || open.size === 0) return { outcome: unclear(why), clear };
    const first = await firstOf(open, attempts < attemptsMax ? Math.min(hedgeMs, leftMs) : leftMs);
    if (first === null) {
      for (const slow of open.values()) slow.did("slow");
      wanted = open.size + clear.size + 1;
      continue;
    }
    const { endpoint, reading } = first;
    if ("unclear" in reading) {
      why = reading.unclear;
      await Bun.sleep(Math.min(pauseMs(Math.floor(attempts / order.length)), leftMs));
      continue;
    }
    const value = agreedOn(reading.clear, endpoint, clear, { votes, common });
    clear.set(endpoint.host, reading.clear);
    if (value !== undefined) return { outcome: ok({ value, doubted: attempts > votes }), clear };
    // Nodes that have not answered may still agree; if none is left, ask one more.
    if (open.size === 0) wanted = clear.size + 1;
  }
}

/** The answer on which this and another node agree; with one vote, the answer itself; undefined without agreement. */
const agreedOn = <Value>(
  value: Value,
  { host }: Endpoint,
  clear: ReadonlyMap<string, Value>,
  { votes, common }: Pick<Poll<Value>, "votes" | "common">,
): Value | undefined =>
  votes === 1
    ? value
    : [...clear]
        .map(([other, answer]) => (other === host ? undefined : common(answer, value)))
        .find((agreed) => agreed !== undefined);

/** The first attempt to end, removed from `open`; null when none ends in time. */
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

/** Whether enough nodes answered to agree. The caller knows that they did not. */
const isSplit = (clear: ReadonlyMap<string, unknown>, votes: number): boolean =>
  votes > 1 && clear.size >= votes;

/** The nodes whose answers contradict each other. A node that answers null is only behind. */
function contradictingIn<Value>(clear: ReadonlyMap<string, Value>, common: Common<Value>) {
  const answers = [...clear].filter(([, value]) => value !== null);
  const isOne = answers.every(([, value]) =>
    answers.every(([, other]) => value === other || common(value, other) !== undefined),
  );
  return isOne ? [] : answers.map(([host]) => host);
}

/** The next node in turn without a clear answer, preferably one that is not being asked already. */
function nextOf(
  order: readonly Endpoint[],
  made: number,
  { clear, open }: { clear: ReadonlyMap<string, unknown>; open: readonly Endpoint[] },
): Endpoint | undefined {
  const at = made % order.length;
  const others = [...order.slice(at), ...order.slice(0, at)].filter(({ host }) => !clear.has(host));
  return others.find(({ host }) => open.every((endpoint) => endpoint.host !== host)) ?? others[0];
}

export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string; data?: unknown } };

/** A node with the genesis hash of another network: its answers are about other money. */
export class WrongChain extends Error {
  override name = "WrongChain";
  readonly genesis: string;
  constructor(genesis: string) {
    super(`answers for another chain (genesis ${genesis})`);
    this.genesis = genesis;
  }
}

/** How long a node that failed is asked after the others. */
const failingMs = 30_000;

export type Endpoint = ReturnType<typeof openEndpoint>;

/** Opens an RPC node by its URL. The node is asked nothing else until it has shown the expected genesis hash. */
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
    /** Name for logs: URLs of RPC nodes contain keys and are never logged. */
    host: genesis === networks.local.genesis ? new URL(url).host : hostOf(url),
    /** Throws as `ask` does, unless the node serves the expected chain. */
    verify,
    /** Throws when there is no valid answer, and WrongChain for a node of another chain. */
    ask: async (method: string, params: readonly unknown[], signal: AbortSignal) => {
      if (!verified) await verify(signal);
      return post(url, method, params, signal);
    },
    /** Whether the node failed or was slow recently, so that others go first. */
    isFailing: () => performance.now() < failingUntilMs,
    /** Records the result. A node that failed or was slow is asked after the others for a while. */
    did: (how: "well" | "slow" | "failed") => {
      failingUntilMs = how === "well" ? 0 : performance.now() + failingMs;
      // Another chain may come up under a host name that failed, so it is verified again.
      if (how === "failed") verified = false;
    },
  };
}

/** One name for a machine with several; only nodes of a local chain are distinguished by port. */
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
/** Measured: the largest answer asked for, 1,000 signatures of an account, takes 0.3 MB. */
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
  // A refused transaction comes with 200, overload with 429 or 5xx, sometimes in a JSON-RPC envelope.
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const envelope = Envelope.safeParse(JSON.parse(await boundedText(response, answerBytesMax)));
  if (!envelope.success || envelope.data.id !== id) throw new Error("no JSON-RPC answer");
  return envelope.data;
}

/** The value of an answer, without the slot beside it. */
export const valueOf = <Value>(shape: z.ZodType<Value>) =>
  z.object({ value: shape }).transform(({ value }) => value);

/** Why a transaction fails; null if it does not. A missing `err` is not null: the node has not said that it succeeded. */
export const TransactionError = z.union([z.null(), z.string(), z.looseObject({})]);
