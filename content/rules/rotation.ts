/**
 * A number in [0, `below`) that changes daily and is spread evenly: where the day's rotation of equals begins.
 * FNV-1a of the day ("YYYY-MM-DD") followed by a mix, so that neighbouring days lie far apart.
 */
export function dayPivot(day: string, below: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < day.length; at++) {
    hash = Math.imul(hash ^ day.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % Math.max(1, below);
}

/** The same items, beginning at the first that is not before the pivot; those before it follow. Order is kept. */
export function rotate<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): Item[] {
  const start = items.findIndex((item) => !isBefore(item));
  return start < 1 ? [...items] : [...items.slice(start), ...items.slice(0, start)];
}
