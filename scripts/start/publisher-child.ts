import { join } from "node:path";

export type PublisherChild = {
  /** Fulfilled once the first release is there to be served. */
  ready: Promise<void>;
  stop(): Promise<void>;
};

const restartAfterMs = 100;
const stopWithinMs = 4_000;
/** It is never given up: a full disk gets room again, and another publisher of this folder ends some time. */
const restartAfterMsMax = 5_000;

/**
 * Keeps the resident publisher running beside the service, in a process of its own: its work never stands in the way
 * of an answer. One that dies is started again and catches up by itself.
 */
export function startPublisherChild(onTrouble: (message: string) => void): PublisherChild {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let stopping = false;
  let restarts = 0;
  const start = () => {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dirname, "../publish.ts"), "--watch"],
      {
        stdio: ["ignore", "inherit", "inherit"],
        env: process.env,
        serialization: "json",
        ipc: () => {
          restarts = 0;
          resolve();
        },
        onExit: (_child, code, signal) => {
          if (stopping) return;
          const waitMs = restartWaitMs(restarts++);
          onTrouble(
            `The publisher ended (${signal ?? code}) and is started again in ${waitMs / 1_000} s. What is published goes on being served.`,
          );
          setTimeout(() => {
            if (!stopping) running = start();
          }, waitMs);
        },
      },
    );
    return child;
  };
  let running = start();
  return {
    ready,
    stop: async () => {
      stopping = true;
      running.kill("SIGTERM");
      const killer = setTimeout(() => running.kill("SIGKILL"), stopWithinMs);
      await running.exited;
      clearTimeout(killer);
    },
  };
}

/** Soon after the first end, then less and less often. */
export const restartWaitMs = (restartsInARow: number): number =>
  Math.min(restartAfterMs * 2 ** restartsInARow, restartAfterMsMax);
