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

type Worker = SlowTasks & { close: () => void };

/** A directory no one changes needs no process that waits for changes; a new one of a million profiles first reads for 15 s. */
const idleMs = 600_000;
const script = join(import.meta.dirname, "background-worker-entry.ts");

/**
 * Does slow tasks in a process of its own, one after the other. The process is started by the first task and ends when
 * none came for ten minutes. A task whose process died is refused; the next starts another.
 */
function openWorker(
  settings: WorkerSettings,
  options: Pick<ChildOptions<WorkerMessage>, "runtimeOptions" | "nice" | "env"> = {},
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
    // What is sent before the process listens would be lost.
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
  const run = async <Name extends keyof SlowTasks>(
    name: Name,
    input: Parameters<SlowTasks[Name]>[0],
  ): Promise<Awaited<ReturnType<SlowTasks[Name]>>> => {
    clearTimeout(idle);
    child ??= start();
    try {
      // The process may end before it is ready: then the answer is a refusal.
      const send = (id: number) => void ready.promise.then(() => child?.send({ id, name, input }));
      return (await tasks.give(send)) as Awaited<ReturnType<SlowTasks[Name]>>;
    } finally {
      clearTimeout(idle);
      if (tasks.count() === 0) idle = setTimeout(close, idleMs).unref();
    }
  };
  return {
    makeLists: (job) => run("makeLists", job),
    draftFeed: (job) => run("draftFeed", job),
    makeIndexes: (job) => run("makeIndexes", job),
    makeData: () => run("makeData", undefined),
    writeDataFiles: (task) => run("writeDataFiles", task),
    renderBatch: (keys) => run("renderBatch", keys),
    close,
  };
}

const slowestWaitMs = 600_000;
/** A quarter of a processor beside a busy one: a change goes live first, and lists and feed follow in seconds. */
const behind = { runtimeOptions: ["--smol"], nice: 4 };
/** A tenth: readers do not wait for search indexes and files of /data, but a full build does. */
const farBehind = { ...behind, nice: 10 };

/** Background work in processes of its own: lists and feed in one, search indexes in others that end with them. */
export function workApart(settings: WorkerSettings): BackgroundWork {
  const sharedWorker = openWorker(settings, behind);
  const data = openWorker(settings, farBehind);
  return {
    ...sharedWorker,
    makeData: () => data.makeData(),
    close: () => [sharedWorker, data].forEach(({ close }) => close()),
    makeIndexes: async (job: IndexTask, signal?: AbortSignal) => {
      // Pagefind leaves much memory behind, which goes with its process.
      const ownWorker = openWorker(settings, farBehind);
      const timeout = AbortSignal.timeout(slowestWaitMs);
      const limit = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      limit.addEventListener("abort", ownWorker.close);
      try {
        return await ownWorker.makeIndexes(job);
      } finally {
        limit.removeEventListener("abort", ownWorker.close);
        ownWorker.close();
      }
    },
  };
}

/** Renders documents into blobs; `damagedDigests` holds the digests of content that these found damaged and wrote again. */
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

/** Background work where no one waits for another thing: in a command or a test. */
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
            files[at] = await worker.writeDataFiles(task);
          });
          return files.flat();
        },
      },
    ),
  close: () => {},
});

/** The engine lets garbage lie by the memory that a machine has: as on one of 1 GB it holds a third less, as fast. */
const frugal = { ...process.env, BUN_JSC_forceRAMSize: String(2 ** 30) };

type Pool = {
  settings: WorkerSettings;
  /** How many; default 2. */
  processes?: number | undefined;
  /** How much each has at hand; default 1. */
  ahead?: number;
  signal?: AbortSignal | undefined;
};

/** Does work on each item in one of several processes; throws when one of them dies or fails, and starts no further work then. */
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
