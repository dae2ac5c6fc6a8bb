import { causeName } from "#content/nonprofit/wire.ts";
import type { Queryable } from "#content/store/open.ts";
import { idsInPart, type PartOfList } from "#content/search/list-parts-store.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";

/** What a search index is made of: one per listed nonprofit, whatever the index. Names are in English. */
export type SearchDocument = {
  /** Path of the profile, without the origin. */
  url: string;
  slug: string;
  name: string;
  tagline: string | null;
  mission: string | null;
  country: string | null;
  region: string | null;
  city: string | null;
  /** Names, the primary one first. */
  causes: string[];
  verified: boolean;
};

/** Documents loaded in one go: one query. */
const documentsPerQuery = 1_000;

/** The documents of a part of a list by ascending id, so that the same store gives the same index. */
export async function searchDocuments(
  store: Queryable,
  part: PartOfList,
): Promise<SearchDocument[]> {
  const ids = await idsInPart(store, part);
  const documents: SearchDocument[] = [];
  for (let at = 0; at < ids.length; at += documentsPerQuery) {
    const summaries = await summariesById(store, ids.slice(at, at + documentsPerQuery));
    for (const one of summaries) {
      documents.push({
        url: `/nonprofits/${one.slug}`,
        slug: one.slug,
        name: one.name,
        tagline: one.tagline,
        mission: one.mission,
        country: one.country,
        region: one.region,
        city: one.city,
        causes: one.causes.map(causeName),
        verified: one.verified === 1,
      });
    }
  }
  return documents;
}
