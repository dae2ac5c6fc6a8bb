import { doubled } from "./doubled.ts";

/**
 * Texts in UTF-8 by the id of their nonprofit, in one piece of memory of a fixed size: no object for each. When it is
 * full, all are forgotten.
 */
export class TextShelf {
  readonly #bytes: Uint8Array;
  #used = 0;
  #starts = new Uint32Array(1_024);
  #lengths = new Uint32Array(1_024);

  constructor(bytesMax: number) {
    // What is never written to takes no memory.
    this.#bytes = new Uint8Array(bytesMax);
  }

  /** Whether there is a text; an empty one is none. */
  has(id: number): boolean {
    return (this.#lengths[id] ?? 0) > 0;
  }

  /** The bytes of a text, valid until the next one is put. */
  get(id: number): Uint8Array {
    const start = this.#starts[id] ?? 0;
    return this.#bytes.subarray(start, start + (this.#lengths[id] ?? 0));
  }

  put(id: number, text: string): void {
    const most = 3 * text.length;
    if (this.#used + most > this.#bytes.length) this.clear();
    while (id >= this.#lengths.length) {
      this.#starts = doubled(this.#starts);
      this.#lengths = doubled(this.#lengths);
    }
    const { written } = utf8.encodeInto(text, this.#bytes.subarray(this.#used));
    this.#starts[id] = this.#used;
    this.#lengths[id] = written;
    this.#used += written;
  }

  drop(id: number): void {
    if (id < this.#lengths.length) this.#lengths[id] = 0;
  }

  clear(): void {
    this.#lengths.fill(0);
    this.#used = 0;
  }
}

const utf8 = new TextEncoder();
