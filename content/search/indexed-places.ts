import type { IdSet } from "./id-sets.ts";

/** A place holds the nonprofit's id in its low 32 bits and its rank above them; see the view search_places. */
export const idsPerRank = 2 ** 32;
export const rankMax = 511;

/** The rank of a profile that stands in no list. */
const unlisted = 0xffff;

/** Which profiles the index holds, by id: their rank (the foremost by impact is 0) and how many words they have. */
export class IndexedPlaces {
  #ranks = new Uint16Array(1_024).fill(unlisted);
  #sizes = new Uint32Array(1_024);
  #profiles = 0;
  #words = 0;

  get profiles(): number {
    return this.#profiles;
  }

  get wordsAverage(): number {
    return this.#profiles === 0 ? 1 : this.#words / this.#profiles;
  }

  get sizes(): Uint32Array {
    return this.#sizes;
  }

  place(id: number): number {
    return (this.#ranks[id] ?? unlisted) * idsPerRank + id;
  }

  /** Enters a profile, in place of what was known of it; null when it stands in no list. */
  set(id: number, known: { rank: number; words: number } | null): void {
    while (id >= this.#ranks.length) this.#grow();
    if (this.#ranks[id] !== unlisted) {
      this.#profiles -= 1;
      this.#words -= this.#sizes[id] ?? 0;
    }
    this.#ranks[id] = known?.rank ?? unlisted;
    this.#sizes[id] = known?.words ?? 0;
    if (known === null) return;
    this.#profiles += 1;
    this.#words += known.words;
  }

  /** Were `ids` put in the order of places: those from `from` up to, but not including, `to`. */
  ordered(ids: IdSet, from: number, to: number): Uint32Array {
    const ranks = this.#ranks;
    const starts = new Uint32Array(rankMax + 2);
    for (let at = 0; at < ids.length; at++) {
      const rank = ranks[ids[at] ?? 0] ?? unlisted;
      if (rank <= rankMax) starts[rank + 1] = (starts[rank + 1] ?? 0) + 1;
    }
    // Where the ids of each rank begin; then only those of ranks that reach into the span are looked at.
    for (let rank = 1; rank < starts.length; rank++) {
      starts[rank] = (starts[rank] ?? 0) + (starts[rank - 1] ?? 0);
    }
    const end = Math.min(to, starts[rankMax + 1] ?? 0);
    const found = new Uint32Array(Math.max(0, end - from));
    let missing = found.length;
    for (let at = 0; at < ids.length && missing > 0; at++) {
      const id = ids[at] ?? 0;
      const rank = ranks[id] ?? unlisted;
      const place = rank <= rankMax ? (starts[rank] ?? 0) : end;
      if (place >= end) continue;
      starts[rank] = place + 1;
      if (place < from) continue;
      found[place - from] = id;
      missing -= 1;
    }
    return found;
  }

  #grow(): void {
    const ranks = new Uint16Array(2 * this.#ranks.length).fill(unlisted);
    const sizes = new Uint32Array(2 * this.#sizes.length);
    ranks.set(this.#ranks);
    sizes.set(this.#sizes);
    [this.#ranks, this.#sizes] = [ranks, sizes];
  }
}
