import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { SlowAnswer, SlowTask, SlowWorkSettings } from "./background-worker-entry.ts";
import type { SlowWork } from "./slow-jobs.ts";

/** A directory nobody changes needs no process that waits for changes. */
const idleMs = 60_000;

/**
 * Slow work in a process of its own, which runs when nothing more urgent does: so that a change goes live as fast while
 * thousands of pages are rendered. The process is started by the first piece of work and ends when none came for a
 * minute. A piece whose process died is refused; the next starts another. One piece at a time.
 */
export function slowWorkApart(settings: SlowWorkSettings): SlowWork {
  let child: Bun.Subprocess<"ignore", "inherit", "inherit"> | null = null;
  let ready = Promise.withResolvers<void>();
  let waiting: PromiseWithResolvers<unknown> | null = null;
  let idle: Timer | undefined;
  const refuse = (what: string) => {
    ready.resolve();
    waiting?.reject(new Error(`the process for slow work ${what}`));
  };
  const end = () => {
    clearTimeout(idle);
    child?.kill("SIGKILL");
    child = null;
    refuse("was ended");
  };
  const start = () => {
    // What is sent before the process listens would be lost.
    ready = Promise.withResolvers();
    const script = join(import.meta.dirname, "background-worker-entry.ts");
    const started = Bun.spawn([process.execPath, "--smol", script, JSON.stringify(settings)], {
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      ipc: (answer: SlowAnswer) => {
        if (answer === "ready") ready.resolve();
        else if ("error" in answer) waiting?.reject(new Error(`slow work failed: ${answer.error}`));
        else waiting?.resolve(answer.done);
      },
      onExit: (_child, code) => {
        if (child !== started) return;
        child = null;
        refuse(`ended with ${code ?? "a signal"}`);
      },
    });
    givesWay(started.pid);
    return started;
  };
  const run = async (task: SlowTask): Promise<unknown> => {
    if (waiting !== null) throw new Error("slow work is done one piece at a time");
    clearTimeout(idle);
    child ??= start();
    waiting = Promise.withResolvers();
    try {
      const { promise } = waiting;
      // The process may end before it is ready: then the answer is a refusal.
      await Promise.race([ready.promise, promise]);
      child?.send(task);
      return await promise;
    } finally {
      waiting = null;
      idle = setTimeout(end, idleMs);
      idle.unref();
    }
  };
  return {
    makeLists: (job) => run({ name: "makeLists", job }) as ReturnType<SlowWork["makeLists"]>,
    draftFeed: (job) => run({ name: "draftFeed", job }) as ReturnType<SlowWork["draftFeed"]>,
    close: end,
  };
}

/** Lowers a process below all that answers readers, where the system allows it. */
export function givesWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // A container may forbid it: then it competes like everything else.
  }
}
