/**
 * How many letters are wrong, missing, too many or swapped with their neighbour; more than `most` is only said to be more.
 * Optimal string alignment.
 */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1] ? 0 : 1;
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
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
