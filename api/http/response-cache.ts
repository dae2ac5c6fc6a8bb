import type { Change } from "#content/nonprofit/changes-store.ts";
import type { Watch } from "#content/feed/store.ts";
import { weighedCache } from "#content/runtime/cache.ts";

/** A value made from the store, and how to tell that a change of public data makes it wrong. */
export type CacheableValue<Value> = {
  value: Value;
  staleBy: (change: Change) => boolean;
  bytes: number;
};

export type ResponseCache = {
  /**
   * The value kept under `key`, or a new one by `make`, which is called once for callers that come together. A change
   * drops only what it makes stale: writing one profile leaves the answers about the others.
   */
  get<Value>(key: string, make: () => Promise<CacheableValue<Value>>): Value | Promise<Value>;
  size(): number;
};

const entriesMax = 5_000;
const bytesMax = 48 * 1024 * 1024;
/** A bigger value is made again each time; so is one that says Infinity. */
const entryBytesMax = 4 * 1024 * 1024;

/** Keeps values until a change makes them stale; the longest unused go first when there are too many. */
export function openResponseCache(watch: Watch): ResponseCache {
  const entries = weighedCache<CacheableValue<unknown>>(bytesMax, ({ bytes }) => bytes, {
    max: entriesMax,
    maxEntrySize: entryBytesMax,
  });
  const runs = new Map<string, Run>();
  watch.listen((changes) => {
    for (const run of runs.values()) {
      run.meanwhile = changes && run.meanwhile && [...run.meanwhile, ...changes];
    }
    if (changes === null) return entries.clear();
    for (const [key, { staleBy }] of entries.entries()) {
      if (changes.some(staleBy)) entries.delete(key);
    }
  });
  const find = async <Value>(
    key: string,
    make: () => Promise<CacheableValue<Value>>,
  ): Promise<Value> => {
    if (!watch.isFresh()) await watch.refresh();
    const entry = entries.get(key);
    if (entry !== undefined) return entry.value as Value;
    // A change makes another value: callers before and after it do not share.
    const runKey = `${watch.sequence()} ${key}`;
    const current = runs.get(runKey);
    if (current !== undefined) return current.work as Promise<Value>;
    const run: Run = { meanwhile: [], work: Promise.resolve() };
    runs.set(runKey, run);
    const work = Promise.try(make).then((answer) => {
      // What changed while it was being made is not in it for certain.
      const isRight = run.meanwhile !== null && !run.meanwhile.some(answer.staleBy);
      if (isRight && answer.bytes <= entryBytesMax) entries.set(key, answer);
      return answer.value;
    });
    run.work = work;
    return work.finally(() => runs.delete(runKey));
  };
  return {
    get: <Value>(key: string, make: () => Promise<CacheableValue<Value>>) => {
      const entry = watch.isFresh() ? entries.get(key) : undefined;
      return entry === undefined ? find(key, make) : (entry.value as Value);
    },
    size: () => entries.size,
  };
}

/** A value on its way, and what changed since it was begun: null when that is more than can be told. */
type Run = { work: Promise<unknown>; meanwhile: readonly Change[] | null };
