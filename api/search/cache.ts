import { facetsOf } from "#content/rules/search-query.ts";
import type { SearchQuery } from "#content/shapes/search.ts";
import type { Change } from "#content/store/changes.ts";
import type { KeptPage } from "./engine.ts";

type Entry = {
  page: KeptPage;
  /** The lists that a search without words walks along; null for one with words. */
  lists: ReadonlySet<string> | null;
  ghdAligned: boolean;
  /** The newest change that the page is known to hold for. */
  sequence: number;
  foundAtMs: number;
  size: number;
};

/** What a look into the cache finds. `changedIds`: the page holds if none of these is among its matches. */
export type Looked =
  | { kind: "missing" }
  | { kind: "fresh"; page: KeptPage }
  | { kind: "doubtful"; page: KeptPage; changedIds: number[] };

/** Changed fields that can alter which searches a profile is found by, or its place in them. */
const searched = new Set([
  "name", "tagline", "mission", "description", "causes", "country_code", "ghd_aligned", "beneficiaries_per_year",
  "verified", "status",
]); // prettier-ignore

const bytesMax = 48 * 1024 * 1024;
const ageMaxMs = 300_000;
const changesKeptMax = 200;

/**
 * Pages of searches, each kept as long as it is exact. A change drops the pages that show the changed profile and the
 * lists it moved in; every other page with words becomes doubtful when the words or filters of the profile changed,
 * and is looked at again when next asked for. So a write leaves the answers to other searches standing.
 */
export class SearchCache {
  readonly #entries = new Map<string, Entry>();
  readonly #keysById = new Map<number, Set<string>>();
  #changed: { sequence: number; id: number }[] = [];
  #bytes = 0;
  #version = 0;

  /** Another number after each change of words or filters: what is learnt of the index holds for one of these. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#entries.size;
  }

  look(key: string, nowMs: number): Looked {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { kind: "missing" };
    if (nowMs - entry.foundAtMs > ageMaxMs) {
      this.drop(key);
      return { kind: "missing" };
    }
    this.#entries.delete(key); // The newest stand last.
    this.#entries.set(key, entry);
    const { page, sequence } = entry;
    const later = this.#changed.filter((change) => change.sequence > sequence);
    if (entry.lists !== null || later.length === 0) return { kind: "fresh", page };
    return { kind: "doubtful", page, changedIds: [...new Set(later.map(({ id }) => id))] };
  }

  /** Keeps a page that was found when `sequence` was the newest change. */
  keep(key: string, query: SearchQuery, page: KeptPage, at: { sequence: number; nowMs: number }) {
    this.drop(key);
    // The answer, its compressed forms, and what is kept about it.
    const size = 1.5 * page.answer.body.byteLength + 4 * (page.match?.length ?? 0) + 1_000;
    const entry: Entry = {
      page,
      lists: page.match === null ? listsOf(query) : null,
      ghdAligned: query.ghd_aligned,
      sequence: at.sequence,
      foundAtMs: at.nowMs,
      size,
    };
    this.#entries.set(key, entry);
    this.#bytes += size;
    for (const id of page.ids) {
      const keys = this.#keysById.get(id) ?? new Set();
      this.#keysById.set(id, keys.add(key));
    }
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= bytesMax) break;
      this.drop(oldest);
    }
  }

  /** The page holds for all changes up to `sequence`. */
  confirm(key: string, sequence: number): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.sequence = Math.max(entry.sequence, sequence);
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.size;
    for (const id of entry.page.ids) {
      const keys = this.#keysById.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysById.delete(id);
    }
  }

  /** Forgets everything: more changed than was told. */
  clear(): void {
    this.#version += 1;
    this.#entries.clear();
    this.#keysById.clear();
    this.#changed = [];
    this.#bytes = 0;
  }

  /** Takes in changes, oldest first. */
  take(changes: readonly Change[]): void {
    for (const change of changes) {
      const id = change.nonprofit_id;
      if (id === null) continue;
      for (const key of [...(this.#keysById.get(id) ?? [])]) this.drop(key);
      if (change.kind === "changed" && !change.fields.some((field) => searched.has(field)))
        continue;
      this.#version += 1;
      this.#changed.push({ sequence: change.sequence, id });
      this.#dropMoved(change);
    }
    const surplus = this.#changed.length - changesKeptMax;
    if (surplus <= 0) return;
    const forgotten = this.#changed[surplus - 1]?.sequence ?? 0;
    this.#changed = this.#changed.slice(surplus);
    for (const [key, { lists, sequence }] of [...this.#entries]) {
      if (lists === null && sequence < forgotten) this.drop(key);
    }
  }

  #dropMoved({ moved_lists, fields }: Change): void {
    const aligned = fields.includes("ghd_aligned");
    for (const [key, { lists, ghdAligned }] of [...this.#entries]) {
      if (lists === null) continue;
      if ((aligned && ghdAligned) || moved_lists.some((list) => lists.has(list))) this.drop(key);
    }
  }
}

/** The lists whose order or members a search without words depends on; none when it can find nothing. */
function listsOf(query: SearchQuery): ReadonlySet<string> {
  const facets = query.q === null ? facetsOf(query) : null;
  if (facets === null) return new Set();
  const lists = facets.flatMap(({ list }) => list ?? []);
  return new Set(lists.length === 0 ? ["all"] : lists);
}
