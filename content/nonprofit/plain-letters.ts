import lookalikeLetters from "#content/editorial/lookalike-letters.json";

/** A text in plain letters. */
export type PlainLetters = {
  text: string;
  /** What stood in the original for so many characters of `text` from a place on, and where it began. */
  written: (at: number, length: number) => { phrase: string; at: number };
};

/**
 * A text as a reader takes it in, for finding words: letters without accents, styles and what cannot be seen, and Greek
 * and Cyrillic letters as the Latin ones they look like. Letter case stays. Linear in the length.
 */
export function plainLetters(original: string): PlainLetters {
  if (!beyondAscii.test(original)) {
    return {
      text: original,
      written: (at, length) => ({ phrase: original.slice(at, at + length), at }),
    };
  }
  let text = "";
  const places: number[] = [];
  let at = 0;
  for (const character of original) {
    const plain = plainOf(character);
    for (let unit = 0; unit < plain.length; unit++) places.push(at);
    text += plain;
    at += character.length;
  }
  places.push(at);
  return {
    text,
    written: (from, length) => {
      const start = places[from] ?? at;
      return { phrase: original.slice(start, places[from + length]), at: start };
    },
  };
}

const beyondAscii = /[^\p{ASCII}]/u;

const latin = new Map(
  Object.entries(lookalikeLetters).flatMap(([letter, others]) =>
    Array.from(others, (other): [string, string] => [other, letter]),
  ),
);

const knownMax = 4_096;
const known = new Map<string, string>();

/** One character in plain letters: "" for an accent, several for a ligature. */
function plainOf(character: string): string {
  if (character < "\x80") return character;
  const before = known.get(character);
  if (before !== undefined) return before;
  const bare = character.normalize("NFKD").replaceAll(unseen, "");
  const plain = Array.from(
    bare,
    (one) => latin.get(one) ?? latin.get(one.toLowerCase()) ?? one,
  ).join("");
  if (known.size < knownMax) known.set(character, plain);
  return plain;
}

const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;
