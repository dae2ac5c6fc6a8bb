export type FollowingWork = {
  /** Says that there may be something to do. Returns at once. */
  notice(): void;
  /** Waits until all that was noticed is done. */
  idle(): Promise<void>;
};

/**
 * Work that follows publishing without ever holding it up: one run at a time, another one if more came meanwhile,
 * whether the run before went well or not.
 */
export function inBackground(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): FollowingWork {
  let running: Promise<void> | null = null;
  let noticed = false;
  const run = async () => {
    while (noticed) {
      noticed = false;
      await work().catch(onError);
    }
  };
  return {
    notice: () => {
      noticed = true;
      running ??= run().finally(() => {
        running = null;
      });
    },
    idle: async () => {
      await running;
    },
  };
}
