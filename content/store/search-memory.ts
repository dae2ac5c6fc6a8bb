const keyLengthMax = 300;

/** Remembers a limited number of answers that take a query to find; the oldest go first. */
export class Memo<Value> {
  readonly #known = new Map<string, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  async get(key: string, find: () => Promise<Value>): Promise<Value> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = await find();
    if (key.length > keyLengthMax) return value;
    if (this.#known.size >= this.#sizeMax) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    this.#known.set(key, value);
    return value;
  }

  clear(): void {
    this.#known.clear();
  }
}

/** What searching learns of the index and can use again, as long as no text or filter of a profile changes. */
export class SearchMemory {
  /** How many match one word. */
  readonly counts = new Memo<number>(5_000);
  /** What a half-typed word may become. */
  readonly completions = new Memo<string[]>(5_000);
  #version = -1;

  /** Forgets everything when `version` is another than last time. */
  at(version: number): this {
    if (version !== this.#version) {
      this.counts.clear();
      this.completions.clear();
      this.#version = version;
    }
    return this;
  }
}
