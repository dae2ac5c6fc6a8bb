import type { ServerWebSocket, WebSocketHandler } from "bun";
import { z } from "zod";
import type { Commitment } from "#content/contract/transfer.ts";
import {
  answerBody,
  type Call,
  codes,
  commitmentIn,
  inContext,
  Options,
  paramsIn,
  RpcError,
  Signature,
  unknownMethod,
} from "./json-rpc.ts";
import type { Ledger } from "./ledger.ts";

type Subscription = { signature: string; commitment: Commitment };

/** Of one socket: what its client waits for, by the numbers that it was given. */
export type Watch = {
  waiting: Map<number, Subscription>;
  looking: ReturnType<typeof setInterval> | null;
};

export const newWatch = (): Watch => ({ waiting: new Map(), looking: null });

const subscriptionsMax = 100;
const lookEveryMs = 100;

const SubscribeParams = z.tuple([Signature, Options]);
const UnsubscribeParams = z.tuple([z.int()]);

/** Tells clients once when a signature has reached the commitment that they wait for. Nothing else is subscribed to. */
export function signatureSubscriptions(ledger: Ledger): WebSocketHandler<Watch> {
  let subscribed = 0;

  function answer({ waiting }: Watch, { method, params }: Call): number | boolean {
    if (method === "signatureSubscribe") {
      const [signature] = paramsIn(SubscribeParams, params);
      if (waiting.size >= subscriptionsMax) throw refusal("Too many subscriptions");
      waiting.set(++subscribed, { signature, commitment: commitmentIn(params) });
      return subscribed;
    }
    if (method !== "signatureUnsubscribe") throw unknownMethod();
    const [subscription] = paramsIn(UnsubscribeParams, params);
    if (!waiting.delete(subscription)) throw refusal("Invalid subscription id.");
    return true;
  }

  function tell(socket: ServerWebSocket<Watch>): void {
    for (const [subscription, { signature, commitment }] of socket.data.waiting) {
      const landing = ledger.seen(signature, commitment);
      if (landing === null) continue;
      socket.data.waiting.delete(subscription);
      const result = inContext(ledger.slots.at(commitment), { err: landing.outcome.err });
      const params = { result, subscription };
      socket.send(JSON.stringify({ jsonrpc: "2.0", method: "signatureNotification", params }));
    }
  }

  return {
    open: (socket) => {
      // Commitments come with time, so that there is nothing to be woken by.
      socket.data.looking = setInterval(() => tell(socket), lookEveryMs);
    },
    message: (socket, body) => {
      const answered = answerBody(String(body), (call) => answer(socket.data, call));
      if (answered !== null) socket.send(JSON.stringify(answered));
    },
    close: ({ data }) => clearInterval(data.looking ?? undefined),
  };
}

const refusal = (why: string) => new RpcError(codes.invalidParams, why);
