import { causeIds } from "#content/contract/cause.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { facetWords } from "#content/nonprofit/search-facets.ts";
import { fold } from "#content/nonprofit/text.ts";
import type { SearchQuery } from "#content/contract/search.ts";

/** One thing to look for. Every form of it is as good as the other: "co-op" is also "coop". */
export type SearchWord = {
  forms: readonly string[];
  /** The last word of a query may be half typed: whatever begins with it matches as well. */
  prefix: boolean;
  /** What else matches, never half typed: other spellings, names of which it may be the initials. */
  also?: readonly FtsMatch[];
};

const wordsMax = 16;
const formLengthMax = 100;

/** A run of letters and digits; an apostrophe, stop, ampersand or hyphen inside joins. Linear on any text. */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’.&-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const joiner = /['’.&-]/g;
const quotes = /["“”„«»]/g;

/** The words and quoted phrases of a text that a person typed, at most 16, each once. */
export const searchWords = (text: string): SearchWord[] => [
  ...new Map(typedWords(text).map((word) => [fold(word.forms.join("|")), word])).values(),
];

/**
 * The words and quoted phrases of a text as they were typed, at most 16; some may be there twice. An unclosed quote is no
 * quote. A text without letters and digits has no words.
 */
export function typedWords(text: string): SearchWord[] {
  const parts = text.toWellFormed().split(quotes);
  const unclosed = parts.length % 2 === 0 ? parts.length - 1 : -1;
  const found: { key: string; forms: string[] }[] = [];
  let last: string | null = null;
  for (const [at, part] of parts.entries()) {
    const words = part.match(wordPattern) ?? [];
    const joinedWords = words.join(" ").replaceAll(joiner, " ").slice(0, formLengthMax);
    if (joinedWords === "" || found.length >= wordsMax) continue;
    if (at % 2 === 1 && at !== unclosed) {
      found.push({ key: `"${fold(joinedWords)}`, forms: [joinedWords] });
      last = null;
    } else {
      for (const word of words.slice(0, wordsMax - found.length))
        found.push({ key: fold(word), forms: formsOf(word) });
      last = words.length > 0 ? fold(words.at(-1) ?? "") : last;
    }
  }
  return found.map(({ key, forms }) => ({
    forms,
    prefix: key === last && mayBeHalfTyped(key),
  }));
}

/** A single Latin letter or digit begins too much to mean anything. */
const mayBeHalfTyped = (word: string): boolean => word.length > 1 || word > "\u007F";

function formsOf(word: string): string[] {
  const cut = word.slice(0, formLengthMax);
  const spaced = cut.replaceAll(joiner, " ").trim();
  const joined = cut.replaceAll(joiner, "");
  return spaced === joined ? [spaced] : [spaced, joined];
}

/**
 * What must match, as FTS5 reads it. Made here alone: every word stands in quotes, so no text is a syntax error.
 * Source: sqlite.org/fts5.html, "Full-text query syntax".
 */
export type FtsMatch = string;

/** Words in this order, next to each other; with `prefix`, anything that begins with the last one matches as well. */
export const phrase = (text: string, prefix = false): FtsMatch =>
  `"${text.replaceAll('"', '""')}"${prefix ? "*" : ""}`;

export const allOf = (matches: readonly FtsMatch[]): FtsMatch => joined(matches, " AND ");
export const anyOf = (matches: readonly FtsMatch[]): FtsMatch => joined(matches, " OR ");
/** In the name, or in its initials: the words of `facets` are none that a text can hold. */
export const inName = (match: FtsMatch): FtsMatch => `({name facets} : ${match})`;

/** A word that was typed twice is looked for once. */
const joined = (matches: readonly FtsMatch[], operator: string): FtsMatch => {
  const different = [...new Set(matches)];
  return different.length === 1 ? (different[0] ?? "") : `(${different.join(operator)})`;
};

/**
 * Matches one word in any of its forms; a half-typed one also by `completions`, or by all that begins with it when they are
 * null.
 */
export function wordMatch(
  { forms, prefix, also = [] }: SearchWord,
  completions: readonly string[] | null,
): FtsMatch {
  const begins = prefix && completions === null;
  const own = forms.map((form) =>
    phrase(form, begins && mayBeHalfTyped(form.split(" ").at(-1) ?? "")),
  );
  const completed = prefix ? (completions ?? []) : [];
  return anyOf([...own, ...completed.map((word) => phrase(word)), ...also]);
}

/**
 * The half-typed word in the form in which the directory's words are kept, when what it may become is to be looked up;
 * null when there is none. The index matches beginnings of stems: "communi" begins none, for "community" is kept as
 * "commun". It keeps beginnings of two and three letters apart, for which that is quick and right.
 */
export function halfTypedWord(words: readonly SearchWord[]): string | null {
  const last = words.find(({ prefix }) => prefix);
  const [form, ...others] = last?.forms ?? [];
  if (form === undefined || others.length > 0) return null;
  const folded = fold(form);
  return folded.length > keptBeginningMax && !folded.includes(" ") ? folded : null;
}

const keptBeginningMax = 3;

/** Everything in a city or region of this name, in any spelling of it. */
export const placeMatch = (spellings: readonly string[]): FtsMatch =>
  anyOf(spellings.map((name) => phrase(facetWords.place(name))));

export const causeMatch = (id: string): FtsMatch => phrase(facetWords.cause(id));

export const countryMatch = (code: string): FtsMatch => phrase(facetWords.country(code));

/** Names of which these letters are the initials, or the first of them. */
export const initialsMatch = (letters: string): FtsMatch =>
  phrase(facetWords.initials(letters), true);

/**
 * A filter: the list of its members, or what the row `n` of each meets, and the word by which the index knows them, or
 * with `without` knows all others.
 */
export type Facet = { match: FtsMatch; without?: true } & (
  | { list: string }
  | { list: null; where: string }
);

/** What has one of each of these, and all facets. A facet that is a word's absence cannot stand alone. */
export function narrowed(matches: readonly FtsMatch[], facets: readonly Facet[]): FtsMatch {
  const { present = [], absent = [] } = Object.groupBy(facets, ({ without }) =>
    without === true ? "absent" : "present",
  );
  const wanted = allOf([...matches, ...present.map(({ match }) => match)]);
  return absent.length === 0 ? wanted : `(${wanted} NOT ${anyOf(absent.map((one) => one.match))})`;
}

/** What the rows `n` of nonprofits meet, for the facets that are no lists. */
export const conditionsOf = (facets: readonly Facet[]): string =>
  facets.flatMap((facet) => (facet.list === null ? [` AND ${facet.where}`] : [])).join("");

/** What filters mean: null when a cause or country is unknown, so that nothing matches. */
export function facetsOf(
  query: Pick<
    SearchQuery,
    "cause" | "country" | "region" | "ghd_aligned" | "accepts" | "has_website"
  >,
): Facet[] | null {
  const facets: Facet[] = [];
  if (query.cause !== null) {
    const id = query.cause.trim().toLowerCase();
    if (!causeIds.includes(id)) return null;
    facets.push({ list: `cause:${id}`, match: causeMatch(id) });
  }
  if (query.country !== null) {
    const code = countryCode(query.country);
    if (code === null) return null;
    facets.push({ list: `country:${code}`, match: countryMatch(code) });
  }
  const other = (where: string, word: string) =>
    facets.push({ list: null, where, match: phrase(word) });
  if ((query.region ?? null) !== null) {
    const match = placeMatch([query.region ?? ""]);
    // In hexadecimal nothing that somebody typed is read as SQL.
    const literal = `CAST(X'${Buffer.from(match).toString("hex")}' AS TEXT)`;
    const inPlace = `SELECT rowid & 4294967295 FROM search_index WHERE search_index MATCH ${literal}`;
    facets.push({ list: null, where: `n.id IN (${inPlace})`, match });
  }
  if (query.ghd_aligned) other("n.ghd_aligned = 1", facetWords.ghdAligned);
  if (query.accepts !== null) other("n.usdc_wallet IS NOT NULL", facetWords.accepts(query.accepts));
  if (query.has_website === true) other("n.website <> ''", facetWords.hasWebsite);
  if (query.has_website === false) {
    const match = phrase(facetWords.hasWebsite);
    facets.push({ list: null, where: "coalesce(n.website, '') = ''", match, without: true });
  }
  return facets;
}
