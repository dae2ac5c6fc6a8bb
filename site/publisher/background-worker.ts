import { join } from "node:path";
import { eachAtMost, pendingTasks, type TaskAnswer } from "#content/runtime/concurrency.ts";
import { type Child, type ChildOptions, startChild } from "#content/runtime/supervised-child.ts";
import { storeFiles } from "#site/bundle/release.ts";
import { type DocumentKey, renderKeys } from "#site/documents/document.ts";
import { type DataFile, makeData } from "#site/data/make-data.ts";
import { type IndexTask, makeIndexes } from "#site/search/make-indexes.ts";
import type {
  BackgroundWork,
  PublisherContext,
  RenderedBatch,
  SlowTasks,
  WorkerSettings,
} from "./context.ts";
import { draftFeed } from "./feed-job.ts";
import { makeLists } from "./list-job.ts";

export type Task = { id: number; name: keyof SlowTasks; input: unknown };
export type WorkerMessage = "ready" | TaskAnswer<unknown>;

type Worker = {
  run<Name extends keyof SlowTasks>(
    name: Name,
    input: Parameters<SlowTasks[Name]>[0],
  ): ReturnType<SlowTasks[Name]>;
  close: () => void;
};

/** An idle directory needs no worker. A new worker first reads for 15 s in a directory of a million profiles. */
const idleMs = 600_000;
const script = join(import.meta.dirname, "background-worker-entry.ts");

/**
 * Runs slow tasks one after the other in a child process. The first task starts the process; it ends after ten minutes
 * without a task. When the process dies, its tasks are rejected, and the next task starts another one.
 */
function openWorker(
  settings: WorkerSettings,
  options: Pick<ChildOptions<WorkerMessage>, "runtimeOptions" | "nice" | "env">,
): Worker {
  let child: Child | null = null;
  let ready = Promise.withResolvers<void>();
  const tasks = pendingTasks<unknown>("background work");
  let idle: Timer | undefined;
  const refuseAll = (event: string) => {
    ready.resolve();
    tasks.refuseAll(`the background worker ${event}`);
  };
  const onMessage = (message: WorkerMessage) =>
    message === "ready" ? ready.resolve() : tasks.answer(message);
  const start = (): Child => {
    // A message sent before the process listens would be lost.
    ready = Promise.withResolvers();
    const worker: Child = startChild<WorkerMessage>({
      ...options,
      script,
      args: [JSON.stringify(settings)],
      onMessage,
      onExit: (cause) => {
        if (child !== worker) return;
        child = null;
        refuseAll(`ended with ${cause}`);
      },
    });
    return worker;
  };
  const close = () => {
    clearTimeout(idle);
    child?.kill();
    child = null;
    refuseAll("was ended");
  };
  const run = async (name: keyof SlowTasks, input: unknown) => {
    clearTimeout(idle);
    child ??= start();
    try {
      // If the process ends before it is ready, `refuseAll` rejects the task.
      const send = (id: number) => void ready.promise.then(() => child?.send({ id, name, input }));
      return await tasks.give(send);
    } finally {
      clearTimeout(idle);
      if (tasks.count() === 0) idle = setTimeout(close, idleMs).unref();
    }
  };
  return { run: run as Worker["run"], close };
}

const slowestWaitMs = 600_000;
/** Beside a busy process this leaves a quarter of a processor: changes go live first, lists and feed follow in seconds. */
const behind = { runtimeOptions: ["--smol"], nice: 4 };
/** A tenth of a processor: no reader waits for search indexes and files of /data, only a full build does. */
const farBehind = { ...behind, nice: 10 };

/** Background work in child processes: one for lists and feed, one for files of /data, a new one for each search index. */
export function workApart(settings: WorkerSettings): BackgroundWork {
  const shared = openWorker(settings, behind);
  const data = openWorker(settings, farBehind);
  return {
    makeLists: (job) => shared.run("makeLists", job),
    draftFeed: (job) => shared.run("draftFeed", job),
    makeData: () => data.run("makeData", undefined),
    close: () => [shared, data].forEach(({ close }) => close()),
    makeIndexes: async (job: IndexTask, signal?: AbortSignal) => {
      // Pagefind does not free much of its memory; it goes when the process ends.
      const ownWorker = openWorker(settings, farBehind);
      const timeout = AbortSignal.timeout(slowestWaitMs);
      const limit = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      limit.addEventListener("abort", ownWorker.close);
      try {
        return await ownWorker.run("makeIndexes", job);
      } finally {
        limit.removeEventListener("abort", ownWorker.close);
        ownWorker.close();
      }
    },
  };
}

/** Renders documents into blobs. `damagedDigests`: of content that `blobs` found damaged and wrote again. */
export async function renderBatch(
  { source, kinds, blobs }: Pick<PublisherContext, "source" | "kinds" | "blobs">,
  damagedDigests: ReadonlySet<string>,
  keys: DocumentKey[],
): Promise<RenderedBatch> {
  const batch = await renderKeys(keys, kinds, source);
  const { files } = storeFiles({ blobs }, batch.files);
  const repaired = files.filter(({ digest }) => damagedDigests.has(digest)).map(({ path }) => path);
  return { keys: keys.length, files, repaired, failed: batch.failed };
}

/** Background work in this process, for commands and tests, where nothing else waits for it. */
export const workHere = (
  context: Pick<PublisherContext, "source" | "kinds" | "manifest" | "blobs">,
  workers: WorkerSettings,
): BackgroundWork => ({
  makeLists: (job) => makeLists(context, job),
  draftFeed: (job) => draftFeed(context, job),
  makeIndexes: (job) => makeIndexes({ ...context, store: context.source.store }, job),
  makeData: () =>
    makeData(
      { ...context, baseUrl: workers.baseUrl },
      {
        writeLarge: async (tasks) => {
          const files: DataFile[][] = [];
          await inWorkers({ settings: workers }, tasks.entries(), async (worker, [at, task]) => {
            files[at] = await worker.run("writeDataFiles", task);
          });
          return files.flat();
        },
      },
    ),
  close: () => {},
});

/** The engine collects garbage by the size of the machine's memory: with 1 GB here it uses a third less and is as fast. */
const frugal = { ...process.env, BUN_JSC_forceRAMSize: String(2 ** 30) };

type Pool = {
  settings: WorkerSettings;
  /** The number of processes; default 2. */
  processes?: number | undefined;
  /** How many items each process is given at a time; default 1. */
  ahead?: number;
  signal?: AbortSignal | undefined;
};

/** Works on each item in one of several processes. When one dies or fails, it throws and starts no further work. */
export async function inWorkers<Item>(
  { settings, processes = 2, ahead = 1, signal }: Pool,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (worker: Worker, item: Item) => Promise<void>,
): Promise<void> {
  const workers = Array.from({ length: processes }, () => openWorker(settings, { env: frugal }));
  const closeAll = () => {
    for (const worker of workers) worker.close();
  };
  signal?.addEventListener("abort", closeAll);
  try {
    const free = Array.from({ length: ahead }, () => workers).flat();
    await eachAtMost(free.length, items, async (item) => {
      const worker = free.pop();
      if (worker === undefined) throw new Error("more work than workers");
      await work(worker, item);
      free.push(worker);
    });
  } finally {
    signal?.removeEventListener("abort", closeAll);
    closeAll();
  }
}
