// Loops count here: walking a typed array with an iterator takes ten times as long.

/** Ids in ascending order, each once. */
export type IdSet = Uint32Array;

/**
 * Memory for sets that are of no use once a question is answered: taken piece by piece, and given back all at once. A
 * search needs some hundred kB for some hundred µs; left to the garbage collector, that is most of what a process holds.
 */
export class Scratch {
  readonly #lengthMax: number;
  #memory = new Uint32Array(4_096);
  #used = 0;
  #wanted = 0;

  /** Holds at most `lengthMax` ids; what is more comes from elsewhere. */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  /** Room for a set; what it holds is any. To be kept or cut short by `keep` before the next is taken. */
  take(length: number): IdSet {
    this.#wanted += length;
    if (this.#used + length > this.#memory.length) return new Uint32Array(length);
    return this.#memory.subarray(this.#used, this.#used + length);
  }

  /** The first `count` ids of what was taken last; the rest is free again. */
  keep(taken: IdSet, count: number): IdSet {
    if (taken.buffer === this.#memory.buffer) this.#used += count;
    return taken.subarray(0, count);
  }

  /** Gives everything back: sets that were taken hold nothing any more. */
  clear(): void {
    if (this.#wanted > this.#memory.length && this.#memory.length < this.#lengthMax) {
      this.#memory = new Uint32Array(Math.min(this.#lengthMax, 2 * this.#wanted));
    }
    [this.#used, this.#wanted] = [0, 0];
  }
}

/** So many times longer, and looking up is quicker than walking along. */
const muchLonger = 16;

/** What is in both. */
export function intersection(one: IdSet, other: IdSet, scratch: Scratch): IdSet {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  const found = scratch.take(short.length);
  const leap = long.length > muchLonger * short.length;
  let count = 0;
  let at = 0;
  for (let place = 0; place < short.length; place++) {
    const id = short[place] ?? 0;
    if (leap) at = placeOf(long, id, at);
    else while (at < long.length && (long[at] ?? 0) < id) at++;
    if (at === long.length) break;
    if (long[at] === id) found[count++] = id;
  }
  return scratch.keep(found, count);
}

/** What is in the first and not in the second. */
export function difference(from: IdSet, unwanted: IdSet, scratch: Scratch): IdSet {
  if (unwanted.length === 0) return from;
  const left = scratch.take(from.length);
  const leap = unwanted.length > muchLonger * from.length;
  let count = 0;
  let at = 0;
  for (let place = 0; place < from.length; place++) {
    const id = from[place] ?? 0;
    if (leap) at = placeOf(unwanted, id, at);
    else while (at < unwanted.length && (unwanted[at] ?? 0) < id) at++;
    if (unwanted[at] !== id) left[count++] = id;
  }
  return scratch.keep(left, count);
}

/** What is in any of them. */
export function union(sets: readonly IdSet[], scratch: Scratch): IdSet {
  const filled = sets.filter((set) => set.length > 0);
  if (filled.length <= 1) return filled[0] ?? new Uint32Array(0);
  const bits = new IdBits(Math.max(...filled.map((set) => set[set.length - 1] ?? 0)));
  for (const set of filled) bits.addAll(set);
  const ids = scratch.take(bits.count());
  return scratch.keep(ids, bits.write(ids));
}

/** A set of ids from 0 to `idMax`, quick to add to in any order. */
export class IdBits {
  readonly #bits: Uint32Array;

  constructor(idMax: number) {
    this.#bits = new Uint32Array((idMax >>> 5) + 1);
  }

  addAll(ids: IdSet): void {
    const bits = this.#bits;
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] ?? 0;
      bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31));
    }
  }

  has(id: number): boolean {
    return (((this.#bits[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1;
  }

  count(): number {
    const bits = this.#bits;
    let count = 0;
    for (let place = 0; place < bits.length; place++) count += bitsIn(bits[place] ?? 0);
    return count;
  }

  /** Writes the ids in ascending order; answers how many. */
  write(ids: IdSet): number {
    const bits = this.#bits;
    let at = 0;
    for (let place = 0; place < bits.length; place++) {
      for (let left = bits[place] ?? 0; left !== 0; left &= left - 1) {
        ids[at++] = (place << 5) | (31 - Math.clz32(left & -left));
      }
    }
    return at;
  }
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** Where `id` stands in the set, or would: the first place from `from` on whose id is not smaller. */
export function placeOf(set: IdSet, id: number, from = 0): number {
  let step = 1;
  let low = from;
  while (low + step < set.length && (set[low + step] ?? 0) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(set.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((set[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
