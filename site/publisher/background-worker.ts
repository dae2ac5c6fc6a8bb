import { join } from "node:path";
import { eachAtMost } from "#content/runtime/concurrency.ts";
import { type Child, type ChildOptions, startChild } from "#content/runtime/supervised-child.ts";
import type { DocumentKey } from "#site/documents/document.ts";
import { makeData } from "#site/data/make-data.ts";
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

export type Task = {
  [Name in keyof SlowTasks]: { id: number; name: Name; input: Parameters<SlowTasks[Name]>[0] };
}[keyof SlowTasks];
export type WorkerMessage = "ready" | { id: number; done: unknown } | { id: number; error: string };

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
  options: Pick<ChildOptions<WorkerMessage>, "runtimeOptions" | "nice"> = {},
): Worker {
  let child: Child | null = null;
  let ready = Promise.withResolvers<void>();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let tasks = 0;
  let idle: Timer | undefined;
  const refuseAll = (what: string) => {
    ready.resolve();
    for (const { reject } of waiting.values()) reject(new Error(`the background worker ${what}`));
    waiting.clear();
  };
  const onMessage = (message: WorkerMessage) => {
    if (message === "ready") return ready.resolve();
    const task = waiting.get(message.id);
    waiting.delete(message.id);
    if ("error" in message) task?.reject(new Error(`background work failed: ${message.error}`));
    else task?.resolve(message.done);
  };
  const start = (): Child => {
    // What is sent before the process listens would be lost.
    ready = Promise.withResolvers();
    const started: Child = startChild<WorkerMessage>({
      ...options,
      script,
      args: [JSON.stringify(settings)],
      onMessage,
      onExit: (cause) => {
        if (child !== started) return;
        child = null;
        refuseAll(`ended with ${cause}`);
      },
    });
    return started;
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
    const id = tasks++;
    const task = Promise.withResolvers<unknown>();
    waiting.set(id, task);
    try {
      // The process may end before it is ready: then the answer is a refusal.
      await Promise.race([ready.promise, task.promise]);
      child?.send({ id, name, input });
      return (await task.promise) as Awaited<ReturnType<SlowTasks[Name]>>;
    } finally {
      clearTimeout(idle);
      if (waiting.size === 0) idle = setTimeout(close, idleMs).unref();
    }
  };
  return {
    makeLists: (job) => run("makeLists", job),
    draftFeed: (job) => run("draftFeed", job),
    makeIndexes: (job) => run("makeIndexes", job),
    makeData: (splitAbove) => run("makeData", splitAbove),
    renderBatch: (keys) => run("renderBatch", keys),
    close,
  };
}

const slowestWaitMs = 600_000;
/** A quarter of a processor beside a busy one: a change goes live first, and lists and feed follow in seconds. */
const behind = { runtimeOptions: ["--smol"], nice: 4 };

/** Background work in processes of its own: lists and feed in one, search indexes in others that end with them. */
export function workApart(settings: WorkerSettings): BackgroundWork {
  const shared = openWorker(settings, behind);
  const data = openWorker(settings, { ...behind, nice: 19 });
  return {
    ...shared,
    makeData: (splitAbove) => data.makeData(splitAbove),
    close: () => [shared, data].forEach(({ close }) => close()),
    makeIndexes: async (job: IndexTask, signal?: AbortSignal) => {
      // Pagefind leaves much memory behind. Readers wait for lists and feed, and no one waits for indexes.
      const own = openWorker(settings, { ...behind, nice: 19 });
      const timeout = AbortSignal.timeout(slowestWaitMs);
      const limit = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      limit.addEventListener("abort", own.close);
      try {
        return await own.makeIndexes(job);
      } finally {
        limit.removeEventListener("abort", own.close);
        own.close();
      }
    },
  };
}

/** Background work where no one waits for another thing: in a command or a test. */
export const workHere = (
  context: Pick<PublisherContext, "source" | "kinds" | "manifest" | "blobs">,
): BackgroundWork => ({
  makeLists: (job) => makeLists(context, job),
  draftFeed: (job) => draftFeed(context, job),
  makeIndexes: (job) => makeIndexes({ ...context, store: context.source.store }, job),
  makeData: (splitAbove) => makeData({ ...context, baseUrl: context.source.baseUrl }, splitAbove),
  close: () => {},
});

/** A process has its next batch at hand while it renders one. */
const batchesAhead = 2;

/** Renders all batches in several processes; throws when one of them dies or fails, and starts no further batch then. */
export async function renderInWorkers(
  {
    settings,
    processes,
    signal,
  }: { settings: WorkerSettings; processes: number; signal?: AbortSignal | undefined },
  batches: AsyncGenerator<DocumentKey[]>,
  onResult: (result: RenderedBatch) => void,
): Promise<void> {
  const workers = Array.from({ length: processes }, () => openWorker(settings));
  const closeAll = () => {
    for (const worker of workers) worker.close();
  };
  signal?.addEventListener("abort", closeAll);
  try {
    const free = Array.from({ length: batchesAhead }, () => workers).flat();
    await eachAtMost(free.length, batches, async (keys) => {
      const worker = free.pop();
      if (worker === undefined) throw new Error("more batches than workers");
      onResult(await worker.renderBatch(keys));
      free.push(worker);
    });
  } finally {
    signal?.removeEventListener("abort", closeAll);
    closeAll();
  }
}
