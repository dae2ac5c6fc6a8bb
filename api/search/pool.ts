import { Worker, type WorkerOptions } from "node:worker_threads";
import type { SearchQuery } from "#content/shapes/search.ts";
import { Refused } from "../problem.ts";
import type { FoundPage, KnownPage, SearchRunner } from "./runner.ts";

export type WorkerQuestion =
  | { ask: "run"; id: number; query: SearchQuery; version: number }
  | {
      ask: "stillExact";
      id: number;
      query: SearchQuery;
      page: KnownPage;
      changedIds: readonly number[];
      version: number;
    };

export type WorkerAnswer =
  | { id: number; value: FoundPage | boolean }
  | { id: number; error: string };

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
type Seat = { worker: Worker; waiting: Map<number, Waiting> };

const waitingMax = 500;
const answerWaitMs = 10_000;

/**
 * Searches on threads of their own, each with a connection of its own: a query of SQLite is synchronous and would
 * hold up every other request. Only for an embedded store. A worker that dies or hangs is replaced.
 */
export function runInPool(url: string, threads: number): SearchRunner {
  let closed = false;
  let lastId = 0;
  const seats: Seat[] = Array.from({ length: threads }, () => open());

  function open(): Seat {
    // smol is Bun's: a smaller heap, collected more often.
    const options: WorkerOptions & { smol: boolean } = { workerData: { url }, smol: true };
    const worker = new Worker(new URL("./worker.ts", import.meta.url), options);
    const seat: Seat = { worker, waiting: new Map() };
    worker.on("message", (answer: WorkerAnswer) => {
      const waiting = seat.waiting.get(answer.id);
      if (waiting === undefined) return;
      seat.waiting.delete(answer.id);
      clearTimeout(waiting.timer);
      if ("error" in answer) waiting.reject(new Error(`search failed: ${answer.error}`));
      else waiting.resolve(answer.value as never);
    });
    worker.on("error", ({ message }: Error) => replace(seat, message));
    worker.on("exit", () => replace(seat, "it ended"));
    worker.unref();
    return seat;
  }

  function replace(seat: Seat, reason: string): void {
    const at = seats.indexOf(seat);
    if (at === -1 || closed) return;
    seats[at] = open();
    void seat.worker.terminate();
    for (const { reject, timer } of seat.waiting.values()) {
      clearTimeout(timer);
      reject(new Error(`search thread lost: ${reason}`));
    }
    seat.waiting.clear();
  }

  function ask<Value>(question: (id: number) => WorkerQuestion): Promise<Value> {
    const seat = seats.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    if (seat.waiting.size >= waitingMax) {
      return Promise.reject(new Refused(overload));
    }
    const id = ++lastId;
    return new Promise<Value>((resolve, reject) => {
      const timer = setTimeout(() => replace(seat, "no answer in time"), answerWaitMs);
      seat.waiting.set(id, { resolve, reject, timer });
      seat.worker.postMessage(question(id), []);
    });
  }

  return {
    run: (query, version) => ask((id) => ({ ask: "run", id, query, version })),
    stillExact: (query, page, changedIds, version) =>
      ask((id) => ({ ask: "stillExact", id, query, page, changedIds, version })),
    close: () => {
      closed = true;
      for (const { worker } of seats) void worker.terminate();
    },
  };
}
