import type { InValue } from "@libsql/client";
import { and, eq, isNull, sql } from "drizzle-orm";
import { z } from "zod";
import { nearNameFrom, similarTo } from "#content/nonprofit/near-name.ts";
import { siteSql } from "#content/register/found-links-store.ts";
import { comparedNumber, type RegistrationNumber } from "#content/register/org-id.ts";
import { fold, plainLetters } from "#content/nonprofit/text.ts";
import { siteKey } from "#content/nonprofit/website.ts";
import type { Duplicate } from "#content/contract/onboarding.ts";
import type { Queryable } from "#content/store/open.ts";
import { inValues, jsonOf, jsonText, query, valuesOf } from "#content/store/query.ts";
import { nonprofits, registrations } from "#content/store/tables/nonprofits.ts";

/** An organisation that may already be in the directory. `id` is its own, null for a new one. */
export type Sought = {
  id: number | null;
  name: string;
  country_code: string | null;
  city: string | null;
  website: string | null;
  registration: Omit<RegistrationNumber, "country_code"> | null;
};

const duplicatesMax = 10;
const sameSiteMax = 20;

/**
 * Profiles that may be the same organisation, likeliest first, at most 10: the same number in a register, the same site, or
 * a similar name in the same place. Withdrawn ones count. Uses indexes only.
 */
export async function findDuplicates(store: Queryable, sought: Sought): Promise<Duplicate[]> {
  const reasonsById = new Map<number, Duplicate["reasons"]>();
  const note = (id: number, reason: Duplicate["reasons"][number]) => {
    if (id !== sought.id) reasonsById.set(id, [...(reasonsById.get(id) ?? []), reason]);
  };
  for (const id of await sameRegistration(store, sought)) note(id, "same_registration");
  for (const id of await sameSite(store, sought)) note(id, "same_site");
  for (const id of await nearNames(store, sought)) note(id, "near_name");
  const profiles = await profilesOf(store, [...reasonsById.keys()]);
  const similarity = similarTo(sought.name);
  return profiles
    .map(({ id, slug, name, city, status }) => ({
      slug,
      name,
      city,
      status,
      reasons: reasonsById.get(id) ?? [],
      name_similarity: rounded(similarity(name)),
    }))
    .sort((a, b) => weight(b) - weight(a) || (a.slug < b.slug ? -1 : 1))
    .slice(0, duplicatesMax);
}

const rounded = (similarity: number): number => Math.round(similarity * 1_000) / 1_000;

const weight = ({ reasons, name_similarity }: Duplicate): number =>
  (reasons.includes("same_registration") ? 4 : 0) +
  (reasons.includes("same_site") ? 1 : 0) +
  (reasons.includes("near_name") ? 1 : 0) +
  name_similarity;

/** Index: registrations_org_id. For numbers of unknown registers, SQLite scans all registrations without an org-id. */
async function sameRegistration(
  store: Queryable,
  { registration, country_code }: Sought,
): Promise<number[]> {
  if (registration === null) return [];
  const isSame = isRegistration(registration, country_code);
  if (isSame === undefined) return [];
  return valuesOf(store, registrations.nonprofit_id, isSame, { limit: sameSiteMax });
}

/** Undefined for a number with unknown register and country: it may be anyone's. */
function isRegistration(
  { org_id, registration_number }: Omit<RegistrationNumber, "country_code">,
  country: string | null,
) {
  if (org_id !== null) return eq(registrations.org_id, org_id);
  if (country === null) return undefined;
  return and(
    eq(sql.raw(indexedNumber), comparedNumber(registration_number)),
    isNull(registrations.org_id),
    eq(registrations.country_code, country),
  );
}

const indexedNumber =
  "upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', ''))";

/** Index: nonprofits_by_site. */
export async function sameSite(
  store: Queryable,
  { website }: Pick<Sought, "website">,
): Promise<number[]> {
  const key = website === null ? null : siteKey(website);
  if (key === null) return [];
  // SQL, because it must use the exact expression of the index, also for the range below a host.
  const rows = await query(
    store,
    `SELECT id FROM nonprofits
     WHERE website IS NOT NULL AND ${siteSql} IN (SELECT value FROM json_each(?1))
     UNION
     SELECT id FROM nonprofits
     WHERE website IS NOT NULL AND ${siteSql} >= ?2 || '/' AND ${siteSql} < ?2 || '0'
     LIMIT ${sameSiteMax}`,
    [JSON.stringify(key.same), key.below ?? "/none"],
    z.object({ id: z.number() }),
  );
  return rows.map(({ id }) => id);
}

/** In a town with more profiles, only those sharing a rare word are compared: comparing all would take 60 ms. */
const sameTownMax = 3_000;
const sameWordsMax = 2_000;

const NamedProfile = z.object({ id: z.number(), name: z.string(), city: z.string().nullable() });
type NamedProfile = z.infer<typeof NamedProfile>;
const NamedRow = z.object({ named: jsonText(z.array(NamedProfile)) });

/**
 * Similar names, nearest first: in the same town if both have one, else in the same country. Compared are the profiles of
 * the town, and those of the country that share the rarest words.
 */
async function nearNames(
  store: Queryable,
  { name, country_code, city }: Sought,
): Promise<number[]> {
  if (country_code === null) return [];
  const candidates = new Map<number, NamedProfile>();
  for (const candidate of await inTown(store, country_code, city))
    candidates.set(candidate.id, candidate);
  for (const candidate of await withWords(store, name, country_code))
    candidates.set(candidate.id, candidate);
  const similarity = similarTo(name);
  const town = city === null ? null : fold(city);
  return [...candidates.values()]
    .map((candidate) => ({ ...candidate, similarity: similarity(candidate.name) }))
    .filter((candidate) => candidate.similarity >= nearNameFrom)
    .filter(
      (candidate) => town === null || candidate.city === null || fold(candidate.city) === town,
    )
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, duplicatesMax)
    .map(({ id }) => id);
}

/** Index: nonprofits_by_place. */
async function inTown(
  store: Queryable,
  country: string,
  city: string | null,
): Promise<NamedProfile[]> {
  if (city === null) return [];
  const rows = await named(
    store,
    `SELECT id, name, city FROM nonprofits
     WHERE country_code = ? AND city IS NOT NULL AND lower(city) = lower(?)
     LIMIT ${sameTownMax + 1}`,
    [country, city],
  );
  return rows.length > sameTownMax ? [] : rows;
}

/** Names in the country with the rarest words of this one, as written and as it looks. Index: search_index. */
async function withWords(store: Queryable, name: string, country: string): Promise<NamedProfile[]> {
  const candidates: NamedProfile[] = [];
  for (const form of new Set([fold(name), fold(plainLetters(name).text)])) {
    const words = await rarestWords(store, form.split(" "));
    if (words !== null) candidates.push(...(await withAny(store, words, country)));
  }
  return candidates;
}

const withAny = (store: Queryable, words: string, country: string): Promise<NamedProfile[]> =>
  named(
    store,
    `SELECT n.id, n.name, n.city
     FROM (SELECT rowid & 4294967295 AS id FROM search_index WHERE search_index MATCH ? LIMIT ${sameWordsMax}) AS s
     JOIN nonprofits AS n ON n.id = s.id
     WHERE n.country_code = ?`,
    [`{name} : ${words}`, country],
  );

/**
 * A query for any of the words that few profiles have; for all of the words if each is common. Null when no words are left.
 */
async function rarestWords(store: Queryable, all: readonly string[]): Promise<string | null> {
  const words = [...new Set(all)].filter((word) => word !== "").slice(0, wordsMax);
  if (words.length === 0) return null;
  // SQL, because the vocabulary is a virtual table of FTS5.
  const rows = await query(
    store,
    "SELECT term, doc FROM search_vocabulary WHERE term IN (SELECT value FROM json_each(?))",
    [JSON.stringify(words)],
    z.object({ term: z.string(), doc: z.number() }),
  );
  const counts = new Map(rows.map(({ term, doc }) => [term, doc]));
  const rare = words.filter((word) => (counts.get(word) ?? 0) <= sameWordsMax / 2);
  const rarest = rare.toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0)).slice(0, 3);
  const inQuotes = (list: readonly string[]) => list.map((word) => `"${word}"`);
  return rarest.length > 0
    ? `(${inQuotes(rarest).join(" OR ")})`
    : `(${inQuotes(words).join(" AND ")})`;
}

const wordsMax = 16;

/** SQL with one JSON text: fetching row by row takes several times as long. */
async function named(
  store: Queryable,
  from: string,
  args: readonly InValue[],
): Promise<NamedProfile[]> {
  const row = jsonOf(Object.keys(NamedProfile.shape));
  const statement = `SELECT json_group_array(${row}) AS named FROM (${from})`;
  const [answer] = await query(store, statement, args, NamedRow);
  return answer?.named ?? [];
}

function profilesOf(store: Queryable, ids: readonly number[]) {
  const { id, slug, name, city, status } = nonprofits;
  return store.db
    .select({ id, slug, name, city, status })
    .from(nonprofits)
    .where(inValues(id, ids))
    .execute();
}
