import { countryOf } from "#content/nonprofit/country.ts";
import { isSameName, similarTo, isSilent, spelledWords } from "#content/nonprofit/near-name.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fold } from "#content/nonprofit/text.ts";
import { tellingText } from "#content/find/query.ts";
import words from "#content/editorial/near-name-words.json";
import { editDistance } from "#content/contract/base/edit-distance.ts";
import type { DraftQuery, Query } from "#content/contract/reconciliation.ts";
import { readOrgId } from "#content/register/org-id.ts";

export const places = ["country", "region", "city"] as const;
export type Place = (typeof places)[number];

/** A row of someone's table, which may be one of the nonprofits. Places are texts as in the table. */
export type MatchQuery = { name: string; places: Partial<Record<Place, readonly string[]>> };

type Candidate = Pick<NonprofitRecord, "name" | "city" | "region" | "country_code">;

/** The features of a score, each from 0 to 1. A place counts only when both sides name one. */
export const featureNames = {
  name_similarity: "How similar the names are",
  same_name: "The names are one, but for spelling and legal form",
  same_words: "Each word of one name has its like in the other, and the legal forms agree",
  same_country: "The country is the same",
  same_region: "The region is the same",
  same_city: "The city is the same",
  same_number: "The register number or id is the same",
} as const;
export type Features = Partial<Record<keyof typeof featureNames, number>>;

/** How well a nonprofit matches, 0 to 100. */
export type Match<Item> = { candidate: Item; score: number; features: Features; match: boolean };

/** The first is a match from this score on, if this far ahead of the next (docs/decisions/22-reconciliation.md). */
export const matchFrom = 80;
export const matchAhead = 4;

/** The points for names, and the factors for different places, words or legal forms. */
const shares = { similar: 92, same: 8 };
const factor: Record<Place, number> = { country: 0.7, region: 0.9, city: 0.75 };
const keptOfDistinct = 0.8;

/** The candidates by score, equals in their given order; at most one is a match. */
export function ranked<Item extends Candidate>(
  query: MatchQuery,
  candidates: readonly Item[],
): Match<Item>[] {
  const similarity = similarTo(query.name);
  const wantedWords = tellingText(query.name);
  const matches = candidates
    .map((candidate): Match<Item> => {
      const name_similarity = similarity(candidate.name);
      const same_name = isSameName(wantedWords, tellingText(candidate.name)) ? 1 : 0;
      const same_words = same_name === 1 || !areDistinctNames(query.name, candidate.name) ? 1 : 0;
      const features: Features = { name_similarity, same_name, same_words };
      let score = shares.similar * name_similarity + shares.same * same_name;
      if (same_words === 0) score *= keptOfDistinct;
      for (const place of places) {
        const agrees = isIn(place, query.places[place], candidate);
        if (agrees === null) continue;
        features[`same_${place}`] = agrees ? 1 : 0;
        if (!agrees) score *= factor[place];
      }
      return { candidate, score: Math.round(score * 10) / 10, features, match: false };
    })
    .toSorted((a, b) => b.score - a.score);
  const [first, second] = matches;
  if (first !== undefined) {
    const ahead = first.score - (second?.score ?? 0);
    first.match = first.score >= matchFrom && ahead >= matchAhead;
  }
  return matches;
}

/** The match for a given register number or id, or what `features` says. */
export const certain = <Item>(
  candidate: Item,
  features: Features = { same_number: 1 },
): Match<Item> => ({ candidate, score: 100, features, match: true });

/** Null when either side has no place. */
function isIn(place: Place, values: readonly string[] = [], there: Candidate): boolean | null {
  const readAs = place === "country" ? countryOf : fold;
  const candidatePlace = place === "country" ? there.country_code : there[place];
  const readValues = values.flatMap((text) => readAs(text) ?? []);
  if (candidatePlace === null || readValues.length === 0) return null;
  return readValues.includes(place === "country" ? candidatePlace : fold(candidatePlace));
}

/** Shorter words must be equal: with one letter changed they are other words. */
const slipsFrom = 4;
/** Digits and Roman numerals that number something. */
const number = /^(?:\d.*|[ivx]+)$/;

/** Legal forms that distinguish organisations, by their words: "stiftung" is a foundation. */
const formOf = new Map(
  Object.entries(words.forms).flatMap(([form, all]) => all.map((word) => [word, form] as const)),
);

/**
 * Whether similar names are clearly those of two organisations: a word of one has no similar word in the other ("Ninth",
 * "Kimberley Chapter"), or their legal forms differ ("Trust", "Fund"). One typing error, a split word and an omitted legal
 * form make no difference. Text in brackets counts if both names have some.
 */
function areDistinctNames(firstName: string, secondName: string): boolean {
  const withBrackets = firstName.includes("(") && secondName.includes("(");
  const [firstWords, secondWords] = [
    wordsIn(firstName, withBrackets),
    wordsIn(secondName, withBrackets),
  ];
  return (
    hasWordBeyond(firstWords, secondWords) ||
    hasWordBeyond(secondWords, firstWords) ||
    areFormsOther(firstWords, secondWords)
  );
}

/** Initials are one word, with or without spaces between them. */
const wordsIn = (name: string, withBrackets: boolean): string[] =>
  spelledWords(withBrackets ? name.replaceAll(/[()]/g, " ") : name)
    .join(" ")
    .replaceAll(/(?<![^ ])(\p{L}) (?=\p{L}(?![^ ]))/gu, "$1")
    .split(" ");

function hasWordBeyond(firstWords: readonly string[], otherWords: readonly string[]): boolean {
  const rivals = new Set(otherWords);
  const letters = otherWords.join("");
  return firstWords.some((word) => {
    if (rivals.has(word) || isSilent(word)) return false;
    if (number.test(word)) return true;
    if (word.length < slipsFrom)
      return !otherWords.some((rival) => rival.startsWith(word) || rival.endsWith(word));
    return (
      !letters.includes(word) &&
      !otherWords.some((rival) => rival.length >= slipsFrom && editDistance(word, rival, 1) <= 1)
    );
  });
}

function areFormsOther(firstWords: readonly string[], otherWords: readonly string[]): boolean {
  const mine = formsIn(firstWords);
  const theirs = formsIn(otherWords);
  return !mine.isSubsetOf(theirs) && !theirs.isSubsetOf(mine);
}

const formsIn = (wordList: readonly string[]) =>
  new Set(wordList.flatMap((word) => formOf.get(word) ?? []));

/** A query of either version, parsed. */
export type Lookup = MatchQuery & {
  /** Slugs; any of them identifies the match. */
  ids: string[];
  /** Register numbers in org-id form; any of them identifies the match. */
  orgIds: string[];
  /** Websites, for a query without a name. */
  sites: string[];
  /** The properties that a candidate must have as the query has them. */
  required: string[];
  limit: number;
};

type Condition = { of: string; values: string[]; required?: boolean };

/** Parses a query of version 0.2. A name that looks like a slug may be one. */
export const lookupOf = ({ query = "", properties, limit }: Query): Lookup =>
  lookup(
    [
      { of: "name", values: [query] },
      ...properties.map(({ pid, v }) => ({ of: pid, values: textsOf(v) })),
    ],
    limit,
  );

/** Parses a query of 1.0-draft. */
export const lookupOfDraft = ({ conditions, limit }: DraftQuery): Lookup =>
  lookup(
    conditions.map(({ matchType, propertyId = "", propertyValue, required }) => ({
      of: matchType === "property" ? propertyId : matchType,
      values: textsOf(propertyValue),
      required,
    })),
    limit,
  );

/** Whether a candidate is in the places that the query requires. */
export const isWhereRequired = (
  { required, places: wanted }: Lookup,
  candidate: Candidate,
): boolean =>
  places.every(
    (place) => !required.includes(place) || isIn(place, wanted[place], candidate) === true,
  );

const slugLike = /^[a-z0-9]+(?:-[a-z0-9]+)+$/;

function lookup(conditions: readonly Condition[], limit: number): Lookup {
  const textsFor = (of: string) =>
    conditions
      .flatMap((condition) =>
        condition.of === of ? condition.values.map((text) => text.trim()) : [],
      )
      .filter(Boolean);
  const [name = ""] = textsFor("name");
  const ids = textsFor("id");
  const country = countryOf(textsFor("country")[0] ?? "") ?? "";
  return {
    name,
    ids: ids.length === 0 && slugLike.test(name) ? [name] : ids,
    orgIds: textsFor("org_id").flatMap((text) => {
      const orgId = readOrgId(text, country);
      return orgId.ok ? [orgId.value.org_id] : [];
    }),
    sites: name === "" ? textsFor("website") : [],
    places: Object.fromEntries(places.map((place) => [place, textsFor(place)])),
    required: conditions.flatMap(({ of, required }) => (required === true ? of : [])),
    limit,
  };
}

type Value = string | number | boolean | { id: string };
const textsOf = (value: Value | Value[]): string[] =>
  [value].flat().map((item) => (typeof item === "object" ? item.id : String(item)));
