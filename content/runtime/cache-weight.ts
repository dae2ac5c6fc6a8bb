/** What an entry takes beside its key and its value. */
const entryBytes = 200;

/**
 * Bounds of an LRUCache by the memory that it takes, in bytes: clients choose keys, and long ones. `bytesOf` weighs a value;
 * without it, values count as small ones do. An entry that weighs more than `bytesMax` is not cached.
 */
export const weighed = <Value>(bytesMax: number, bytesOf: (value: Value) => number = () => 0) => ({
  maxSize: bytesMax,
  sizeCalculation: (value: Value, key: string): number =>
    entryBytes + 2 * key.length + bytesOf(value),
});
