import type { Log } from "#api/log.ts";
import type { GivingWorld } from "#content/giving/world.ts";
import { every } from "#content/runtime/every.ts";
import { sweepDonations } from "#content/giving/sweep.ts";
import { settleDonations } from "#content/giving/finality.ts";

const everyMs = 2_000;
/** Stopping waits no longer; what is not recorded by then the next start finds. */
const stopWaitMs = 2_500;

/** Follows donations until they are final: at once, because a crash may have left some, then every 2 s. */
export const startSweep = (
  world: GivingWorld,
  log: Pick<Log, "warn" | "info" | "error">,
): { stop(): Promise<void> } =>
  every(
    async () => {
      const { looked, recorded } = await sweepDonations(world);
      if (recorded > 0) log.info({ looked, recorded }, "donations found on chain");
      const { voided } = await settleDonations(world);
      for (const { id, tx_signature } of voided) {
        log.error(
          { id, tx_signature },
          "a recorded donation vanished from the chain and is voided",
        );
      }
    },
    {
      everyMs,
      stopWaitMs,
      onFailure: (error) =>
        log.warn({ err: error }, "open donations could not be checked; trying again"),
    },
  );
