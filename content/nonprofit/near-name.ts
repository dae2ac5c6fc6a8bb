import words from "#content/editorial/near-name-words.json";
import { fold, plainLetters } from "./text.ts";

/**
 * Names in one place that are at least so similar are shown to the reviewer as perhaps the same organisation. Chosen on
 * one half of test/content/nonprofit/name-pairs.tsv and held to its figures on the other: docs/decisions/31.
 */
export const nearNameFrom = 0.86;

/**
 * How similar two names are, 0 to 1: the Sørensen–Dice coefficient of their pairs of letters, after accents, letter case,
 * punctuation, legal forms and usual abbreviations are taken off, letters of other alphabets as the Latin ones they look
 * like. Names whose numbers or compass points differ ("Lodge 12", "Lodge 14") keep four fifths of it. Symmetric.
 */
export const nameSimilarity = (name: string, other: string): number => similarTo(name)(other);

/** The same for one name and thousands of others, about 2 µs each. */
export function similarTo(name: string): (other: string) => number {
  const nameLetters = nameForm(name);
  // How often each pair stands in the own name, and how often the name that is compared now has used it.
  const pairs = new Map<number, { own: number; used: number; turn: number }>();
  for (let at = 0; at + 1 < nameLetters.core.length; at++) {
    const code = pairAt(nameLetters.core, at);
    const pairCount = pairs.get(code);
    if (pairCount === undefined) pairs.set(code, { own: 1, used: 0, turn: 0 });
    else pairCount.own++;
  }
  let turn = 0;
  return (other) => {
    const form = nameForm(other);
    if (form.letters === nameLetters.letters) return 1;
    turn++;
    let shared = 0;
    for (let at = 0; at + 1 < form.core.length; at++) {
      const pair = pairs.get(pairAt(form.core, at));
      if (pair === undefined) continue;
      if (pair.turn !== turn) {
        pair.turn = turn;
        pair.used = 0;
      }
      if (pair.used < pair.own) shared++;
      pair.used++;
    }
    const all = nameLetters.core.length + form.core.length - 2;
    const similarity = all <= 0 ? 0 : (2 * shared) / all;
    return form.marks === nameLetters.marks ? similarity : similarity * differingMarks;
  };
}

const differingMarks = 0.8;

/**
 * Whether two names are one, whatever their case, accents, punctuation, abbreviations, articles and order of words. Stricter
 * than being near: a word more or less ("Trust", "Scotland") tells another organisation, in brackets too.
 */
export function isSameName(name: string, other: string): boolean {
  const [ownWords, others] = [tellingWords(name), tellingWords(other)];
  const sorted = (some: string[]) => some.toSorted().join(" ");
  return (
    ownWords.length > 0 &&
    (ownWords.join("") === others.join("") || sorted(ownWords) === sorted(others))
  );
}

const tellingWords = (name: string): string[] =>
  spelledWords(name.replaceAll(/[()]/g, " ")).filter((word) => !articles.has(word));

/** The words of a name without what stands in brackets, abbreviations as their long forms: "1" for "First". */
export const spelledWords = (name: string): string[] =>
  wordsOf(name).map((word) => spelled.get(word) ?? word);

/** A pair of neighbouring UTF-16 units as one number: a substring for each would cost more than the comparing. */
const pairAt = (text: string, at: number): number =>
  text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);

const silent = new Set(words.silent);
/** Whether a word says so little that names have it or leave it out: articles, and all legal forms. */
export const isSilent = (word: string): boolean => silent.has(word);
const telling = new Set(words.telling);
const articles = new Set(words.articles);
const spelled = new Map(Object.entries(words.spelled));

/**
 * `letters`: all words without spaces, names with the same letters are the same; `core`: the telling words without spaces;
 * `marks`: numbers, compass points and the like, sorted: they tell sister organisations apart.
 */
function nameForm(name: string) {
  let letters = "";
  let core = "";
  const marks: string[] = [];
  for (const written of wordsOf(name)) {
    const word = spelled.get(written) ?? written;
    letters += word;
    if (!silent.has(word)) core += word;
    if (telling.has(word) || /^\d/.test(word)) marks.push(word);
  }
  return { letters, core: core === "" ? letters : core, marks: marks.sort().join(" ") };
}

/** Words are looked at more closely where more than letters, spaces and the plainest marks stand in the name. */
const plainName = /^(?:(?!north|south)[a-z0135-9 ,'.-])*$/;

/** The words of a name: what stands in brackets only adds to it, "4" and "2" between letters are words. */
function wordsOf(name: string): string[] {
  // Before letter case goes: a Greek Η looks like H, η does not.
  const lower = plainLetters(name).text.toLowerCase();
  if (plainName.test(lower)) {
    return lower
      .replaceAll(/['.]/g, "")
      .split(/[ ,-]+/)
      .filter((word) => word !== "");
  }
  const outside = lower.replaceAll(/\([^()]*\)/g, " ");
  const text = (/\p{L}/u.test(outside) ? outside : lower)
    .replaceAll(/(?<=\p{L})\s*4\s*(?=\p{L})/gu, " for ")
    .replaceAll(/(?<=\p{L})2(?=\p{L})/gu, " to ")
    .replaceAll(/['’ʻʼ`´.]/gu, "")
    .replaceAll("&", " and ")
    .replaceAll(/\b(north|south)[ -](east|west)\b/gu, "$1$2");
  return fold(text)
    .split(" ")
    .filter((word) => word !== "");
}
