import words from "#content/editorial/near-name-words.json";
import { fold, plainLetters } from "./text.ts";

/**
 * From this similarity on, two names in one place are shown to the reviewer as possibly the same organisation. Chosen on one
 * half of test/content/nonprofit/name-pairs.tsv and tested on the other (docs/decisions/31-duplicates.md).
 */
export const nearNameFrom = 0.86;

/**
 * The similarity of two names, 0 to 1: the Sørensen–Dice coefficient of their letter pairs, ignoring accents, letter case,
 * punctuation, legal forms and usual abbreviations, and reading look-alike letters as Latin ones. Names with different
 * numbers or compass points ("Lodge 12", "Lodge 14") get four fifths of it. Symmetric.
 */
export const nameSimilarity = (name: string, other: string): number => similarTo(name)(other);

/** `nameSimilarity` of one name with thousands of others, about 2 µs each. */
export function similarTo(name: string): (other: string) => number {
  const nameLetters = nameForm(name);
  // How often each pair occurs in the own name, and how often the name being compared has used it.
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
 * Whether two names are the same apart from case, accents, punctuation, abbreviations, articles and word order. Stricter
 * than similarity: one more word ("Trust", "Scotland"), even in brackets, means another organisation.
 */
export function isSameName(name: string, other: string): boolean {
  const ownWords = tellingWords(name);
  const others = tellingWords(other);
  const sorted = (some: string[]) => some.toSorted().join(" ");
  return (
    ownWords.length > 0 &&
    (ownWords.join("") === others.join("") || sorted(ownWords) === sorted(others))
  );
}

const tellingWords = (name: string): string[] =>
  spelledWords(name.replaceAll(/[()]/g, " ")).filter((word) => !articles.has(word));

/** The words of a name without those in brackets, with abbreviations in their long forms: "1" for "First". */
export const spelledWords = (name: string): string[] =>
  wordsOf(name).map((word) => spelled.get(word) ?? word);

/** A pair of neighbouring UTF-16 units as one number: making substrings would cost more than comparing. */
const pairAt = (text: string, at: number): number =>
  text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);

const silent = new Set(words.silent);
/** Whether names may have or lack a word without meaning another organisation: articles and legal forms. */
export const isSilent = (word: string): boolean => silent.has(word);
const telling = new Set(words.telling);
const articles = new Set(words.articles);
const spelled = new Map(Object.entries(words.spelled));

/**
 * `letters`: all words without spaces; names with equal letters are the same. `core`: the distinctive words without spaces.
 * `marks`: sorted numbers, compass points and the like, which distinguish sister organisations.
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

/** Names of only letters, spaces and plain punctuation take a faster path. */
const plainName = /^(?:(?!north|south)[a-z0135-9 ,'.-])*$/;

/** The words of a name without those in brackets, which only add to it. "4" and "2" between letters are words. */
function wordsOf(name: string): string[] {
  // Replace look-alikes before lower-casing: a Greek Η looks like H, η does not.
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
