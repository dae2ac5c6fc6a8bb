/** A stream of numbers that depends on nothing but its seeds: the same on every machine and in every run. */
export type Random = ReturnType<typeof randomOf>;

/** Chris Doty-Humphrey's sfc32, started from two numbers: 32 bits a step, integer arithmetic only. */
export function randomOf(seed: number, index: number) {
  let [a, b, c, counter] = [seed | 0, index | 0, 0x9e3779b9 | 0, 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let warmUp = 0; warmUp < 12; warmUp += 1) next();
  const below = (bound: number): number => Math.floor((next() / 2 ** 32) * bound);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  return {
    /** An integer from 0 to below `bound`; bound at most 2^32. */
    below,
    /** An integer from `low` to `high`, both included. */
    between: (low: number, high: number): number => low + below(high - low + 1),
    /** True in `percent` of 100 cases. */
    chance: (percent: number): boolean => below(1_000) < percent * 10,
    pick,
    /** `count` different items in random order, fewer when there are not so many. */
    some: <Item>(items: readonly Item[], count: number): Item[] => {
      // Of a few items from a short list: drawing again costs less than copying the list.
      const drawn: number[] = [];
      while (drawn.length < Math.min(count, items.length)) {
        const at = below(items.length);
        if (!drawn.includes(at)) drawn.push(at);
      }
      return drawn.map((at) => items[at] as Item);
    },
    /** An item, as often as its weight says. */
    weighted: <Item>(table: readonly (readonly [item: Item, weight: number])[]): Item => {
      let left = below(table.reduce((sum, [, weight]) => sum + weight, 0));
      const [item] = table.find(([, weight]) => (left -= weight) < 0) as (typeof table)[number];
      return item;
    },
  };
}
