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

/** Null: of every slot. */
type Subscription = { signature: string; commitment: Commitment } | null;

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

/**
 * Tells clients once when a signature has reached the commitment that they wait for, and of slots as they come. Nothing else
 * is subscribed to.
 */
export function signatureSubscriptions(ledger: Ledger): WebSocketHandler<Watch> {
  let subscribed = 0;

  function answer({ waiting }: Watch, { method, params }: Call): number | boolean {
    const isOfSlots = method === "slotSubscribe";
    if (isOfSlots || method === "signatureSubscribe") {
      if (waiting.size >= subscriptionsMax) throw refusal("Too many subscriptions");
      const [signature] = isOfSlots ? [null] : paramsIn(SubscribeParams, params);
      const commitment = commitmentIn(params);
      waiting.set(++subscribed, signature === null ? null : { signature, commitment });
      return subscribed;
    }
    if (method !== "signatureUnsubscribe" && method !== "slotUnsubscribe") throw unknownMethod();
    const [subscription] = paramsIn(UnsubscribeParams, params);
    if (!waiting.delete(subscription)) throw refusal("Invalid subscription id.");
    return true;
  }

  function tell(socket: ServerWebSocket<Watch>): void {
    const notify = (method: string, subscription: number, result: unknown) =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", method, params: { result, subscription } }));
    for (const [subscription, awaited] of socket.data.waiting) {
      if (awaited === null) {
        const slot = ledger.slots.now();
        notify("slotNotification", subscription, { slot, parent: slot - 1, root: slot - 32 });
        continue;
      }
      const landing = ledger.seen(awaited.signature, awaited.commitment);
      if (landing === null) continue;
      socket.data.waiting.delete(subscription);
      const result = inContext(ledger.slots.at(awaited.commitment), { err: landing.outcome.err });
      notify("signatureNotification", subscription, result);
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
