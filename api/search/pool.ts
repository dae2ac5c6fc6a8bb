import { Worker, type WorkerOptions } from "node:worker_threads";
import type { SearchQuery } from "#content/contract/search.ts";
import type { BrowseQuery, FacetCounts } from "#content/contract/browse.ts";
import type { Browse, BrowsePage } from "#content/find/browse-store.ts";
import type { CountSearch, Search, SearchPage } from "#content/find/search.ts";
import { Refused } from "#api/http/problem.ts";

/** What a thread is started with. */
export type WorkerStart = { url: string };

type Question =
  | { search: SearchQuery; version: number }
  | { count: SearchQuery; version: number }
  | { browse: BrowseQuery };
type Outcome = SearchPage | BrowsePage | FacetCounts | null;

/** Null ends the thread: never in the middle of a query, for that would end the whole process. */
export type WorkerQuestion = ({ id: number } & Question) | null;

/** `code`: the driver's, for a failure that is the store's. */
export type WorkerAnswer =
  | { id: number; page: Outcome }
  | { id: number; failure: string; code: string | null };

const overload = {
  status: 503,
  code: "search_overloaded",
  detail: "More searches are waiting than can be answered in time. Send the request again.",
  headers: { "retry-after": "1" },
};

type Waiting = PromiseWithResolvers<Outcome> & {
  timer: ReturnType<typeof setTimeout>;
};
type Thread = { worker: Worker; waiting: Map<number, Waiting>; ended: Promise<void> };

const waitingMax = 500;
const answerWaitMs = 10_000;
/** The first time, the columns of a million profiles are read before. */
const browseWaitMs = 60_000;
const endWaitMs = 2_000;

/**
 * Searches on threads, each with connections of its own: a query of SQLite is synchronous and would hold up every other
 * request. Only for an embedded store. A thread that dies or hangs is replaced.
 */
export function openPool({ threads: count, ...start }: WorkerStart & { threads: number }) {
  let closed = false;
  let lastId = 0;
  const threads: Thread[] = Array.from({ length: count }, () => open());

  function open(): Thread {
    const thread = startThread(start, (reason) => replace(thread, reason));
    return thread;
  }

  function replace(thread: Thread, reason: string): void {
    const at = threads.indexOf(thread);
    if (at === -1 || closed) return;
    threads[at] = open();
    end(thread);
    for (const waiting of takeAll(thread))
      waiting.reject(new Error(`search thread lost: ${reason}`));
  }

  function ask(thread: Thread, question: Question, waitMs: number) {
    if (thread.waiting.size >= waitingMax) return Promise.reject(new Refused(overload));
    const id = ++lastId;
    // First: what cannot be sent throws here, before anyone waits for its answer.
    thread.worker.postMessage({ id, ...question } satisfies WorkerQuestion, []);
    const timer = setTimeout(() => replace(thread, "no answer in time"), waitMs);
    const waiting = { ...Promise.withResolvers<Outcome>(), timer };
    thread.waiting.set(id, waiting);
    return waiting.promise;
  }

  // One thread keeps the columns; the others would each need as much memory.
  const columns = () => threads[0] ?? open();

  const search: Search = (query, version = 0) => {
    if (query.q === null)
      return ask(columns(), { search: query, version }, browseWaitMs) as Promise<SearchPage>;
    const thread = threads.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
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

/** `onLost` is called once or twice when the thread has ended. */
function startThread(start: WorkerStart, onLost: (reason: string) => void): Thread {
  // smol is Bun's: a smaller heap, collected more often.
  const options: WorkerOptions & { smol: boolean } = { workerData: start, smol: true };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), options);
  const ended = Promise.withResolvers<void>();
  const thread = { worker, waiting: new Map<number, Waiting>(), ended: ended.promise };
  worker.on("message", (message: WorkerAnswer) => {
    const waiting = take(thread, message.id);
    if ("page" in message) return waiting?.resolve(message.page);
    const { failure, code } = message;
    waiting?.reject(Object.assign(new Error(`search failed: ${failure}`), code && { code }));
  });
  worker.on("error", ({ message }: Error) => onLost(message));
  worker.on("exit", () => {
    ended.resolve();
    onLost("it ended");
  });
  worker.unref();
  return thread;
}

const end = ({ worker }: Thread): void => worker.postMessage(null satisfies WorkerQuestion, []);

function take({ waiting }: Thread, id: number): Waiting | undefined {
  const request = waiting.get(id);
  waiting.delete(id);
  clearTimeout(request?.timer);
  return request;
}

const takeAll = (thread: Thread): Waiting[] =>
  [...thread.waiting.keys()].flatMap((id) => take(thread, id) ?? []);
