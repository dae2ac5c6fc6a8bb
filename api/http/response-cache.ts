import type { Change } from "#content/nonprofit/changes-store.ts";
import type { Watch } from "#content/feed/store.ts";
import { weighedCache } from "#content/runtime/cache.ts";

/** A value computed from the store, and a test whether a change of public data makes it stale. */
export type CacheableValue<Value> = {
  value: Value;
  staleBy: (change: Change) => boolean;
  bytes: number;
};

export type ResponseCache = {
  /**
   * The value cached under `key`, or a new one from `make`, which is called once for concurrent callers. A change drops
   * only the values that it makes stale: a write to one profile keeps the answers about the others.
   */
  get<Value>(key: string, make: () => Promise<CacheableValue<Value>>): Value | Promise<Value>;
  size(): number;
};

const entriesMax = 5_000;
const bytesMax = 48 * 1024 * 1024;
/** A larger value is not cached; `bytes: Infinity` prevents caching. */
const entryBytesMax = 4 * 1024 * 1024;

/** Caches values until a change makes them stale. When there is too much, the least recently used ones go first. */
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
    // Callers before and after a change do not share a value.
    const runKey = `${watch.sequence()} ${key}`;
    const current = runs.get(runKey);
    if (current !== undefined) return current.work as Promise<Value>;
    const run: Run = { meanwhile: [], work: Promise.resolve() };
    runs.set(runKey, run);
    const work = Promise.try(make).then((answer) => {
      // A value that a change made stale during its computation is not cached.
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

/** A value being computed, and the changes since it was begun; null when they are unknown. */
type Run = { work: Promise<unknown>; meanwhile: readonly Change[] | null };
