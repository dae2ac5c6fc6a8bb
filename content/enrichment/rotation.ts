import { dayMs } from "#content/contract/base/time.ts";
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

/**
 * This many of the items, others each day ("YYYY-MM-DD"): the next ones of the list, which begins again at its end. All of
 * them, in their order, when there are no more.
 */
export function shareOfDay<Item>(items: readonly Item[], day: string, count: number): Item[] {
  if (items.length <= count) return [...items];
  const start = (Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs) * count) % items.length;
  return [...items.slice(start), ...items.slice(0, start)].slice(0, count);
}
