import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

export type ChildOptions<Message> = {
  script: string;
  args?: readonly string[];
  /** Options of Bun itself, for example --smol. */
  runtimeOptions?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Its niceness: 0, the default of processes, to 19, which runs only when nothing else does. */
  nice?: number;
  onMessage?: (message: Message) => void;
  /** Called once when it has ended, with its exit code or signal. */
  onExit?: (cause: string) => void;
};

/** A child process. Its output appears in ours; messages are JSON. */
export type Child = {
  readonly pid: number;
  send(message: unknown): void;
  /** Asks it to end, and kills it after a grace period; resolves when it has ended. */
  stop(): Promise<void>;
  /** Kills it at once. */
  kill(): void;
};

const graceMs = 4_000;
const channelClosed = "ERR_IPC_CHANNEL_CLOSED";

/** Starts a script in a process of its own. The script must exit when its channel to this process closes. */
export function startChild<Message>(options: ChildOptions<Message>): Child {
  const { script, args = [], runtimeOptions = [], env = process.env, nice = 0 } = options;
  const child = Bun.spawn([process.execPath, ...runtimeOptions, script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env,
    // Give it a process group of its own: Ctrl-C then reaches only the parent, which stops it.
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
        // The child has ended and cannot receive; anyone waiting for an answer learns of its end.
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
  /** Its arguments, given the last message of the previous run. */
  args: (last: Message | null) => string[];
  /** Called when it ended unexpectedly. */
  onEnd: (ended: { cause: string; againInMs: number }) => void;
  /** A child that has sent a heartbeat and then none for this long is considered hung and killed. Absent: never. */
  silentMaxMs?: number;
};

/** The message that a child sends regularly to show that it works. */
export const heartbeat = "heartbeat";
/** Silence is counted in looks, so that after a machine slept no child seems hung. */
const looksMax = 8;

const restartAfterMs = 100;
/** Restarts never stop: a full disk gets room again, and another process that holds its files will end. */
const restartAfterMsMax = 5_000;

/** Restart soon after the first end, then at growing intervals. */
export const restartWaitMs = (restartsInARow: number): number =>
  Math.min(restartAfterMs * 2 ** restartsInARow, restartAfterMsMax);

/** Keeps a script running in a process of its own, so that its work never delays an answer. */
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
    /** Resolves with its first message. */
    ready,
    /** Pid of the current process. */
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
    // Linux may weigh sessions, not processes, against each other, and the child has a session of its own.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // A container may forbid it; then the child competes normally.
  }
}
