import { settleDueWallets } from "#content/onboarding/wallet-holds.ts";
import type { Context } from "#api/context.ts";

const everyMs = 60_000;

/**
 * Makes changed wallets public whose hold has ended: at start and every minute. Donations do not wait for it: they read
 * the wallet in effect. A failure is mended the next time, and told once.
 */
export function settleWalletsAlways({
  store,
  clock,
  log,
}: Pick<Context, "store" | "clock" | "log">): { stop(): Promise<void> } {
  let failing = false;
  const settle = async () => {
    try {
      const settled = await settleDueWallets(store, clock());
      if (settled > 0) log.info({ settled }, "changed wallets took effect");
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, "held wallets not looked at yet");
      failing = true;
    }
  };
  let running = settle();
  const timer = setInterval(() => {
    running = running.then(settle);
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return running;
    },
  };
}
