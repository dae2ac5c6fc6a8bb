import type { SearchAnswer } from "#content/contract/search.ts";

/** What the search recognised in the words: a text of the group "read", and the words (`q`) of a search without it. */
export type ReadChip = {
  text: "in_place" | "instead" | "number";
  values: { place?: string; typed?: string; meant?: string; number?: string };
  q: string;
  /** Whether that search takes the words as typed. */
  literal: boolean;
};

/** Chips for what was recognised in `q`: the search without a place drops its words, the others take the words as typed. */
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
