export type BackgroundWork = {
  /** Says that there may be something to do. Returns at once. */
  notice(): void;
  /** Waits until all that was noticed is done. */
  idle(): Promise<void>;
};

/** Work that follows publishing without ever holding it up: one run at a time, another one if more came meanwhile. */
export function inBackground(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): BackgroundWork {
  let running: Promise<void> | null = null;
  let noticed = false;
  const run = async () => {
    while (noticed) {
      noticed = false;
      await work();
    }
  };
  return {
    notice: () => {
      noticed = true;
      running ??= run()
        .catch(onError)
        .finally(() => {
          running = null;
        });
    },
    idle: async () => {
      await running;
    },
  };
}
