import { type FilterName, type Filters, givenFilters } from "#content/contract/browse.ts";
import {
  filterWord,
  initialsWord,
  kindWord,
  placeWord,
  wantedBy,
} from "#content/nonprofit/filters.ts";
import { fold } from "#content/nonprofit/text.ts";

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
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’‘`.&-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const joiner = /['’‘`ʻʼ.&-]/g;
/** Other signs that people and keyboards write for an apostrophe, an okina among them: none of them ends a word. */
const apostrophes = /[ʻʼ‘`´]/g;
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
  const parts = text.toWellFormed().replaceAll(apostrophes, "'").split(quotes);
  const unclosed = parts.length % 2 === 0 ? parts.length - 1 : -1;
  const terms: { key: string; forms: string[] }[] = [];
  let last: string | null = null;
  for (const [at, part] of parts.entries()) {
    const words = part.match(wordPattern) ?? [];
    const joinedWords = words.join(" ").replaceAll(joiner, " ").slice(0, formLengthMax);
    if (joinedWords === "" || terms.length >= wordsMax) continue;
    if (at % 2 === 1 && at !== unclosed) {
      terms.push({ key: `"${fold(joinedWords)}`, forms: [joinedWords] });
      last = null;
    } else {
      for (const word of words.slice(0, wordsMax - terms.length))
        terms.push({ key: fold(word), forms: formsOf(word) });
      last = words.length > 0 ? fold(words.at(-1) ?? "") : last;
    }
  }
  return terms.map(({ key, forms }) => ({
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
  // An okina counts as a letter where a profile has one.
  const forms = /[ʻʼ]/.test(cut) ? [spaced, joined, cut] : [spaced, joined];
  return spaced === joined ? [spaced] : forms;
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
  const ownForms = forms.map((form) =>
    phrase(form, begins && mayBeHalfTyped(form.split(" ").at(-1) ?? "")),
  );
  const completed = prefix ? (completions ?? []) : [];
  return anyOf([...ownForms, ...completed.map((word) => phrase(word)), ...also]);
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
  anyOf(spellings.map((name) => phrase(placeWord(name))));

/** What has this value, as `wantedBy` has it. */
export const filterMatch = (filter: FilterName, wanted: string): FtsMatch =>
  phrase(filterWord(filter, wanted));

/** What registers, or its causes, say is of one of these kinds. */
export const kindMatches = (codes: readonly string[]): FtsMatch[] =>
  codes.map((code) => phrase(kindWord(code)));

/** What passes these filters, each to be met; null when nothing can. */
export function filterMatches(filters: Filters): FtsMatch[] | null {
  const matches = givenFilters(filters).map(([filter, asked]) => {
    const wanted = wantedBy(filter, asked);
    return wanted === null ? null : filterMatch(filter, wanted);
  });
  return matches.every((match) => match !== null) ? matches : null;
}

/** Names of which these letters are the initials, or the first of them. */
export const initialsMatch = (letters: string): FtsMatch => phrase(initialsWord(letters), true);
