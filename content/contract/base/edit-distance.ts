/**
 * The number of wrong, missing, extra or swapped neighbouring letters (optimal string alignment). Above `most`, the exact
 * number is not computed.
 */
export function editDistance(text: string, other: string, most: number): number {
  if (Math.abs(text.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= text.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const same = text[row - 1] === other[at - 1] ? 0 : 1;
      const isSwapped = text[row - 1] === other[at - 2] && text[row - 2] === other[at - 1];
      line[at] = Math.min(
        from(above, at) + 1,
        from(line, at - 1) + 1,
        from(above, at - 1) + same,
        isSwapped ? from(before, at - 2) + 1 : Infinity,
      );
    }
    if (Math.min(...line) > most) return most + 1;
    before = above;
    above = line;
  }
  return above.at(-1) ?? 0;
}

/** The value of a cell; outside of the row, larger than any distance. */
const from = (cells: readonly number[], at: number): number => cells[at] ?? Infinity;

/** The least letters of a word to compare: shorter words are near to everything. */
const comparedLengthMin = 4;
const twoMistakesFrom = 8;
const nearestMax = 10;

/** How many typing errors a word of this length may have; 0: it is taken literally. */
export const mistakesMax = (word: string): number =>
  word.length < comparedLengthMin || /\d/.test(word) ? 0 : word.length < twoMistakesFrom ? 1 : 2;

/** The known words that may be meant by `typed`, nearest first, at most ten. */
export function nearestWords(typed: string, words: readonly string[]): string[] {
  const most = mistakesMax(typed);
  return words
    .filter((word) => Math.abs(word.length - typed.length) <= most && word !== typed)
    .map((word) => ({ word, distance: editDistance(typed, word, most) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || endsApart(a.word, typed) - endsApart(b.word, typed))
    .slice(0, nearestMax)
    .map(({ word }) => word);
}

/** People rarely get the first letter wrong. */
const endsApart = (word: string, typed: string): number =>
  Math.abs(word.length - typed.length) + (word[0] === typed[0] ? 0 : 2);

/** Prefixes of the words that may be meant, likeliest first. A later one is needed only if the earlier give nothing. */
export const beginnings = (typed: string): string[] => [
  typed.slice(0, 2),
  typed.slice(0, 1),
  ...(typed[0] === typed[1] ? [] : [`${typed[1] ?? ""}${typed[0] ?? ""}`, typed.slice(1, 3)]),
];

/** The words that differ from `typed` in a missing or wrong first letter. */
export const otherFirstLetters = (typed: string): string[] =>
  "abcdefghijklmnopqrstuvwxyz"
    .split("")
    .flatMap((letter) => [`${letter}${typed}`, `${letter}${typed.slice(1)}`]);

const partLengthMin = 3;
const splitLengthMax = 30;

/** The ways to split a text into two words that may have been joined. */
export function splits(typed: string): string[] {
  if (typed.length > splitLengthMax) return [];
  return Array.from({ length: Math.max(0, typed.length - 2 * partLengthMin + 1) }, (_, at) => {
    const length = at + partLengthMin;
    return `${typed.slice(0, length)} ${typed.slice(length)}`;
  });
}
