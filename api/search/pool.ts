import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Worker, type WorkerOptions } from "node:worker_threads";
import type { SearchQuery } from "#content/contract/search.ts";
import type { BrowseQuery, FacetCounts } from "#content/contract/browse.ts";
import type { Browse, BrowsePage } from "#content/find/browse-store.ts";
import type { CountSearch, Search, SearchPage } from "#content/find/search.ts";
import { pendingTasks, type TaskAnswer } from "#content/runtime/concurrency.ts";
import { RefusalError } from "#api/http/problem.ts";

export type WorkerStart = { url: string };

type Question =
  | { search: SearchQuery; version: number }
  | { count: SearchQuery; version: number }
  | { browse: BrowseQuery };
type Outcome = SearchPage | BrowsePage | FacetCounts | null;

/** Null ends the thread between queries; ending it during a query would end the whole process. */
export type WorkerQuestion = ({ id: number } & Question) | null;

/** `code` is the driver's error code when the store failed. */
export type WorkerAnswer = TaskAnswer<Outcome>;

/** For a thread to load its modules. */
const descriptorsMin = 32;

const overload = {
  status: 503,
  code: "search_overloaded",
  detail: "More searches are waiting than can be answered in time. Send the request again.",
  headers: { "retry-after": "1" },
};

type Thread = ReturnType<typeof startThread>;

const waitingMax = 500;
const answerWaitMs = 10_000;
/** The first browse is preceded by reading the columns of a million profiles. */
const browseWaitMs = 60_000;
const endWaitMs = 2_000;

/**
 * Searches on threads with connections of their own, because a query of SQLite is synchronous and would block all other
 * requests. Only for an embedded store. A thread that dies or hangs is replaced with the next question.
 */
export function openPool({ threads: count, ...start }: WorkerStart & { threads: number }) {
  let closed = false;
  const threads: Thread[] = [];

  /** Threads start with the first question, because loading them takes a third of the processor time of a start. */
  function allThreads(): [Thread, ...Thread[]] {
    while (threads.length < count && isRoomForThread()) threads.push(open());
    const [first, ...others] = threads;
    if (first === undefined) throw new RefusalError(overload);
    return [first, ...others];
  }

  function open(): Thread {
    const thread = startThread(start, (reason) => replace(thread, reason));
    return thread;
  }

  function replace(thread: Thread, reason: string): void {
    const at = threads.indexOf(thread);
    if (at === -1 || closed) return;
    threads.splice(at, 1);
    end(thread);
    thread.questions.refuseAll(`search thread lost: ${reason}`);
  }

  function ask(thread: Thread, question: Question, waitMs: number) {
    const { questions, worker } = thread;
    if (questions.count() >= waitingMax) return Promise.reject(new RefusalError(overload));
    const send = (id: number) =>
      worker.postMessage({ id, ...question } satisfies WorkerQuestion, []);
    return questions.give(send, { ms: waitMs, late: () => replace(thread, "no answer in time") });
  }

  // Only one thread loads the columns, because each further one would need as much memory.
  const columns = () => allThreads()[0];

  const search: Search = (query, version = 0) => {
    if (query.q === null)
      return ask(columns(), { search: query, version }, browseWaitMs) as Promise<SearchPage>;
    const thread = allThreads().reduce((a, b) =>
      b.questions.count() < a.questions.count() ? b : a,
    );
    return ask(thread, { search: query, version }, answerWaitMs) as Promise<SearchPage>;
  };

  const browse: Browse["page"] = (query) => {
    return ask(columns(), { browse: query }, browseWaitMs) as Promise<BrowsePage>;
  };

  const countValues: CountSearch = (query, version = 0) => {
    return ask(columns(), { count: query, version }, browseWaitMs) as Promise<FacetCounts | null>;
  };

  return {
    search,
    browse,
    count: countValues,
    close: async () => {
      closed = true;
      for (const thread of threads) end(thread);
      await Promise.race([Promise.all(threads.map(({ ended }) => ended)), Bun.sleep(endWaitMs)]);
    },
  };
}

/** Whether enough files can be opened: Bun ends the whole process when a thread starts without a free descriptor. */
function isRoomForThread(): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < descriptorsMin) opened.push(openSync(devNull, "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** `onLost` is called once or twice when the thread has ended. */
function startThread(start: WorkerStart, onLost: (reason: string) => void) {
  // `smol` is Bun's option for a smaller heap, which is collected more often.
  const options: WorkerOptions & { smol: boolean } = { workerData: start, smol: true };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), options);
  const ended = Promise.withResolvers<void>();
  const questions = pendingTasks<Outcome>("search");
  worker.on("message", questions.answer);
  worker.on("error", ({ message }: Error) => onLost(message));
  worker.on("exit", () => {
    ended.resolve();
    onLost("it ended");
  });
  worker.unref();
  return { worker, questions, ended: ended.promise };
}

const end = ({ worker }: Thread): void => worker.postMessage(null satisfies WorkerQuestion, []);
