import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "#content/search/reader.ts";
import { answerFrom, type AnswerSearch } from "./answer.ts";
import type { WorkerAnswer, WorkerQuestion, WorkerStart } from "./pool.ts";

// A thread of the search pool: it opens the store that it is given and answers questions in their order.

const { url, baseUrl } = workerData as WorkerStart;
let answer: AnswerSearch | undefined;

parentPort?.on("message", (question: WorkerQuestion) => {
  if (question === null) process.exit(0);
  void respond(question);
});

/** What a search leaves behind lies mostly outside the heap that is measured: uncollected, it grew to 100 MB. */
const answersPerCollection = 100;
let answers = 0;

async function respond({ id, query, version }: NonNullable<WorkerQuestion>): Promise<void> {
  if (++answers % answersPerCollection === 0) Bun.gc(true);
  try {
    // Here, so that a store that cannot be opened is an error of the search alone.
    answer ??= answerFrom(openReader(url), baseUrl);
    const found = await answer(query, version);
    send({ id, answer: found }, [found.head.buffer, found.nonprofits.buffer]);
  } catch (error) {
    send({ id, failure: String(error) });
  }
}

const send = (message: WorkerAnswer, moved: ArrayBuffer[] = []): void =>
  parentPort?.postMessage(message, moved);
