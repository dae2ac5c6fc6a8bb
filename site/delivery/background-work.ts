export type FollowingWork = ReturnType<typeof inBackground>;

/**
 * Work that follows publishing without ever holding it up: one run at a time, another one if more came meanwhile,
 * whether the run before went well or not.
 */
export function inBackground(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null;
  let noticed = false;
  const run = async () => {
    while (noticed) {
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
