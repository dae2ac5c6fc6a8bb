import { join } from "node:path";
import type { BatchResult, WorkerSettings } from "./build-worker.ts";
import type { DocumentKey } from "#site/documents/document.ts";

/** Rendering processes that take batches of documents as they become free. */
export type WorkerPool = {
  /** Renders all batches; rejects when a process dies or fails, and starts no further batch then. */
  run(
    batches: AsyncIterable<DocumentKey[]>,
    onResult: (result: BatchResult) => void,
  ): Promise<void>;
  stop(): void;
};

/** A process has its next batch at hand while it renders one. */
const batchesAhead = 2;

type Message = BatchResult | { error: string } | "ready";
type Worker = { send(keys: DocumentKey[]): void; kill(): void; waiting: number };

/** Starts the processes and waits until each is ready to render. */
export async function startWorkers(
  processes: number,
  settings: WorkerSettings,
): Promise<WorkerPool> {
  const listeners = { message: (_worker: Worker, _message: Message) => {}, died: () => {} };
  const workers = await Promise.all(
    Array.from({ length: processes }, () => startWorker(settings, listeners)),
  );
  return {
    run: (batches, onResult) => runBatches(workers, listeners, batches, onResult),
    stop: () => {
      listeners.died = () => {};
      for (const worker of workers) worker.kill();
    },
  };
}

type Listeners = { message: (worker: Worker, message: Message) => void; died: () => void };

function startWorker(settings: WorkerSettings, listeners: Listeners): Promise<Worker> {
  const { promise, resolve, reject } = Promise.withResolvers<Worker>();
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dirname, "build-worker.ts"), JSON.stringify(settings)],
    {
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      ipc: (message: Message) => {
        if (message === "ready") resolve(worker);
        else listeners.message(worker, message);
      },
      onExit: (_child, code) => {
        reject(
          new Error(`a rendering process ended with ${code ?? "a signal"} before it was ready`),
        );
        listeners.died();
      },
    },
  );
  const worker: Worker = {
    waiting: 0,
    send: (keys) => child.send(keys),
    kill: () => child.kill(),
  };
  return promise;
}

async function runBatches(
  workers: readonly Worker[],
  listeners: Listeners,
  batches: AsyncIterable<DocumentKey[]>,
  onResult: (result: BatchResult) => void,
): Promise<void> {
  let failure: Error | null = null;
  let wake = () => {};
  listeners.died = () => {
    failure = new Error("a rendering process ended in the middle of a build");
    wake();
  };
  listeners.message = (worker, message) => {
    worker.waiting--;
    if (message === "ready") return;
    try {
      if ("error" in message) throw new Error(`a rendering process failed: ${message.error}`);
      onResult(message);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    wake();
  };
  const until = async (met: () => boolean) => {
    while (failure === null && !met()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
    if (failure !== null) throw failure;
  };
  for await (const keys of batches) {
    await until(() => workers.some(({ waiting }) => waiting < batchesAhead));
    const [free] = workers.toSorted((a, b) => a.waiting - b.waiting);
    if (free === undefined) throw new Error("no rendering process was started");
    free.waiting++;
    free.send(keys);
  }
  await until(() => workers.every(({ waiting }) => waiting === 0));
}
