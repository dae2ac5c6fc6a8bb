import { doubled } from "./doubled.ts";

/**
 * A list of words in the order of their UTF-8 bytes, without an object for each: half a million words take the room of
 * their letters.
 */
export class SortedWords {
  #bytes = new Uint8Array(1_024);
  #starts = new Uint32Array(64);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds a word, which must stand behind all others. */
  push(word: string): void {
    const start = this.#starts[this.#count] ?? 0;
    const most = start + 3 * word.length;
    if (most > this.#bytes.length) this.#bytes = grown(this.#bytes, 2 * most);
    if (this.#count + 2 > this.#starts.length) {
      this.#starts = doubled(this.#starts);
    }
    const { written } = utf8.encodeInto(word, this.#bytes.subarray(start));
    this.#starts[++this.#count] = start + written;
  }

  /** The word of this number. */
  at(number: number): string {
    return text.decode(this.#bytes.subarray(this.#starts[number], this.#starts[number + 1]));
  }

  /** The number of a word; -1 when it is not in the list. */
  indexOf(word: string): number {
    const bytes = utf8.encode(word);
    const at = this.#firstNotBefore(bytes);
    return at < this.#count && this.#compare(at, bytes) === 0 && this.#lengthAt(at) === bytes.length
      ? at
      : -1;
  }

  /** The numbers of the words that begin so: from the first up to, but not including, the second. */
  beginning(start: string): [number, number] {
    const bytes = utf8.encode(start);
    const from = this.#firstNotBefore(bytes);
    let [low, high] = [from, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, bytes) === 0) low = middle + 1;
      else high = middle;
    }
    return [from, low];
  }

  #firstNotBefore(bytes: Uint8Array): number {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, bytes);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Below 0 when the word stands before `bytes`, 0 when it begins with them, above 0 when it stands behind. */
  #compare(at: number, bytes: Uint8Array): number {
    const start = this.#starts[at] ?? 0;
    const length = this.#lengthAt(at);
    for (let place = 0; place < bytes.length; place++) {
      if (place === length) return -1;
      const order = (this.#bytes[start + place] ?? 0) - (bytes[place] ?? 0);
      if (order !== 0) return order;
    }
    return 0;
  }

  #lengthAt(at: number): number {
    return (this.#starts[at + 1] ?? 0) - (this.#starts[at] ?? 0);
  }
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}
