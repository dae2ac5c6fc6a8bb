import { Worker, type WorkerOptions } from "node:worker_threads";
import type { ProfileWords } from "#content/search/match.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import type { ChangedProfile } from "#content/search/searcher.ts";
import { Refused } from "#api/http/problem.ts";
import type { SearchRunner, SentPage } from "./runner.ts";

/** What a thread is started with. */
export type WorkerStart = { url: string; baseUrl: string };

export type WorkerQuestion =
  | { ask: "run"; id: number; query: SearchQuery }
  | { ask: "change"; id: number; changes: readonly ChangedProfile[] | null }
  /** To end: never in the middle of a query, for that would end the whole process. */
  | { ask: "end" };

export type WorkerAnswer =
  | { kind: "answer"; id: number; value: SentPage | ProfileWords[] | null }
  | { kind: "failure"; id: number; message: string }
  | { kind: "ready" }
  /** Something that went wrong beside the questions. */
  | { kind: "warning"; message: string };

export type PoolOptions = WorkerStart & {
  threads: number;
  onWarning?: (message: string) => void;
};

const overload = {
  status: 503,
  code: "search_overloaded",
  detail: "More searches are waiting than can be answered in time. Send the request again.",
  headers: { "retry-after": "1" },
};

type Waiting = {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
};
type Seat = {
  worker: Worker;
  waiting: Map<number, Waiting>;
  ready: Promise<void>;
  ended: Promise<void>;
};

const waitingMax = 500;
const answerWaitMs = 10_000;
const endWaitMs = 2_000;

/**
 * Searches on threads of their own, each with a connection of its own: a query of SQLite is synchronous and would
 * hold up every other request. Only for an embedded store. A worker that dies or hangs is replaced.
 */
export function runInPool({ threads, onWarning, ...start }: PoolOptions): SearchRunner {
  let closed = false;
  let lastId = 0;
  const seats: Seat[] = Array.from({ length: threads }, () => open());

  function open(): Seat {
    const seat = seatOf(start, (message) => {
      if (message.kind === "warning") onWarning?.(message.message);
      else if (message.kind === "ended") replace(seat, message.reason);
      else settle(seat, message);
    });
    return seat;
  }

  function replace(seat: Seat, reason: string): void {
    const at = seats.indexOf(seat);
    if (at === -1 || closed) return;
    seats[at] = open();
    giveUp(seat, reason);
  }

  function ask<Value>(seat: Seat, question: (id: number) => WorkerQuestion): Promise<Value> {
    const id = ++lastId;
    return new Promise<Value>((resolve, reject) => {
      const timer = setTimeout(() => replace(seat, "no answer in time"), answerWaitMs);
      seat.waiting.set(id, { resolve, reject, timer });
      seat.worker.postMessage(question(id), []);
    });
  }

  return {
    run: (query) => {
      const seat = seats.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
      if (seat.waiting.size >= waitingMax) return Promise.reject(new Refused(overload));
      return ask<SentPage>(seat, (id) => ({ ask: "run", id, query }));
    },
    // Every thread hears of it before it hears of later searches; what the profiles say now, each finds alike.
    change: async (changes) => {
      const told = seats.map((seat) =>
        ask<ProfileWords[] | null>(seat, (id) => ({ ask: "change", id, changes })),
      );
      const [words] = await Promise.all(told);
      return words ?? null;
    },
    ready: Promise.all(seats.map(({ ready }) => ready)).then(() => undefined),
    close: async () => {
      closed = true;
      for (const { worker } of seats) end(worker);
      await Promise.race([Promise.all(seats.map(({ ended }) => ended)), Bun.sleep(endWaitMs)]);
    },
  };
}

type Heard = Exclude<WorkerAnswer, { kind: "ready" }> | { kind: "ended"; reason: string };

/** A thread, and who waits for it. `hear` is told of all that it says, and once or twice that it ended. */
function seatOf(start: WorkerStart, hear: (message: Heard) => void): Seat {
  // smol is Bun's: a smaller heap, collected more often.
  const options: WorkerOptions & { smol: boolean } = { workerData: start, smol: true };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), options);
  const ended = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  worker.on("message", (answer: WorkerAnswer) => {
    if (answer.kind === "ready") ready.resolve();
    else hear(answer);
  });
  worker.on("error", ({ message }: Error) => hear({ kind: "ended", reason: message }));
  worker.on("exit", () => {
    ended.resolve();
    ready.resolve();
    hear({ kind: "ended", reason: "it ended" });
  });
  worker.unref();
  return { worker, waiting: new Map(), ready: ready.promise, ended: ended.promise };
}

const end = (worker: Worker): void =>
  worker.postMessage({ ask: "end" } satisfies WorkerQuestion, []);

function giveUp({ worker, waiting }: Seat, reason: string): void {
  end(worker);
  for (const { reject, timer } of waiting.values()) {
    clearTimeout(timer);
    reject(new Error(`search thread lost: ${reason}`));
  }
  waiting.clear();
}

function settle(seat: Seat, answer: Exclude<WorkerAnswer, { kind: "warning" | "ready" }>): void {
  const waiting = seat.waiting.get(answer.id);
  if (waiting === undefined) return;
  seat.waiting.delete(answer.id);
  clearTimeout(waiting.timer);
  if (answer.kind === "failure") waiting.reject(new Error(`search failed: ${answer.message}`));
  else waiting.resolve(answer.value as never);
}
