import { LRUCache } from "lru-cache";

/** A cache that drops the least recently used entry first. */
export type Cache<Value extends {}, Key extends {} = string> = LRUCache<Key, Value>;

type Options<Value extends {}, Key extends {}, Context> = Omit<
  LRUCache.OptionsBase<Key, Value, Context>,
  "max" | "maxSize" | "sizeCalculation"
>;

export const countedCache = <Value extends {}, Key extends {} = string, Context = unknown>(
  max: number,
  options: Options<Value, Key, Context> = {},
): LRUCache<Key, Value, Context> => new LRUCache({ ...options, max });

/** Estimated memory of an entry besides its key and value. */
const entryBytes = 200;

/**
 * A cache of at most `bytesMax` bytes, because clients choose keys and can make them long. `bytesOf` gives the size of a
 * value (default: small). An entry larger than `bytesMax` is not cached.
 */
export const weighedCache = <Value extends {}, Context = unknown>(
  bytesMax: number,
  bytesOf: (value: Value) => number = () => 0,
  options: Options<Value, string, Context> & { max?: number } = {},
): LRUCache<string, Value, Context> =>
  new LRUCache({
    ...options,
    maxSize: bytesMax,
    sizeCalculation: (value, key) => entryBytes + 2 * key.length + bytesOf(value),
  });

/** The answer of `look`, at most `knownMs` old; callers share one look. `allowStale`: an older one while it looks. */
export function sharedLook<Value extends {}>(
  knownMs: number,
  look: () => Promise<Value>,
  { allowStale = false } = {},
): () => Promise<Value> {
  const looks = new LRUCache<"all", Value>({
    max: 1,
    ttl: knownMs,
    allowStale,
    fetchMethod: look,
  });
  return () => looks.forceFetch("all");
}
