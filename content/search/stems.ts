import { Database, type Statement } from "bun:sqlite";
import { searchedTexts } from "./bm25.ts";

/** One occurrence of a stem in a profile, and the number of the text it stands in. */
export type StemInText = { stem: string; text: number };

/** A profile's texts in the order of `searchedTexts`, then its facets. */
export type Texts = readonly (string | null)[];

type Occurrence = { text: number; offset: number; stem: string };

const knownMax = 20_000;

/**
 * Takes texts apart as the search index does: by FTS5, in a database in memory that holds one question at a time. So no
 * second stemmer has to agree with the one of the index.
 */
export class Stemmer {
  readonly #memory = new Database(":memory:");
  readonly #add: Statement<unknown, [number, string]>;
  readonly #occurrences: Statement<Occurrence, []>;
  readonly #clear: Statement<unknown, []>;
  readonly #addWritten: Statement<unknown, [string]>;
  readonly #written: Statement<{ word: string }, []>;
  readonly #clearWritten: Statement<unknown, []>;
  readonly #known = new Map<string, readonly string[]>();

  constructor() {
    this.#memory.run(tables);
    this.#add = this.#memory.query("INSERT INTO texts (rowid, words) VALUES (?, ?)");
    this.#occurrences = this.#memory.query('SELECT doc AS text, "offset", term AS stem FROM stems');
    this.#clear = this.#memory.query("DELETE FROM texts");
    this.#addWritten = this.#memory.query("INSERT INTO written (words) VALUES (?)");
    this.#written = this.#memory.query("SELECT term AS word FROM written_words");
    this.#clearWritten = this.#memory.query("DELETE FROM written");
  }

  /** The stems of a short text, in their order. */
  of(text: string): readonly string[] {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size >= knownMax) this.#known.clear();
    const stems: string[] = [];
    for (const { offset, stem } of this.#takeApart([text])) stems[offset] = stem;
    this.#known.set(text, stems);
    return stems;
  }

  /** The stems of one profile, one entry for each occurrence; facets have the number after the last text. */
  ofProfile(texts: Texts): StemInText[] {
    return this.#takeApart(texts).map(({ stem, text }) => ({ stem, text }));
  }

  /** The words of a profile as they are written, in lower case and without accents; each once. */
  wordsOf(texts: Texts): string[] {
    this.#addWritten.run(texts.slice(0, searchedTexts.length).join(" ").toWellFormed());
    const words = this.#written.all().map(({ word }) => word);
    this.#clearWritten.run();
    return words;
  }

  close(): void {
    this.#memory.close();
  }

  #takeApart(texts: Texts): Occurrence[] {
    for (const [number, text] of texts.entries())
      this.#add.run(number, (text ?? "").toWellFormed());
    const found = this.#occurrences.all();
    this.#clear.run();
    return found;
  }
}

/** The tokenizers of search_index and search_words; see the migration that makes these. */
const tables = `
  CREATE VIRTUAL TABLE texts USING fts5(
    words, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
  );
  CREATE VIRTUAL TABLE stems USING fts5vocab(texts, instance);
  CREATE VIRTUAL TABLE written USING fts5(
    words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
  );
  CREATE VIRTUAL TABLE written_words USING fts5vocab(written, row);
`;
