import { fold } from "#content/nonprofit/text.ts";
import type { Queryable } from "#content/store/open.ts";
import { summariesById } from "#content/nonprofit/summaries.ts";
import { TextShelf } from "./text-shelf.ts";

const namesMax = 100_000;
/** Some 20,000 summaries. */
const summaryBytesMax = 16 * 1_024 * 1_024;

const openBracket = 91;
const comma = 44;
const closeBracket = 93;
const noSummaries = new TextEncoder().encode("[]");

/** Names and summaries of profiles, kept until they are told to have changed. */
export class ProfileTexts {
  #page = new Uint8Array(64 * 1_024);
  readonly #store: Queryable;
  readonly #names = new Map<number, string>();
  readonly #summaries = new TextShelf(summaryBytesMax);

  constructor(store: Queryable) {
    this.#store = store;
  }

  /** Forgets one profile, or all. */
  forget(id?: number): void {
    if (id === undefined) {
      this.#names.clear();
      this.#summaries.clear();
    } else {
      this.#names.delete(id);
      this.#summaries.drop(id);
    }
  }

  /** Names in lower case, without accents and punctuation, in the order of the ids; "" for an unknown one. */
  async names(ids: readonly number[]): Promise<string[]> {
    const missing = ids.filter((id) => !this.#names.has(id));
    if (missing.length > 0) {
      if (this.#names.size + missing.length > namesMax) this.#names.clear();
      const known = ids.map((id) => this.#names.get(id));
      const found = await this.#namesOf(missing);
      for (const [id, name] of found) this.#names.set(id, name);
      return ids.map((id, at) => known[at] ?? this.#names.get(id) ?? "");
    }
    return ids.map((id) => this.#names.get(id) ?? "");
  }

  /** Takes in the summaries of these ids, for `page`. */
  async learnSummaries(ids: readonly number[]): Promise<void> {
    const missing = ids.filter((id) => !this.#summaries.has(id));
    for (const summary of await summariesById(this.#store, missing)) {
      this.#summaries.put(Number(summary.id), JSON.stringify(summary));
    }
  }

  /**
   * The JSON text of the array of NonprofitSummary of these ids, in their order, in UTF-8, valid until the next call.
   * Unknown ids are left out.
   */
  page(ids: readonly number[]): Uint8Array {
    const known = ids.filter((id) => this.#summaries.has(id));
    const length = known.reduce((sum, id) => sum + this.#summaries.get(id).length + 1, 1);
    if (known.length === 0) return noSummaries;
    if (length > this.#page.length) this.#page = new Uint8Array(2 * length);
    let at = 0;
    for (const id of known) {
      this.#page[at] = at === 0 ? openBracket : comma;
      const text = this.#summaries.get(id);
      this.#page.set(text, at + 1);
      at += text.length + 1;
    }
    this.#page[at] = closeBracket;
    return this.#page.subarray(0, at + 1);
  }

  async #namesOf(ids: readonly number[]): Promise<[number, string][]> {
    const { rows } = await this.#store.raw.execute({
      sql: `SELECT json_group_array(json_array(id, name)) AS names
            FROM nonprofits
            WHERE id IN (SELECT value FROM json_each(?))`,
      args: [JSON.stringify(ids)],
    });
    const found = JSON.parse(String(rows[0]?.["names"] ?? "[]")) as [number, string][];
    return found.map(([id, name]) => [id, fold(name)]);
  }
}
