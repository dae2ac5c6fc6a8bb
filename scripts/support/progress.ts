import { SingleBar } from "cli-progress";

/** Shows the progress of long work: a bar on a terminal, elsewhere a line every few seconds. */
export type Progress = { at: (done: number) => void; end: () => void };

const lineEveryMs = 5_000;

/**
 * Starts a display; `total` is 0 when unknown. Writes to standard error, so that output stays clean. A process whose log
 * is JSON passes `tell`.
 */
export function startProgress(
  what: string,
  total: number,
  tell?: (line: string) => void,
): Progress {
  return tell === undefined && process.stderr.isTTY
    ? startBar(what, total)
    : startLines(what, total, tell ?? console.error);
}

/** Progress of work in several steps. */
export function followProgress(tell?: (line: string) => void) {
  let current: { step: string; progress: Progress } | null = null;
  return {
    at: (step: string, done: number, total: number): void => {
      if (current?.step !== step) {
        current?.progress.end();
        current = { step, progress: startProgress(step, total, tell) };
      }
      current.progress.at(done);
    },
    end: (): void => current?.progress.end(),
  };
}

function startBar(what: string, total: number): Progress {
  const format = total > 0 ? `${what} {bar} {value}/{total} {eta_formatted}` : `${what} {value}`;
  const bar = new SingleBar({ format, clearOnComplete: true, hideCursor: true });
  bar.start(total, 0);
  return { at: (done) => bar.update(done), end: () => bar.stop() };
}

function startLines(what: string, total: number, tell: (line: string) => void): Progress {
  let toldMs = performance.now();
  return {
    at: (done) => {
      if (performance.now() - toldMs < lineEveryMs) return;
      toldMs = performance.now();
      tell(
        `${what}: ${done.toLocaleString("en")}${total > 0 ? ` of ${total.toLocaleString("en")}` : ""}`,
      );
    },
    end: () => {},
  };
}
