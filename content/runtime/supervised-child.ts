import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

export type ChildOptions<Message> = {
  /** A file that Bun runs. */
  script: string;
  args?: readonly string[];
  /** Options of Bun itself, for example --smol. */
  runtimeOptions?: readonly string[];
  env?: Record<string, string | undefined>;
  /** How far it gives way to others: 0, as every process does, to 19, which runs when nothing else does. */
  nice?: number;
  onMessage?: (message: Message) => void;
  /** Called once it has ended, with its exit code or the signal that ended it. */
  onExit?: (cause: string) => void;
};

/** A process of ours. What it writes to its output appears in ours; messages are JSON. */
export type Child = {
  readonly pid: number;
  send(message: unknown): void;
  /** Asks it to end, and ends it after a grace period; fulfilled when it has ended. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
};

const graceMs = 4_000;
const channelClosed = "ERR_IPC_CHANNEL_CLOSED";

/** Starts a script in a process of its own. It must end by itself when its channel to this process is gone. */
export function startChild<Message>(options: ChildOptions<Message>): Child {
  const { script, args = [], runtimeOptions = [], env = process.env, nice = 0 } = options;
  const child = Bun.spawn([process.execPath, ...runtimeOptions, script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env,
    // A group of its own: Ctrl-C is for the parent, which ends it in its turn.
    detached: true,
    serialization: "json",
    ipc: (message: Message) => options.onMessage?.(message),
    onExit: (_child, code, signal) => options.onExit?.(String(signal ?? code)),
  });
  if (nice > 0) giveWay(child.pid, nice);
  return {
    pid: child.pid,
    send: (message) => {
      try {
        child.send(message);
      } catch (error) {
        // One that has ended hears nothing, and anyone who waits for its answer is told of the end.
        if (!(error instanceof Error && "code" in error && error.code === channelClosed))
          throw error;
      }
    },
    stop: async () => {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await child.exited;
      clearTimeout(killer);
    },
    kill: () => child.kill("SIGKILL"),
  };
}

export type SupervisedOptions<Message> = Omit<
  ChildOptions<Message>,
  "args" | "onExit" | "onMessage"
> & {
  /** Its arguments, given the newest message of an earlier start. */
  args: (last: Message | null) => string[];
  /** Called when it ended unasked. */
  onEnd: (ended: { cause: string; againInMs: number }) => void;
  /** How long one that has sent a heartbeat may send none before it is taken for hung, and killed. Absent: for ever. */
  silentMaxMs?: number;
};

/** What a child sends every so often to say that it works. */
export const heartbeat = "heartbeat";
/** Silence is counted in looks, so that a machine that slept finds no child hung. */
const looksMax = 8;

const restartAfterMs = 100;
/** It is never given up: a full disk gets room again, and another holder of its files ends some time. */
const restartAfterMsMax = 5_000;

/** Soon after the first end, then less and less often. */
export const restartWaitMs = (restartsInARow: number): number =>
  Math.min(restartAfterMs * 2 ** restartsInARow, restartAfterMsMax);

/** Keeps a script running in a process of its own: its work never stands in the way of an answer. */
export function superviseChild<Message>({
  args,
  onEnd,
  silentMaxMs = Infinity,
  ...options
}: SupervisedOptions<Message>) {
  const { promise: ready, resolve } = Promise.withResolvers<Message>();
  let stopping = false;
  let restarts = 0;
  let last: Message | null = null;
  let looksSinceBeat: number | null = null;
  const start = (): Child =>
    startChild<Message | typeof heartbeat>({
      ...options,
      args: args(last),
      onMessage: (message) => {
        if (message === heartbeat) {
          looksSinceBeat = 0;
          return;
        }
        restarts = 0;
        last = message;
        resolve(message);
      },
      onExit: (signal) => {
        const hung = looksSinceBeat !== null && looksSinceBeat > looksMax;
        const cause = hung ? `it hung: no sign of life in ${silentMaxMs / 1_000} s` : signal;
        looksSinceBeat = null;
        if (stopping) return;
        const againInMs = restartWaitMs(restarts++);
        onEnd({ cause, againInMs });
        setTimeout(() => {
          if (!stopping) running = start();
        }, againInMs);
      },
    });
  let running = start();
  const look = () => {
    if (looksSinceBeat !== null && ++looksSinceBeat > looksMax) running.kill();
  };
  const looking = silentMaxMs === Infinity ? null : setInterval(look, silentMaxMs / looksMax);
  return {
    /** Fulfilled with its first message. */
    ready,
    /** Of the process that runs now. */
    pid: () => running.pid,
    send: (message: unknown): void => running.send(message),
    stop: (): Promise<void> => {
      stopping = true;
      clearInterval(looking ?? undefined);
      return running.stop();
    },
  };
}

function giveWay(pid: number, nice: number): void {
  try {
    setPriority(pid, nice);
    // Linux may weigh sessions, not processes, against each other, and this one has a session of its own.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // A container may forbid it: then it competes like everything else.
  }
}
