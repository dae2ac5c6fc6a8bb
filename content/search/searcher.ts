import { type KeptMatch, sketchOf } from "./kept-search.ts";
import { type ProfileWords, stemMatch } from "./match.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import { idsPerRank } from "./indexed-places.ts";
import { loadIndex } from "./load-postings.ts";
import { ProfileTexts } from "./profile-texts.ts";
import type { Queryable } from "#content/store/open.ts";
import { FtsIndex } from "./by-fts.ts";
import { PostingsIndex } from "./by-postings.ts";
import { searchNonprofits, type SearchPage } from "./search.ts";
import { Stemmer, type Texts } from "./stems.ts";

/** One page of a search. */
export type FoundPage = {
  total: number;
  ids: number[];
  /** The JSON text of the array of summaries, in UTF-8. Valid while `make` runs. */
  nonprofits: Uint8Array;
  /** What tells whether a change alters the page; null for a search without words. */
  kept: KeptMatch | null;
};

/** A profile that changed; `searched` when its words, filters or place did. */
export type ChangedProfile = { id: number; searched: boolean };

export type SearcherOptions = {
  /** Whether the index is read into memory, in the background: for an embedded store only. */
  inMemory: boolean;
  /** A failure to read it: searches go on through FTS5. */
  onError?: (error: unknown) => void;
};

/** More changed profiles than this, and the index is read into memory anew. */
const changedMax = 500;
const quietBeforeLoadMs = 2_000;

/**
 * Searches one store, and keeps what it learns of it. It must be told of changes (`change`); a search begun after that
 * was answered has them. Embedded stores are asked one question after another: each is synchronous anyway.
 */
export class Searcher {
  readonly #store: Queryable;
  readonly #options: SearcherOptions;
  readonly #texts: ProfileTexts;
  readonly #fts: FtsIndex;
  readonly #stemmer = new Stemmer();
  #memory: PostingsIndex | null = null;
  /** Profiles that changed while the index is being read; null when it is not. */
  #changedMeanwhile: Set<number> | null = null;
  /** Another number each time more changed than was told: an index read before that is of no use. */
  #upheavals = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  readonly #loaded = Promise.withResolvers<void>();

  constructor(store: Queryable, options: SearcherOptions) {
    this.#store = store;
    this.#options = options;
    this.#texts = new ProfileTexts(store);
    this.#fts = new FtsIndex(store);
    if (options.inMemory) this.#loadAfter(0);
    else this.#loaded.resolve();
  }

  /** Settled once the index was read into memory for the first time, or could not be. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Finds a page and makes of it what is needed. */
  find<Made>(query: SearchQuery, make: (found: FoundPage) => Made): Promise<Made> {
    return this.#inTurn(async () => {
      this.#memory?.begin();
      const index = this.#memory ?? this.#fts;
      const found = await searchNonprofits(
        { store: this.#store, index, texts: this.#texts },
        query,
      );
      const { total, ids } = found;
      const kept = await this.#kept(found);
      await this.#texts.learnSummaries(ids);
      return make({ total, ids, kept, nonprofits: this.#texts.page(ids) });
    });
  }

  /** Takes in that profiles changed, null for too many to tell. Answers what those say now that are searched. */
  change(changes: readonly ChangedProfile[] | null): Promise<ProfileWords[] | null> {
    return this.#inTurn(async () => {
      if (changes === null) {
        this.#texts.forget();
        this.#fts.forget();
        this.#memory = null;
        this.#upheavals += 1;
        if (this.#options.inMemory) this.#loadAfter(quietBeforeLoadMs);
        return null;
      }
      for (const { id } of changes) this.#texts.forget(id);
      const searched = changes.filter((change) => change.searched).map(({ id }) => id);
      if (searched.length === 0) return [];
      for (const id of searched) this.#changedMeanwhile?.add(id);
      const words = await this.#takeIn(searched);
      if ((this.#memory?.changed ?? 0) > changedMax) this.#loadAfter(0);
      return words;
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#stemmer.close();
  }

  async #kept({ match, total }: SearchPage): Promise<KeptMatch | null> {
    if (match === null) return null;
    const members = total === 0 ? [] : await (this.#memory ?? this.#fts).members(match);
    const stems = stemMatch(match, (text) => this.#stemmer.of(text));
    return { match: stems, members: members === null ? null : sketchOf(members) };
  }

  async #takeIn(ids: readonly number[]): Promise<ProfileWords[]> {
    const told: ProfileWords[] = [];
    for (const id of ids) {
      const document = await this.#document(id);
      const stems = document === undefined ? [] : this.#stemmer.ofProfile(document.texts);
      const words = document === undefined ? [] : this.#stemmer.wordsOf(document.texts);
      this.#memory?.change(id, { rank: document?.rank ?? null, stems, words });
      told.push({ id, stems: [...new Set(stems.map(({ stem }) => stem))], words });
    }
    this.#fts.forget(told.flatMap(({ words }) => words));
    return told;
  }

  /** What the index holds of a profile; undefined when it is in no list. Queryable for several at once, SQLite scans all. */
  async #document(id: number): Promise<{ rank: number; texts: Texts } | undefined> {
    const { rows } = await this.#store.raw.execute({
      sql: `SELECT json_array(place, name, tagline, mission, description, facets) AS found
            FROM search_documents
            WHERE nonprofit_id = ?`,
      args: [id],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const [place, ...texts] = JSON.parse(String(row["found"])) as [number, ...(string | null)[]];
    return { rank: Math.floor(place / idsPerRank), texts };
  }

  #loadAfter(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), waitMs);
    this.#timer.unref();
  }

  async #load(): Promise<void> {
    if (this.#changedMeanwhile !== null) return this.#loadAfter(quietBeforeLoadMs);
    const meanwhile = new Set<number>();
    const upheavals = this.#upheavals;
    this.#changedMeanwhile = meanwhile;
    const bell = new MessageChannel();
    try {
      const loaded = await loadIndex(this.#store, () => turnOf(bell));
      await this.#inTurn(async () => {
        if (loaded === null || upheavals !== this.#upheavals) return;
        this.#memory = new PostingsIndex(loaded, this.#stemmer, this.#fts);
        await this.#takeIn([...meanwhile]);
      });
    } catch (error) {
      if (!this.#closed) this.#options.onError?.(error);
    } finally {
      bell.port1.close();
      this.#changedMeanwhile = null;
      this.#loaded.resolve();
    }
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (!this.#options.inMemory) return work();
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Lets others go first who asked before. A timer would wait until nobody asks: messages go before timers. */
const turnOf = ({ port1, port2 }: MessageChannel): Promise<void> =>
  new Promise((resolve) => {
    port1.addEventListener("message", () => resolve(), { once: true });
    port1.start();
    port2.postMessage(null);
  });
