import Lunr from "lunr";
import { causeName } from "#content/contract/browse.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import causes from "#content/editorial/causes.json";
import { countInList, listCounts } from "#content/nonprofit/list-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { idsInPart, type PartOfList } from "#content/find/browse-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { type DocumentKey, numbered, oneByOne, type Source } from "./document.ts";

/** The key of one part of a cause's search index; parts count from 1. */
export const lunrKey = (cause: string, part: number): DocumentKey => `lunr ${cause} ${part}`;

/**
 * The search index of one part of a cause, with its documents: an agent or an edge function loads it to search without the
 * service. A part takes up to a second, so the profile and list jobs do not render it: full builds do, and
 * site/search/search-job.ts in a process of its own.
 */
export const lunr = oneByOne<Pick<Source, "store">>(
  "lunr",
  async function* ({ store }) {
    for (const [list, count] of await indexedCauses(store)) {
      yield* numbered(lunrPartsFor(count), 1, (part) => lunrKey(list.slice(6), part));
    }
  },
  async ({ store }, cause = "", number = "") => {
    const part = Number(number);
    const list = `cause:${cause}`;
    const parts = lunrPartsFor(await countInList(store, list));
    const path = lunrPath(cause, part, parts);
    const documents = await searchDocuments(store, { list, parts, residue: part - 1 });
    const body = documents.length === 0 ? null : lunrShard({ cause, part, parts }, documents);
    return { path, body };
  },
);

/**
 * With more nonprofits there are no word indexes, only names by their beginnings (standing.ts). Pagefind is made for tens
 * of thousands of pages (pagefind.app) and makes one index of all; a cause in lunr would be a hundred files.
 */
const indexedMax = 50_000;
export const hasManyProfiles = async (store: Queryable): Promise<boolean> =>
  (await countInList(store, "all")) > indexedMax;

/** The number of nonprofits in each cause with an index; empty when there are too many for indexes. */
export const indexedCauses = async (store: Queryable): Promise<Map<string, number>> =>
  (await hasManyProfiles(store))
    ? new Map()
    : listCounts(
        store,
        causes.map(({ id }) => `cause:${id}`),
      );

/** The most nonprofits in one file: even with the longest indexed texts it stays well below 2 MB in brotli. */
export const lunrDocumentsMax = 3_000;
/** The most parts of a cause; a change is looked up by its id's residue modulo this. */
export const lunrPartsMax = 1_024;

/**
 * The number of parts of a cause: a power of two, so that parts stay the same while a cause grows, and doubling cuts each
 * part in two. The id alone determines a nonprofit's part.
 */
export function lunrPartsFor(count: number): number {
  let parts = 1;
  while (parts < lunrPartsMax && count > parts * lunrDocumentsMax) parts *= 2;
  return parts;
}

/** The path of a part, without a leading slash. Parts count from 1. */
export const lunrPath = (cause: string, part: number, parts: number): string =>
  parts === 1 ? `search/${cause}.lunr.json` : `search/${cause}-${part}.lunr.json`;

/** The beginning of a file, before the documents and the index. */
export type LunrHead = { cause: string; part: number; parts: number; count: number };

/** Longer texts are indexed up to here only, because files must stay small. */
const nameCharactersMax = 200;
const taglineCharactersMax = 160;
const missionCharactersMax = 300;

/**
 * Makes one file: its head, the documents, and a lunr 2 index whose refs are positions in the list of documents. Depends on
 * the documents alone, so any process may make it. Takes about 0.2 ms per document.
 */
export function lunrShard(
  head: Omit<LunrHead, "count">,
  documents: readonly SearchDocument[],
): string {
  const builder = new Lunr.Builder();
  builder.pipeline.add(Lunr.stopWordFilter, Lunr.stemmer);
  builder.searchPipeline.add(Lunr.stemmer);
  builder.ref("ref");
  builder.field("name", { boost: 8 });
  builder.field("tagline", { boost: 2 });
  builder.field("mission");
  for (const [at, { name, tagline, mission }] of documents.entries()) {
    builder.add({
      ref: String(at),
      name: plainWords(name.slice(0, nameCharactersMax)),
      tagline: plainWords((tagline ?? "").slice(0, taglineCharactersMax)),
      mission: plainWords((mission ?? "").slice(0, missionCharactersMax)),
    });
  }
  const whole: LunrHead = { ...head, count: documents.length };
  const index = builder.build();
  return `${JSON.stringify({ ...whole, documents: documents.map(entryOf), index })}\n`;
}

const entryOf = ({ slug, name, tagline, country }: SearchDocument) => ({
  slug,
  name,
  tagline,
  country,
});

/**
 * Removes accents and punctuation, in any script, which lunr does not do. Queries must be treated in the same way;
 * docs/search-offline.md shows how.
 */
const plainWords = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/[\p{M}'’]/gu, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ");

/** Reads the head of a file from its first bytes; null for other bytes. */
export function lunrHead(start: string): LunrHead | null {
  const header = /^\{"cause":"([a-z-]+)","part":(\d+),"parts":(\d+),"count":(\d+),/.exec(start);
  if (header === null) return null;
  const [, cause = "", part, parts, count] = header;
  return { cause, part: Number(part), parts: Number(parts), count: Number(count) };
}

/** The document of a listed nonprofit in every search index. Names are in English. */
export type SearchDocument = ReturnType<typeof searchDocument>;

const searchDocument = (summary: NonprofitSummary) => ({
  /** Path of the profile, without the origin. */
  url: `/nonprofits/${summary.slug}`,
  slug: summary.slug,
  name: summary.name,
  tagline: summary.tagline,
  mission: summary.mission,
  country: summary.country,
  region: summary.region,
  city: summary.city,
  /** Names, the primary one first. */
  causes: summary.causes.map(causeName),
  /** The values of a search's filters, as in its URL. */
  filters: {
    cause: summary.causes,
    country: [summary.country === null ? null : countryCode(summary.country)].filter(
      (code) => code !== null,
    ),
  },
});

/** Documents loaded with one query. */
const documentsPerQuery = 1_000;

/** The documents of a part of a list by ascending id, so that the same store gives the same index. */
export async function searchDocuments(
  store: Queryable,
  part: PartOfList,
): Promise<SearchDocument[]> {
  const ids = await idsInPart(store, part);
  const documents: SearchDocument[] = [];
  for (let at = 0; at < ids.length; at += documentsPerQuery) {
    // Without a base URL, because mirrors use the indexes too.
    const summaries = await summariesById(store, ids.slice(at, at + documentsPerQuery), "");
    documents.push(...summaries.map(searchDocument));
  }
  return documents;
}
