import { causeIds } from "#content/contract/cause.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { anyOf, type Match, phrase } from "./match.ts";
import { fold } from "#content/nonprofit/text.ts";

/** One thing to look for. Every form of it is as good as the other: "co-op" is also "coop". */
export type SearchWord = {
  forms: readonly string[];
  /** The last word of a query may be half typed: whatever begins with it matches as well. */
  prefix: boolean;
};

const wordsMax = 16;
const formLengthMax = 100;

/** A run of letters and digits; an apostrophe, stop, ampersand or hyphen inside joins. Linear on any text. */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’.&-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const joiner = /['’.&-]/g;
const quotes = /["“”„«»]/g;

/**
 * The words and quoted phrases of a text that a person typed, at most 16, each once. An unclosed quote is no quote.
 * A text without letters and digits has no words.
 */
export function searchWords(text: string): SearchWord[] {
  const parts = text.toWellFormed().split(quotes);
  const unclosed = parts.length % 2 === 0 ? parts.length - 1 : -1;
  const found = new Map<string, string[]>();
  let last: string | null = null;
  for (const [at, part] of parts.entries()) {
    const words = part.match(wordPattern) ?? [];
    const joinedWords = words.join(" ").replaceAll(joiner, " ").slice(0, formLengthMax);
    if (joinedWords === "" || found.size >= wordsMax) continue;
    if (at % 2 === 1 && at !== unclosed) {
      found.set(`"${fold(joinedWords)}`, [joinedWords]);
      last = null;
    } else {
      for (const word of words.slice(0, wordsMax - found.size))
        found.set(fold(word), formsOf(word));
      last = words.length > 0 ? fold(words.at(-1) ?? "") : last;
    }
  }
  return [...found].map(([key, forms]) => ({
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
 * The half-typed word in the form in which the directory's words are kept, when its completions need looking up;
 * null when there is none. The index matches prefixes of stems: "communi" begins no stem, for "community" is kept
 * as "commun". Under four letters no stem is shorter than what is typed.
 */
export function halfTypedWord(words: readonly SearchWord[]): string | null {
  const last = words.find(({ prefix }) => prefix);
  const [form, ...others] = last?.forms ?? [];
  if (form === undefined || others.length > 0) return null;
  const folded = fold(form);
  return folded.length >= halfTypedLengthMin && !folded.includes(" ") ? folded : null;
}

const halfTypedLengthMin = 3;
const completionsMax = 24;

/** Endings that the Porter stemmer may take off or change, longest chains included. */
const ending =
  /(?:(?:a|i)?(?:bl[ey]|bilit(?:y|ies))|(?:i|a)?t?(?:ion|ional|ionally|ions)|at(?:e|es|ed|ing|or|ors|ive|ives)|(?:i)?z(?:e|es|ed|er|ers|ing|ings|ations?)|ali(?:ty|ties|sm|sms|zes?|zed|zing)|(?:e|a)n(?:ce|ces|cy|cies|t|ts|tly)|ments?|iv(?:e|es|ely|eness|ity|ities)|ical(?:ly)?|icate[sd]?|iciti?(?:y|ies)|fu(?:l|lly|lness)|ness(?:es)?|ous(?:ly|ness)?|i?al(?:ly|s)?|i(?:c|cs|sm|sms|ty|ties|es|ed|ng|ngs)|[ie]ly|e?d|e(?:s|r|rs|d|dly)|ing(?:s|ly)?|ss?es|at|[ai]bl|iou|y|e|s)$/;

/** Endings under which the stem of what is typed is no longer the beginning of it: "any" is kept as "ani". */
const changing = /(?:ys?|ing|ed|ational|izer|enci|anci|aliti|iviti|biliti|logi)$/;

/**
 * Of the directory's words that begin with a half-typed word, those that its stem may not find: what is typed reaches
 * into an ending that stemming takes off, or changes when it is stemmed itself. The others are found by the prefix
 * alone. At most 24, the shortest first.
 */
export function completionsToAdd(halfTyped: string, vocabulary: readonly string[]): string[] {
  const changes = changing.test(halfTyped);
  return vocabulary
    .filter((word) => changes || bareLength(word) <= halfTyped.length)
    .filter((word) => word.length > halfTyped.length && word.length <= wordLengthMax)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, completionsMax);
}

const wordLengthMax = 40;
const endingsMax = 4;

/** How long a word is at least after its endings are taken off; a doubled consonant may become one. */
function bareLength(word: string): number {
  let bare = word.slice(0, wordLengthMax);
  for (let taken = 0; taken < endingsMax; taken++) {
    const end = ending.exec(bare);
    if (end === null || end.index < 2) break;
    bare = bare.slice(0, end.index);
  }
  const { length } = bare;
  if (length === word.length) return length;
  return length + (bare[length - 1] === bare[length - 2] ? 0 : 1);
}

/** Matches one word in any of its forms, or any of its completions. */
export function wordMatch({ forms, prefix }: SearchWord, completions: readonly string[]): Match {
  const own = forms.map((form) =>
    phrase(form, prefix && mayBeHalfTyped(form.split(" ").at(-1) ?? "")),
  );
  return anyOf([...own, ...(prefix ? completions : []).map((word) => phrase(word))]);
}

/** A list of the directory and the word by which the index knows its members. */
export type Facet = { list: string | null; match: Match };

/**
 * What filters mean: null when a cause or country is unknown, so that nothing matches. The index keeps them as words
 * of the private use area, which `searchWords` never yields; see the view search_documents.
 */
export function facetsOf(query: {
  cause: string | null;
  country: string | null;
  ghd_aligned: boolean;
}): Facet[] | null {
  const facets: Facet[] = [];
  if (query.cause !== null) {
    const id = query.cause.trim().toLowerCase();
    if (!causeIds.includes(id)) return null;
    facets.push({ list: `cause:${id}`, match: phrase(`\uE000${id.replaceAll("-", "\uE003")}`) });
  }
  if (query.country !== null) {
    const code = countryCode(query.country);
    if (code === null) return null;
    facets.push({ list: `country:${code}`, match: phrase(`\uE001${code}`) });
  }
  if (query.ghd_aligned) facets.push({ list: null, match: phrase("\uE002") });
  return facets;
}
