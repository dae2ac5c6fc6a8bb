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

  forget(key: string): void {
    this.#known.delete(key);
  }

  clear(): void {
    this.#known.clear();
  }
}
