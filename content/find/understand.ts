import causes from "#content/editorial/causes.json";
import nearNames from "#content/editorial/near-name-words.json";
import given from "#content/editorial/search-words.json";
import { fold } from "#content/nonprofit/text.ts";
import { initialsMatch, phrase, type SearchWord } from "./query.ts";

/** Words that names have or leave out, and people with them. */
export const optional: ReadonlySet<string> = new Set(given.optional);

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
const causeWordsMax = 3;

/** The cause that words name, or null: "clean water", "food banks". `isWhole`: none of the words says anything else. */
export function causeOf(words: readonly SearchWord[]): { id: string; isWhole: boolean } | null {
  const texts = words.map((word) => fold(textOf(word)));
  const found: { id: string; length: number }[] = [];
  let isWhole = true;
  for (let at = 0; at < texts.length;) {
    const named = causeAt(texts.slice(at));
    if (named === null) isWhole = false;
    else found.push(named);
    at += named?.length ?? 1;
  }
  const [longest] = found.toSorted((a, b) => b.length - a.length);
  if (longest === undefined) return null;
  return { id: longest.id, isWhole: isWhole && found.every(({ id }) => id === longest.id) };
}

function causeAt(texts: readonly string[]): { id: string; length: number } | null {
  for (let length = Math.min(causeWordsMax, texts.length); length > 0; length--) {
    const id = causeNames.get(texts.slice(0, length).join(" "));
    if (id !== undefined) return { id, length };
  }
  return null;
}

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
