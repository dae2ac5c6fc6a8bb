import { z } from "zod";

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

/** One RPC node. */
export type Endpoint = {
  /** Host and port: addresses of RPC nodes hold keys, and are never logged. */
  readonly host: string;
  /** Asks it. Throws when no answer can be made out, WrongChain when it serves another chain. */
  ask(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RpcAnswer>;
  /** Throws as `ask` does, unless the node serves the chain that is meant. */
  verify(signal: AbortSignal): Promise<void>;
  /** Whether it failed a short while ago, so that others go first. */
  ailing(): boolean;
  /** Notes how it did: one that failed or was slow stands behind the others for a while. */
  did(how: "well" | "slow" | "failed"): void;
};

/** How long a node that failed stands behind the others. */
const ailingMs = 30_000;

/** Opens an RPC node by its address. Nothing is asked of it before its genesis hash was found to be the expected one. */
export function openEndpoint(url: string, genesis: string): Endpoint {
  let verified = false;
  let ailingUntilMs = 0;
  const verify = async (signal: AbortSignal) => {
    const answer = await post(url, "getGenesisHash", [], signal);
    const found = "result" in answer ? answer.result : undefined;
    if (typeof found !== "string") throw new Error("did not say which chain it serves");
    if (found !== genesis) throw new WrongChain(found);
    verified = true;
  };
  return {
    host: new URL(url).host,
    verify,
    ask: async (method, params, signal) => {
      if (!verified) await verify(signal);
      return post(url, method, params, signal);
    },
    ailing: () => performance.now() < ailingUntilMs,
    did: (how) => {
      ailingUntilMs = how === "well" ? 0 : performance.now() + ailingMs;
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
