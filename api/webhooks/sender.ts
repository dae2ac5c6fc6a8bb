import type { Clock } from "#content/contract/time.ts";
import { webhookAgeMaxMs } from "#content/operation/webhook-retries.ts";
import { openLease } from "#content/operation/leases.ts";
import type { Store } from "#content/store/open.ts";
import {
  dropUnlisted,
  expireDeliveries,
  pruneDeliveries,
} from "#content/operation/webhook-queue.ts";
import type { Log } from "../log.ts";
import { collectEvents, type CollectContext } from "./collect.ts";
import { deliverDue, type DeliverContext, newReceiver, type Receiver } from "./deliver.ts";

export type Sender = {
  /** Leaves what is under way, gives the work to whoever waits for it, and ends. */
  stop(): Promise<void>;
};

type SenderContext = CollectContext & DeliverContext & { log: Pick<Log, "info" | "warn"> };

const everyMs = 1_000;
const leaseMs = 30_000;
const tidyEveryMs = 60_000;
const keptMs = 30 * 86_400_000;

/**
 * Sends webhooks for as long as this process holds the lease: of several processes one does it, and another takes over
 * half a minute after it died. What was sent and not noted by then is sent once more.
 */
export function startSender(context: SenderContext): Sender {
  const { store, clock, log, urls } = context;
  const lease = openLease(store, clock, { name: "webhooks", ms: leaseMs });
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
  const receivers = urls.map(newReceiver);
  const busy = new Map<string, Promise<void>>();
  const tidy = openTidying(store, clock, urls);
  let failing = false;
  const complain = (error: unknown) => {
    // The next turn mends it; one line says so, not one a second.
    if (!failing) log.warn({ err: error }, "webhooks not sent yet");
    failing = true;
  };
  const deliver = async (receiver: Receiver) => {
    while (lease.isHeld() && (await deliverDue(context, receiver, signal)));
  };
  const turn = async () => {
    if (!(await lease.hold())) return;
    await tidy();
    while ((await collectEvents(context)) && lease.isHeld() && !signal.aborted);
    for (const receiver of receivers) {
      const { url } = receiver;
      // A receiver that hangs keeps nobody else waiting.
      if (busy.has(url)) continue;
      const work = deliver(receiver).catch(complain);
      busy.set(
        url,
        work.finally(() => busy.delete(url)),
      );
    }
    failing = false;
  };
  const run = async () => {
    while (!signal.aborted) {
      await turn().catch(complain);
      await Promise.race([stopped, Bun.sleep(everyMs)]);
    }
  };
  const running = run();
  log.info({ receivers: urls.length }, "webhooks are on");
  return {
    stop: async () => {
      stopping.abort();
      await running;
      await Promise.all(busy.values());
      await lease.leave().catch(complain);
    },
  };
}

/** About once a minute: gives up what can no longer be sent, and forgets what was finished long ago. */
function openTidying(store: Store, clock: Clock, urls: readonly string[]) {
  let nextMs = 0;
  return async (): Promise<void> => {
    const now = clock();
    if (now.getTime() < nextMs) return;
    nextMs = now.getTime() + tidyEveryMs;
    await store.write(async (tx) => {
      await dropUnlisted(tx, { urls, now });
      await expireDeliveries(tx, { before: new Date(now.getTime() - webhookAgeMaxMs), now });
      await pruneDeliveries(tx, new Date(now.getTime() - keptMs));
    });
  };
}
