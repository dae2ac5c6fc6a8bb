import type { Context } from "#api/context.ts";
import { every } from "#content/runtime/every.ts";
import { applyDueWallets } from "#content/onboarding/wallet-hold-store.ts";
import { eraseOldContacts } from "#content/correction/erase-contacts.ts";

const everyMs = 60_000;

/**
 * Makes wallets public whose hold has ended, and erases contacts of requests that were rejected long ago: at start and
 * every minute. Donations do not wait for it: they read the wallet in effect.
 */
export const startOnboardingSweep = ({
  store,
  clock,
  log,
}: Pick<Context, "store" | "clock" | "log">): { stop(): Promise<void> } =>
  every(
    async () => {
      const applied = await applyDueWallets(store, clock());
      if (applied > 0) log.info({ applied }, "held wallets took effect");
      const erased = await eraseOldContacts(store, clock());
      if (erased > 0) log.info({ erased }, "contacts of rejected requests were erased");
    },
    {
      everyMs,
      onFailure: (error) =>
        log.warn({ err: error }, "held wallets could not be checked; trying again"),
    },
  );
