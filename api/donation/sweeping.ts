import type { DonateContext } from "./donate-context.ts";
import { sweepDonations } from "./sweep-donations.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { Log } from "#api/log.ts";

const everyMs = 2_000;
/** Whoever stops the service waits no longer; what is not recorded by then the next start finds. */
const stopWaitMs = 2_500;

export type Sweeping = {
  /** Ends after the look that is under way. */
  stop(): Promise<void>;
};

/** Looks after donations that are not settled yet: at once, because a crash may have left some, then every 2 s. */
export function sweepAlways(context: DonateContext, log: Pick<Log, "warn" | "info">): Sweeping {
  let stopped = false;
  let failing = false;
  const stopping = Promise.withResolvers<void>();
  const sweep = async () => {
    try {
      const { looked, settled } = await sweepDonations(context);
      if (settled > 0) log.info({ looked, settled }, "donations found on chain");
      failing = false;
    } catch (error) {
      // The next look mends it; one line says so, not one a second.
      if (!failing) log.warn({ err: error }, "donations under way not looked at yet");
      failing = true;
    }
  };
  const run = async () => {
    while (!stopped) {
      await sweep();
      await within(stopping.promise, everyMs);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      stopping.resolve();
      await within(running, stopWaitMs);
    },
  };
}
