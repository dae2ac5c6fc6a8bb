import { LRUCache } from "lru-cache";
import type { Change } from "#content/nonprofit/changes-store.ts";
import type { Watch } from "#content/feed/watch.ts";

/** A value made from the store, and how to tell that a change of public data makes it wrong. */
export type Made<Value> = { value: Value; staleBy: (change: Change) => boolean; bytes: number };

export type ResponseCache = {
  /**
   * The value kept under `key`, or a new one by `make`, which is called once for callers that come together. A change
   * drops only what it makes stale: writing one profile leaves the answers about the others.
   */
  get<Value>(key: string, make: () => Promise<Made<Value>>): Value | Promise<Value>;
  size(): number;
};

const entriesMax = 5_000;
const bytesMax = 48 * 1024 * 1024;
/** A bigger value is made again each time; so is one that says Infinity. */
const entryBytesMax = 4 * 1024 * 1024;
const recentMax = 1_000;

/** Keeps values until a change makes them stale; the longest unused go first when there are too many. */
export function openResponseCache(watch: Watch): ResponseCache {
  const shelf = new Shelf();
  const making = new Map<string, Promise<unknown>>();
  watch.listen((changes) => {
    if (changes === null) shelf.clear(watch.sequence());
    else shelf.hear(changes);
  });
  const find = async <Value>(key: string, make: () => Promise<Made<Value>>): Promise<Value> => {
    if (!watch.isFresh()) await watch.refresh();
    const known = shelf.find(key);
    if (known !== undefined) return known.value as Value;
    const asOf = watch.sequence();
    // A change after `asOf` makes another value: callers before and after it do not share.
    const shared = `${asOf} ${key}`;
    const begun = making.get(shared);
    if (begun !== undefined) return begun as Promise<Value>;
    const work = make().then((made) => {
      shelf.keep(key, made, asOf);
      return made.value;
    });
    making.set(shared, work);
    return work.finally(() => making.delete(shared));
  };
  return {
    get: <Value>(key: string, make: () => Promise<Made<Value>>) => {
      const known = watch.isFresh() ? shelf.find(key) : undefined;
      return known === undefined ? find(key, make) : (known.value as Value);
    },
    size: () => shelf.size,
  };
}

class Shelf {
  readonly #entries = new LRUCache<string, Made<unknown>>({
    max: entriesMax,
    maxSize: bytesMax,
    maxEntrySize: entryBytesMax,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  #recent: readonly Change[] = [];
  /** Changes up to here are no longer known one by one. */
  #forgotten = 0;

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Made<unknown> | undefined {
    return this.#entries.get(key);
  }

  keep(key: string, made: Made<unknown>, asOf: number): void {
    if (made.bytes > entryBytesMax || asOf < this.#forgotten) return;
    // What changed while it was being made is not in it for certain.
    if (this.#recent.some((change) => change.sequence > asOf && made.staleBy(change))) return;
    this.#entries.set(key, made);
  }

  hear(changes: readonly Change[]): void {
    for (const [key, { staleBy }] of this.#entries.entries()) {
      if (changes.some(staleBy)) this.#entries.delete(key);
    }
    const recent = this.#recent.concat(changes);
    this.#forgotten = recent.at(-recentMax - 1)?.sequence ?? this.#forgotten;
    this.#recent = recent.slice(-recentMax);
  }

  clear(sequence: number): void {
    this.#entries.clear();
    [this.#recent, this.#forgotten] = [[], sequence];
  }
}
