import { StoreBusy } from "#content/store/busy.ts";

/** How long one transaction of an import should hold the store's write lock, in milliseconds. */
const transactionMs = 70;
const sizeMin = 10;
const sizeMax = 1_500;
const pauseMs = 4;

/** Finds the number of organisations that fit into one short transaction, and leaves room between two. */
export function startPace(): {
  size(): number;
  run<Value>(work: () => Promise<Value>): Promise<Value>;
} {
  let size = 100;
  return {
    size: () => size,
    run: async (work) => {
      for (let attempt = 1; ; attempt++) {
        const startedMs = performance.now();
        try {
          const value = await work();
          const tookMs = Math.max(performance.now() - startedMs, 1);
          // Half the way toward the size that would have taken the time wanted: one slow commit is no trend.
          size = Math.round((size + size * Math.min(transactionMs / tookMs, 2)) / 2);
          size = Math.min(Math.max(size, sizeMin), sizeMax);
          // Others get the lock now; without a pause they would only find it free by luck.
          await Bun.sleep(pauseMs);
          return value;
        } catch (error) {
          if (!(error instanceof StoreBusy) || attempt >= 20) throw error;
        }
      }
    },
  };
}
