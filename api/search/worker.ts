import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "#content/search/reader.ts";
import type { WorkerAnswer, WorkerQuestion, WorkerStart } from "./pool.ts";
import { runHere } from "./runner.ts";

// A thread of the search pool: it opens the store that it is given and answers questions in their order.

const { url, baseUrl } = workerData as WorkerStart;
const onError = (error: unknown) => tell({ kind: "warning", message: String(error) });
const runner = openReader(url).then((reader) =>
  runHere(reader, { baseUrl, inMemory: true, onError }),
);

void runner.then(({ ready }) => ready).then(() => tell({ kind: "ready" }));

parentPort?.on("message", (question: WorkerQuestion) => void answer(question));

/** What a search leaves behind lies mostly outside the heap that is measured: uncollected, it grew to 100 MB. */
const answersPerCollection = 100;
let answers = 0;

async function answer(question: WorkerQuestion): Promise<void> {
  if (question.ask === "end") process.exit(0);
  const { id } = question;
  if (++answers % answersPerCollection === 0) Bun.gc(true);
  try {
    const here = await runner;
    if (question.ask === "change") {
      tell({ kind: "answer", id, value: await here.change(question.changes) });
      return;
    }
    const page = await here.run(question.query);
    tell({ kind: "answer", id, value: page }, [
      page.answer.head.buffer,
      page.answer.nonprofits.buffer,
    ]);
  } catch (error) {
    tell({ kind: "failure", id, message: String(error) });
  }
}

const tell = (told: WorkerAnswer, moved: ArrayBuffer[] = []): void =>
  parentPort?.postMessage(told, moved);
