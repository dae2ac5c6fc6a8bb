import type { SearchAnswer } from "#content/contract/search.ts";
import { rowNote, type RowWords, warningOf } from "./row.ts";

/** One result, as text: `note` has its place and other facts. */
export type FoundItem = {
  url: string;
  title: string;
  note: string;
  line: string;
  /** What registers say against the organisation. */
  warning?: string | null;
  /** The heading above the first result that is only related. */
  heading?: string | null;
};

export type SearchResults = {
  total: number;
  /** Whether the total is exact: joined shards can be off by a few. */
  exact: boolean;
  /** The service's reading of the words and its note; null when the index found the results. */
  answer: Pick<SearchAnswer, "understood" | "note" | "matching"> | null;
  /** Results from a position (counted from 0); fewer than `count` at the end. */
  items(from: number, count: number): Promise<FoundItem[]>;
};

export type Engine = {
  /** Loads the data for a search for this word in advance. Never fails. */
  preload(word: string): void;
  /** `literal`: take the words as typed. Throws when neither the service nor the index answers. */
  search(words: string, literal: boolean): Promise<SearchResults>;
};

/** Filters of a search: values by filter name, as in the page's address. */
export type Filters = Readonly<Record<string, string>>;

/** The bundle's own index, which needs no service. Its methods throw when a part of it cannot be loaded. */
export type Index = {
  preload(word: string): void;
  /** Without words, it finds everything. */
  find(words: string, filters: Filters): Promise<SearchResults>;
  /** The number of results of `find` with each value of each filter. Loads more than `find` does. */
  counts(
    words: string,
    filters: Filters,
  ): Promise<Readonly<Record<string, Record<string, number>>>>;
};

/**
 * The service, which understands places and typing errors. When it fails, the bundle's own index answers, without a wait
 * until the service has answered again.
 */
export function openEngine(rows: RowWords): Engine {
  let index: Promise<Index> | null = null;
  let isAway = false;
  let requests = 0;
  let lastAnswered = 0;
  return {
    preload: (word) => void index?.then((opened) => opened.preload(word)).catch(() => {}),
    search: async (words, literal) => {
      const request = ++requests;
      const asked = service(words, literal, rows).catch(() => null);
      const answer = asked.then((results) => {
        if (results !== null) lastAnswered = request;
        // The failure of an older request than an answered one says nothing of now.
        if (request >= lastAnswered) isAway = results === null;
        return results;
      });
      const results = isAway ? null : await answer;
      if (results !== null) return results;
      index ??= openIndex();
      try {
        return await (await index).find(words, {});
      } catch (error) {
        index = null;
        throw error;
      }
    },
  };
}

/** A file's JSON; null when there is no such file. */
async function fileAt<Held>(path: string): Promise<Held | null> {
  const answer = await fetch(path);
  return answer.ok ? ((await answer.json()) as Held) : null;
}

/** Opens the bundle's index. Throws when there is none (yet). */
export async function openIndex(): Promise<Index> {
  const manifest = await fileAt<{ shards: number[] }>("/pagefind/shards.json");
  const [first, ...others] = manifest?.shards ?? [];
  return first === undefined ? openNames() : openShards(first, others);
}

/** With too many profiles for a word index, names are in files by the beginning of the slug: docs/search-offline.md. */
async function openNames(): Promise<Index> {
  const index = await fileAt<{ schemes: { NAME?: { split: string[] } } }>("/standing/index.json");
  const split = new Set(index?.schemes.NAME?.split);
  if (split.size === 0) throw new Error("there is no index");
  const find = async (words: string): Promise<SearchResults> => {
    const plain = words
      .normalize("NFKD")
      .replaceAll(/[\p{M}'’.]/gu, "")
      .toLowerCase();
    const slug = plain.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
    let at = 0;
    while (at < slug.length && split.has(slug.slice(0, at))) at += 1;
    const shard = await fileAt<{ organisations: string[][] }>(
      `/standing/NAME/${slug.slice(0, at) || "all"}.json`,
    );
    const items = (shard?.organisations ?? []).flatMap(([entrySlug = "", title = "", note = ""]) =>
      entrySlug.startsWith(slug)
        ? [{ url: `/nonprofits/${entrySlug}`, title, note, line: "" }]
        : [],
    );
    const part = async (from: number, count: number) => items.slice(from, from + count);
    return { total: items.length, exact: true, answer: null, items: part };
  };
  return { preload: () => {}, find, counts: async () => ({}) };
}

/** The name counts most, and long texts get no advantage. Every shard must rank alike. */
const ranking = { pageLength: 0.1, termSimilarity: 3, metaWeights: { title: 8 } };

type PagefindResult = {
  data(): Promise<{ url: string; meta: { title?: string; place?: string; line?: string } }>;
};
type Pagefind = {
  options(options: object): Promise<void>;
  init(): Promise<void>;
  mergeIndex(path: string, options: object): Promise<void>;
  preload(words: string): Promise<void>;
  filters(): Promise<unknown>;
  /** With null, finds everything. `filters`: counts of the results, for the loaded filters. */
  search(
    words: string | null,
    options: { filters: Filters },
  ): Promise<{ results: PagefindResult[]; filters: Record<string, Record<string, number>> }>;
};

async function openShards(first: number, others: readonly number[]): Promise<Index> {
  // The bundler does not know this address, because the index is no part of the compiled site.
  const address = `/pagefind/${first}/pagefind.js`;
  const pagefind = (await import(/* @vite-ignore */ address)) as Pagefind;
  await pagefind.options({ ranking });
  await pagefind.init();
  await Promise.all(others.map((shard) => pagefind.mergeIndex(`/pagefind/${shard}/`, { ranking })));
  const preloaded = new Set<string>();
  return {
    preload: (word) => {
      if (word.length < preloadFrom || preloaded.has(word)) return;
      preloaded.add(word);
      void pagefind.preload(word).catch(() => {});
    },
    find: async (words, filters) => {
      const { results } = await pagefind.search(words || null, { filters });
      return {
        total: results.length,
        exact: false,
        answer: null,
        items: async (from, count) => {
          const here = placeHere();
          const data = results.slice(from, from + count).map((result) => result.data());
          return (await Promise.all(data)).map(
            ({ url, meta: { title = url, place = "", line = "" } }) => ({
              url,
              title,
              note: here(place),
              line,
            }),
          );
        },
      };
    },
    counts: async (words, filters) => {
      await pagefind.filters();
      return (await pagefind.search(words || null, { filters })).filters;
    },
  };
}

/** Shorter words are the beginning of too many words. */
const preloadFrom = 3;

/** Searches through GET /api/search. */
async function service(words: string, literal: boolean, rows: RowWords): Promise<SearchResults> {
  const first = await ask(words, literal, { offset: 0, limit: firstPage });
  const here = placeHere();
  const placeOf = ({ city, country }: SearchAnswer["nonprofits"][number]) =>
    [city, country && here(country)].filter(Boolean).join(", ");
  return {
    total: first.total,
    exact: true,
    answer: first,
    items: async (offset, limit) => {
      const { nonprofits } =
        offset === 0 && limit <= firstPage ? first : await ask(words, literal, { offset, limit });
      return nonprofits.slice(0, limit).map((item, at) => ({
        url: `/nonprofits/${item.slug}`,
        title: item.name,
        note: rowNote(item, placeOf(item), rows),
        line: item.tagline ?? item.mission ?? "",
        warning: warningOf(item, rows),
        heading: offset + at > 0 && offset + at === first.matching ? rows.text("related") : null,
      }));
    },
  };
}

const firstPage = 10;

/** Returns a place whose country, its last part, is in English, in the page's language: browsers know both. */
export function placeHere(): (place: string) => string {
  const { lang } = document.documentElement;
  if (lang === "en" || lang === "") return (place) => place;
  const namesIn = (language: string) =>
    new Intl.DisplayNames(language, { type: "region", fallback: "none" });
  const here = namesIn(lang);
  const inEnglish = namesIn("en");
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCodePoint(65 + at));
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  // Former codes such as DD have names of today's countries, too: the same in each language.
  const names = new Map(codes.map((code) => [inEnglish.of(code) ?? "", here.of(code)]));
  return (place) => {
    const parts = place.split(", ");
    const country = parts.pop() ?? "";
    return [...parts, names.get(country) ?? country].join(", ");
  };
}

/** A reader does not wait longer: the index answers instead. */
const timeoutMs = 5_000;

async function ask(
  words: string,
  literal: boolean,
  { offset, limit }: { offset: number; limit: number },
): Promise<SearchAnswer> {
  const query = new URLSearchParams({ q: words, limit: `${limit}`, offset: `${offset}` });
  if (literal) query.set("literal", "1");
  const answer = await fetch(`/api/search?${query}`, { signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return (await answer.json()) as SearchAnswer;
}
