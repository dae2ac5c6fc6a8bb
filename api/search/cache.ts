import { mayAlter } from "#content/search/kept-search.ts";
import type { ProfileWords } from "#content/search/match.ts";
import { facetsOf } from "#content/search/query.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import type { KeptPage } from "./cached-page.ts";

type Entry = {
  page: KeptPage;
  /** The lists that a search without words walks along; empty for one with words. */
  lists: ReadonlySet<string>;
  ghdAligned: boolean;
  foundAtMs: number;
  size: number;
};

/** Changed fields that can alter which searches a profile is found by, or its place in them. */
const searched = new Set([
  "name",
  "tagline",
  "mission",
  "description",
  "causes",
  "country_code",
  "ghd_aligned",
  "beneficiaries_per_year",
  "verified",
  "status",
]);

export const isSearched = ({ kind, fields }: Change): boolean =>
  kind !== "changed" || fields.some((field) => searched.has(field));

const bytesMax = 24 * 1024 * 1024;
const ageMaxMs = 300_000;

/**
 * Pages of searches, each kept as long as it is exact. A change drops the pages that show the profile, those that walk
 * along the lists it moved in, and those with words that it matched or may match now. So a write leaves the answers
 * to other searches standing. A page is five minutes old at most: bm25 leans on averages of the whole directory.
 */
export class SearchCache {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  look(key: string, nowMs: number): KeptPage | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (nowMs - entry.foundAtMs > ageMaxMs) {
      this.drop(key);
      return null;
    }
    this.#entries.delete(key); // The newest stand last.
    this.#entries.set(key, entry);
    return entry.page;
  }

  keep(key: string, query: SearchQuery, page: KeptPage, nowMs: number): void {
    this.drop(key);
    // The array of nonprofits once, its compressed forms, and what is kept about it.
    const size = 0.6 * page.answer.length + (page.kept?.members?.byteLength ?? 0) + 4_000;
    const lists = page.kept === null ? listsOf(query) : new Set<string>();
    const entry = { page, lists, ghdAligned: query.ghd_aligned, foundAtMs: nowMs, size };
    this.#entries.set(key, entry);
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= bytesMax) break;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.size;
  }

  /** Forgets everything: more changed than was told. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** Takes in changes: pages that show a changed profile, and lists that it moved in. */
  take(changes: readonly Change[]): void {
    const ids = new Set(changes.map(({ nonprofit_id }) => nonprofit_id));
    const moving = changes.filter(isSearched);
    const moved = new Set(moving.flatMap(({ moved_lists }) => moved_lists));
    const aligned = moving.some(({ fields }) => fields.includes("ghd_aligned"));
    for (const [key, { page, lists, ghdAligned }] of [...this.#entries]) {
      const isMoved =
        lists.size > 0 && ((aligned && ghdAligned) || [...lists].some((list) => moved.has(list)));
      if (isMoved || page.ids.some((id) => ids.has(id))) this.drop(key);
    }
  }

  /** Takes in what changed profiles say now: pages with words that they matched, or may match now. */
  takeWords(profiles: readonly ProfileWords[]): void {
    if (profiles.length === 0) return;
    for (const [key, { page }] of [...this.#entries]) {
      const { kept } = page;
      if (kept !== null && profiles.some((profile) => mayAlter(kept, profile))) this.drop(key);
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
