import { join } from "node:path";

/** A process beside the service that is started again whenever it ends. */
export type KeptChild<Message> = {
  /** Fulfilled with the first word of it. */
  ready: Promise<Message>;
  /** Of the process that runs now. */
  pid: () => number;
  stop: () => Promise<void>;
};

export type ChildOptions<Message> = {
  /** A file of scripts/, which stops at SIGTERM and when its channel to this process is gone. */
  script: string;
  /** Its arguments, given the newest word of an earlier start. */
  args: (last: Message | null) => string[];
  env?: Record<string, string | undefined>;
  onMessage?: (message: Message) => void;
  /** Told when it ended unasked. */
  onEnd: (ended: { cause: string; againInMs: number }) => void;
};

const restartAfterMs = 100;
const stopWithinMs = 4_000;
/** It is never given up: a full disk gets room again, and another holder of its files ends some time. */
const restartAfterMsMax = 5_000;

/** Keeps a script running in a process of its own: its work never stands in the way of an answer. */
export function keepChild<Message>(options: ChildOptions<Message>): KeptChild<Message> {
  const { script, args, env = process.env, onMessage, onEnd } = options;
  const { promise: ready, resolve } = Promise.withResolvers<Message>();
  let stopping = false;
  let restarts = 0;
  let last: Message | null = null;
  const path = join(import.meta.dirname, "..", script);
  const start = () =>
    Bun.spawn([process.execPath, path, ...args(last)], {
      stdio: ["ignore", "inherit", "inherit"],
      env,
      serialization: "json",
      ipc: (message) => {
        restarts = 0;
        last = message as Message;
        onMessage?.(last);
        resolve(last);
      },
      onExit: (_child, code, signal) => {
        if (stopping) return;
        const againInMs = restartWaitMs(restarts++);
        onEnd({ cause: String(signal ?? code), againInMs });
        setTimeout(() => {
          if (!stopping) running = start();
        }, againInMs);
      },
    });
  let running = start();
  return {
    ready,
    pid: () => running.pid,
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
