import { parentPort, workerData } from "node:worker_threads";
import { openReader } from "#content/store/reader.ts";
import type { WorkerAnswer, WorkerQuestion } from "./pool.ts";
import { runHere, type SearchRunner } from "./runner.ts";

// A thread of the search pool: it opens the store that it is given and answers questions in their order.

const { url } = workerData as { url: string };
const runner = openReader(url).then(runHere);

parentPort?.on("message", (question: WorkerQuestion) => void answer(question));

async function answer(question: WorkerQuestion): Promise<void> {
  const { id } = question;
  try {
    tell({ id, value: await valueOf(await runner, question) });
  } catch (error) {
    tell({ id, error: String(error) });
  }
}

const tell = (told: WorkerAnswer): void => parentPort?.postMessage(told, []);

const valueOf = (here: SearchRunner, question: WorkerQuestion) =>
  question.ask === "run"
    ? here.run(question.query, question.version)
    : here.stillExact(question.query, question.page, question.changedIds, question.version);
