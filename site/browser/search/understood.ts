import type { SearchAnswer } from "#content/contract/search.ts";

/** What was read in the words of a search: a text of the group "read", and the words that ask the same without it. */
export type ReadChip = {
  text: "in_place" | "instead" | "number";
  values: { place?: string; typed?: string; meant?: string; number?: string };
  q: string;
  /** True: the words are then taken as they were typed. */
  literal: boolean;
};

/** Chips of what was read in `q`: a place is left out of the words, and what stands for another word is taken as typed. */
export function readIn(
  q: string,
  { number, place, words, corrections }: SearchAnswer["understood"],
): ReadChip[] {
  const beside = words.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ");
  const literal = { q, literal: true };
  const chips: (ReadChip | null)[] = [
    place && { text: "in_place", values: { place: place.name }, q: beside, literal: false },
    ...corrections.map((values) => ({ text: "instead" as const, values, ...literal })),
    number === null ? null : { text: "number", values: { number }, ...literal },
  ];
  return chips.filter((chip) => chip !== null);
}
