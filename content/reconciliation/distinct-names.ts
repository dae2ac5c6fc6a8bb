import words from "#content/editorial/near-name-words.json";
import { isSilent, spelledWords } from "#content/nonprofit/near-name.ts";
import { editDistance } from "#content/find/near-words.ts";

/** A shorter word stands as it is: with a letter changed it is another word. */
const slipsFrom = 4;
/** Digits and Roman numerals count what is numbered. */
const number = /^(?:\d.*|[ivx]+)$/;

/** Legal forms that tell organisations apart, by their word: "stiftung" is a foundation. */
const formOf = new Map(
  Object.entries(words.forms).flatMap(([form, all]) => all.map((word) => [word, form] as const)),
);

/**
 * Whether names that are near each other say themselves that they are two organisations: a word of one has none like it in
 * the other ("Ninth", "Kimberley Chapter"), or the legal forms are others ("Trust", "Fund"). One slip of the hand, a word in
 * two parts and a legal form that is left out tell nothing. What stands in brackets counts where both names have some.
 */
export function areDistinctNames(one: string, other: string): boolean {
  const withBrackets = one.includes("(") && other.includes("(");
  const [own, others] = [wordsIn(one, withBrackets), wordsIn(other, withBrackets)];
  return hasWordBeyond(own, others) || hasWordBeyond(others, own) || areFormsOther(own, others);
}

/** Initials are one word, with spaces between them or without. */
const wordsIn = (name: string, withBrackets: boolean): string[] =>
  spelledWords(withBrackets ? name.replaceAll(/[()]/g, " ") : name)
    .join(" ")
    .replaceAll(/(?<![^ ])(\p{L}) (?=\p{L}(?![^ ]))/gu, "$1")
    .split(" ");

function hasWordBeyond(own: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others);
  const letters = others.join("");
  return own.some((word) => {
    if (known.has(word) || isSilent(word)) return false;
    if (number.test(word)) return true;
    if (word.length < slipsFrom)
      return !others.some((each) => each.startsWith(word) || each.endsWith(word));
    return (
      !letters.includes(word) &&
      !others.some((each) => each.length >= slipsFrom && editDistance(word, each, 1) <= 1)
    );
  });
}

function areFormsOther(own: readonly string[], others: readonly string[]): boolean {
  const [mine, theirs] = [formsIn(own), formsIn(others)];
  return !mine.isSubsetOf(theirs) && !theirs.isSubsetOf(mine);
}

const formsIn = (some: readonly string[]) =>
  new Set(some.flatMap((word) => formOf.get(word) ?? []));
