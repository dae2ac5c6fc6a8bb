import { objectIn } from "#content/contract/base/json.ts";
import { networks } from "#content/giving/network.ts";
import type { LocalChain } from "#scripts/chain/local-chain.ts";

/** What a node answers to one call: a result, or a whole response; a promise that never ends is a node that hangs. */
export type NodeAnswer = (call: {
  id: number;
  method: string;
  params: unknown[];
}) =>
  | Response
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
  | Promise<Response>;

export type Node = {
  url: string;
  /** Methods in the order in which they were asked, getGenesisHash aside. */
  asked: string[];
  stop(): Promise<void>;
};

export const hang = (): Promise<Response> => new Promise(() => {});

/** An RPC node that behaves as a test wants it to. It serves the local chain unless `genesis` is another. */
export function aNode(answer: NodeAnswer, genesis: string = networks.local.genesis): Node {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const call = (await request.json()) as { id: number; method: string; params: unknown[] };
      if (call.method === "getGenesisHash") return answered(call.id, { result: genesis });
      asked.push(call.method);
      const told = answer(call);
      if (told instanceof Response || told instanceof Promise) return told;
      return answered(call.id, told);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}

/** What a node says in place of the truth. */
export type Lie = (call: { method: string; params: unknown[] }, truth: unknown) => unknown;

/** Another node of a local chain: it answers what the chain does, unless `lie` makes something else of it. */
export const anotherNode = (chain: LocalChain, lie: Lie = (_, truth) => truth): Node =>
  aNode(async (call) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...call });
    const response = await chain.rpc(body, new AbortController().signal);
    const told = objectIn(await response.clone().text());
    if (told === null || !("result" in told)) return response;
    return Response.json({ ...told, result: lie(call, told["result"]) });
  });

/** Says that a transaction paid this much into an account, whatever it did. */
export const payingMore =
  (wallet: string, amount: string): Lie =>
  ({ method }, truth) => {
    if (method !== "getTransaction" || truth === null) return truth;
    type Balance = { owner: string; uiTokenAmount: { amount: string } };
    const told = structuredClone(truth) as { meta: { postTokenBalances: Balance[] } };
    for (const balance of told.meta.postTokenBalances) {
      if (balance.owner === wallet) balance.uiTokenAmount.amount = amount;
    }
    return told;
  };

const answered = (id: number, told: object) => Response.json({ jsonrpc: "2.0", id, ...told });
