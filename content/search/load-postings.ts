import { oneMore } from "./bm25.ts";
import { doubled } from "./doubled.ts";
import { SortedWords } from "./sorted-words.ts";
import { idsPerRank, IndexedPlaces } from "./indexed-places.ts";
import type { StoredPostings } from "./postings.ts";
import type { Queryable } from "#content/store/open.ts";

/** A search index as it was read: what changed while it was being read may or may not be in it. */
export type LoadedIndex = {
  postings: StoredPostings;
  places: IndexedPlaces;
  /** Words as they are written in profiles. */
  words: SortedWords;
};

/** Above so many occurrences of words, some 200,000 profiles, the index stays where it is: reading it takes too long. */
const occurrencesMax = 10_000_000;
const placesPerQuery = 20_000;
/** Letters that one query answers: so long nothing else is done. */
const chunkLength = 1_000_000;
/** Next to each other may stand some that nearly all profiles have. */
const stemsPerQueryMax = 32;
const wordsPerQuery = 10_000;

/**
 * Reads the search index of an embedded store into memory, 0.4 µs an occurrence. Between two queries it waits for
 * `pause`, so that others get their turn. Null when there is too much of it.
 */
export async function loadIndex(
  store: Queryable,
  pause: () => Promise<void>,
): Promise<LoadedIndex | null> {
  await prepareLoading(store);
  const places = await readPlaces(store, pause);
  if (places.profiles * places.wordsAverage > occurrencesMax) return null;
  const postings = await readPostings(store, pause, places.profiles * places.wordsAverage);
  return { postings, places, words: await readWords(store, pause) };
}

/** Makes the table that `loadIndex` reads, for this connection alone: before it may no longer write. */
export async function prepareLoading(store: Queryable): Promise<void> {
  const sql = `CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_instances
               USING fts5vocab(main, search_index, instance)`;
  await store.raw.execute({ sql, args: [] });
}

async function readPlaces(store: Queryable, pause: () => Promise<void>): Promise<IndexedPlaces> {
  const places = new IndexedPlaces();
  let last = -1;
  for (;;) {
    const { rows } = await store.raw.execute({
      sql: `SELECT max(id) AS last, group_concat(id || ' ' || hex(sz)) AS found
            FROM (SELECT id, sz FROM search_index_docsize WHERE id > ? ORDER BY id LIMIT ?)`,
      args: [last, placesPerQuery],
    });
    const found = rows[0]?.["found"];
    if (typeof found !== "string") return places;
    for (const line of found.split(",")) {
      const place = Number.parseFloat(line);
      const sizes = line.slice(line.indexOf(" ") + 1);
      const rank = Math.floor(place / idsPerRank);
      places.set(place % idsPerRank, { rank, words: wordsIn(Buffer.from(sizes, "hex")) });
    }
    last = Number(rows[0]?.["last"]);
    await pause();
  }
}

/** The sum of the varints of a docsize record: seven bits a byte, the high bit says that more follow. */
function wordsIn(record: Uint8Array): number {
  let [sum, value] = [0, 0];
  for (const byte of record) {
    value = value * 128 + (byte & 127);
    if (byte > 127) continue;
    sum += value;
    value = 0;
  }
  return sum;
}

async function readPostings(
  store: Queryable,
  pause: () => Promise<void>,
  occurrences: number,
): Promise<StoredPostings> {
  const writer = new PostingsWriter(occurrences);
  let last = "";
  let stems = stemsPerQueryMax;
  let unpaused = 0;
  for (;;) {
    // Columns are told apart by their first letter; the table yields stems in order, and the profiles of each.
    const { rows } = await store.raw.execute({
      sql: `SELECT group_concat(term || ' ' || found, char(10)) AS chunk, max(term) AS last
            FROM (
              SELECT term, group_concat((doc & 4294967295) * 128 + unicode(col)) AS found
              FROM temp.search_instances
              WHERE term > ?
              GROUP BY term
              LIMIT ?
            )`,
      args: [last, stems],
    });
    const chunk = rows[0]?.["chunk"];
    if (typeof chunk !== "string") return writer.done();
    writer.write(chunk);
    last = String(rows[0]?.["last"]);
    const wanted = Math.floor((stems * chunkLength) / chunk.length);
    stems = Math.min(stemsPerQueryMax, Math.max(1, wanted));
    unpaused += chunk.length;
    if (unpaused < chunkLength) continue;
    await pause();
    unpaused = 0;
  }
}

async function readWords(store: Queryable, pause: () => Promise<void>): Promise<SortedWords> {
  const words = new SortedWords();
  for (let last = ""; ;) {
    const { rows } = await store.raw.execute({
      sql: `SELECT json_group_array(term) AS found
            FROM (SELECT term FROM search_vocabulary WHERE term > ? LIMIT ?)`,
      args: [last, wordsPerQuery],
    });
    const found = JSON.parse(String(rows[0]?.["found"] ?? "[]")) as string[];
    for (const word of found) words.push(word);
    if (found.length < wordsPerQuery) return words;
    last = found.at(-1) ?? last;
    await pause();
  }
}

const newline = 10;
const comma = 44;
const zero = 48;
/** Name, tagline, mission, description, facets. */
const textOfLetter = new Map(
  ["n", "t", "m", "d", "f"].map((letter, at) => [letter.charCodeAt(0), at]),
);

class PostingsWriter {
  readonly #stems = new SortedWords();
  #starts = new Uint32Array(1_024);
  #ids: Uint32Array<ArrayBuffer>;
  #counts: Uint32Array<ArrayBuffer>;
  #pairs = new Float64Array(1_024);
  #count = 0;

  /** `occurrences` is about how many there will be: memory that is never written to costs nothing. */
  constructor(occurrences: number) {
    this.#ids = new Uint32Array(occurrences + 1_024);
    this.#counts = new Uint32Array(occurrences + 1_024);
  }

  /** Lines of a stem, a space, and one number for each occurrence: 128 times the id, and the letter of the column. */
  write(chunk: string): void {
    for (let at = 0; at < chunk.length; at++) {
      const end = chunk.indexOf(" ", at);
      this.#begin(chunk.slice(at, end));
      let number = 0;
      for (at = end + 1; ; at++) {
        const code = at < chunk.length ? chunk.charCodeAt(at) : newline;
        if (code !== comma && code !== newline) {
          number = number * 10 + code - zero;
          continue;
        }
        this.#add(Math.floor(number / 128), textOfLetter.get(number % 128) ?? 0);
        number = 0;
        if (code === newline) break;
      }
      this.#sort();
    }
  }

  done(): StoredPostings {
    return {
      stems: this.#stems,
      starts: this.#starts.slice(0, this.#stems.count + 1),
      ids: this.#ids.subarray(0, this.#count),
      counts: this.#counts.subarray(0, this.#count),
    };
  }

  #begin(stem: string): void {
    this.#stems.push(stem);
    if (this.#stems.count >= this.#starts.length) this.#starts = doubled(this.#starts);
    this.#starts[this.#stems.count] = this.#count;
  }

  /** The table yields the profiles of a stem in the order of their places; postings are in the order of ids. */
  #sort(): void {
    const from = this.#starts[this.#stems.count - 1] ?? 0;
    const length = this.#count - from;
    if (length > this.#pairs.length) this.#pairs = new Float64Array(2 * length);
    const pairs = this.#pairs.subarray(0, length);
    for (let at = 0; at < pairs.length; at++) {
      pairs[at] = (this.#ids[from + at] ?? 0) * idsPerRank + (this.#counts[from + at] ?? 0);
    }
    pairs.sort();
    for (let at = 0; at < pairs.length; at++) {
      const pair = pairs[at] ?? 0;
      this.#ids[from + at] = Math.floor(pair / idsPerRank);
      this.#counts[from + at] = pair % idsPerRank;
    }
  }

  #add(id: number, text: number): void {
    const stem = this.#stems.count - 1;
    const last = this.#count - 1;
    if (last < (this.#starts[stem] ?? 0) || this.#ids[last] !== id) {
      if (this.#count === this.#ids.length) {
        this.#ids = doubled(this.#ids);
        this.#counts = doubled(this.#counts);
      }
      this.#ids[this.#count++] = id;
    }
    const at = this.#count - 1;
    this.#counts[at] = oneMore(this.#counts[at] ?? 0, text);
    this.#starts[stem + 1] = this.#count;
  }
}
