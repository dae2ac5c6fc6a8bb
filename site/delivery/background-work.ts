export type FollowingWork = ReturnType<typeof inBackground>;

/**
 * Work that follows publishing without ever holding it up: one run at a time, another one if more came meanwhile,
 * whether the run before went well or not. A run begins `everyMs` after the one before at the earliest.
 */
export function inBackground(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
  everyMs = 0,
) {
  let running: Promise<void> | null = null;
  let beginsAtMs = 0;
  let noticed = false;
  const run = async () => {
    while (noticed) {
      const waitMs = beginsAtMs - performance.now();
      // A process that has nothing else to do does not wait.
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      beginsAtMs = performance.now() + everyMs;
      noticed = false;
      await work().catch(onError);
    }
  };
  return {
    /** Says that there may be something to do. Returns at once. */
    notice: (): void => {
      noticed = true;
      running ??= run().finally(() => {
        running = null;
      });
    },
    /** Waits until all that was noticed is done. */
    idle: async (): Promise<void> => {
      await running;
    },
  };
}
