import { parentPort, workerData } from "node:worker_threads";
import { type Browse, openBrowse } from "#content/find/browse-store.ts";
import { countedIn, type CountSearch, type Search, searchIn } from "#content/find/search.ts";
import { codeOf } from "#content/store/busy.ts";
import { openReader } from "#content/store/open.ts";
import type { WorkerAnswer, WorkerQuestion, WorkerStart } from "./pool.ts";

// A thread of the search pool. It opens a store and answers one question after another.

const { url } = workerData as WorkerStart;
type Engines = { search: Search; browse: Browse; count: CountSearch };
let opening: Promise<Engines> | undefined;

const pageCacheKb = 16_000;
/** Waiting for a lock blocks only this thread. */
const lockWaitMs = 1_000;

async function openEngines(): Promise<Engines> {
  const store = await openReader(url, { lockWaitMs, pageCacheKb });
  const browse = openBrowse(store);
  const search = searchIn(store, browse);
  return { search, browse, count: countedIn(search, browse) };
}

parentPort?.on("message", (question: WorkerQuestion) => {
  if (question === null) process.exit(0);
  void answer(question).then(send);
});

/** Most garbage of a search is outside the measured heap: without collection, it grew to 100 MB. */
const answersPerCollection = 100;
let answers = 0;

async function answer(question: NonNullable<WorkerQuestion>): Promise<WorkerAnswer> {
  const { id } = question;
  if (++answers % answersPerCollection === 0) Bun.gc(true);
  try {
    // Opened here, so that a store that cannot be opened fails only this search, and the next one tries again.
    opening ??= openEngines();
    const engines = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return { id, done: await respond(engines, question) };
  } catch (error) {
    return { id, failure: String(error), code: codeOf(error) };
  }
}

const respond = ({ search, browse, count }: Engines, question: NonNullable<WorkerQuestion>) => {
  if ("browse" in question) return browse.page(question.browse);
  return "count" in question
    ? count(question.count, question.version)
    : search(question.search, question.version);
};

const send = (message: WorkerAnswer): void => parentPort?.postMessage(message, []);
