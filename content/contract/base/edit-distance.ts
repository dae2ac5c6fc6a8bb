/**
 * How many letters are wrong, missing, too many or swapped with their neighbour; more than `most` is only said to be more.
 * Optimal string alignment.
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

/** A cell; where there is none, a number larger than any distance. */
const from = (cells: readonly number[], at: number): number => cells[at] ?? Infinity;

/** Words that are compared have at least this many letters: shorter ones are near to everything. */
const comparedLengthMin = 4;
const twoMistakesFrom = 8;
const nearestMax = 10;

/** How many slips of the hand a word of this length may hold; 0: it is taken as it is. */
export const mistakesMax = (word: string): number =>
  word.length < comparedLengthMin || /\d/.test(word) ? 0 : word.length < twoMistakesFrom ? 1 : 2;

/** Of words of the directory those that may be meant by `typed`, the nearest first, at most ten. */
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

/** People get the first letter right more often than any other. */
const endsApart = (word: string, typed: string): number =>
  Math.abs(word.length - typed.length) + (word[0] === typed[0] ? 0 : 2);

/** Where to look for what is meant: beginnings of words, the likeliest first. A later one is needed only when an earlier gives nothing. */
export const beginnings = (typed: string): string[] => [
  typed.slice(0, 2),
  typed.slice(0, 1),
  ...(typed[0] === typed[1] ? [] : [`${typed[1] ?? ""}${typed[0] ?? ""}`, typed.slice(1, 3)]),
];

/** The words that differ from `typed` in a first letter that is missing or wrong. */
export const otherFirstLetters = (typed: string): string[] =>
  "abcdefghijklmnopqrstuvwxyz"
    .split("")
    .flatMap((letter) => [`${letter}${typed}`, `${letter}${typed.slice(1)}`]);

const partLengthMin = 3;
const splitLengthMax = 30;

/** Two words that may have been written as one. */
export function splits(typed: string): string[] {
  if (typed.length > splitLengthMax) return [];
  return Array.from({ length: Math.max(0, typed.length - 2 * partLengthMin + 1) }, (_, at) => {
    const length = at + partLengthMin;
    return `${typed.slice(0, length)} ${typed.slice(length)}`;
  });
}
