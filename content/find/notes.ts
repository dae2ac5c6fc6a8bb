import type { SearchAnswer } from "#content/contract/search.ts";
import { textOf } from "./query.ts";
import type { RankedPage } from "./ranking.ts";
import { besidePlace, type Correction, isPlaceAlone, type Reading } from "./reading.ts";

/** What an answer says of how the words were understood. */
export type Understanding = Pick<SearchAnswer, "understood" | "exact" | "note">;

export const asTyped: Understanding = {
  understood: { number: null, place: null, words: [], corrections: [] },
  exact: true,
  note: null,
};

/** The understanding of a register number. Registers may know an organisation that has no profile. */
export const ofNumber = (number: string, total: number): Understanding => {
  const note = `No profile matches this number. What registers say of it: GET /api/organisations/${number}`;
  const understood = { ...asTyped.understood, number };
  return { ...asTyped, understood, note: total > 0 ? null : note };
};

/** How words were read to give results. */
export type Interpretation = {
  reading: Reading;
  corrections?: readonly Correction[];
  /** Why all results are only related. */
  note?: string;
  /** Name of the place where the results are, if it is not the one asked for. */
  area?: string;
};

export const elsewhere = "other places";
export const someNote = "No profile has all of the words. These have some of them.";
export const causeNote = `Nothing in this place has all of the words. ${relatedNote("These", "them")}`;

function relatedNote(results: "These" | "The others", words: "them" | "the words") {
  return `${results} have some of ${words}, or work for the same cause.`;
}

/** No note if no word was replaced: `corrected` may only have added that the letters are initials. */
export function correctionNote(corrections: readonly Correction[]): { note?: string } {
  if (corrections.length === 0) return {};
  const spellings = corrections.map(({ typed, meant }) => `"${meant}" instead of "${typed}"`);
  const looked = `Looked for ${[...new Set(spellings)].join(", ")}.`;
  return { note: `Few profiles or none have the words as typed. ${looked}` };
}

export function understanding(
  { reading, corrections = [], note, area }: Interpretation,
  page: RankedPage,
): Understanding {
  const { place } = reading;
  const remark = note ?? noteOf(reading, area ?? null, page);
  return {
    understood: {
      number: null,
      place: place === null ? null : { name: place.name, shown: area ?? place.name },
      words: besidePlace(reading).map(({ searchWord }) => searchWord.typed ?? textOf(searchWord)),
      corrections: [...corrections],
    },
    exact: remark === null,
    note: remark,
  };
}

export function kindNoteOf({ total, matching }: RankedPage): string {
  if (matching === total)
    return "Some of these lack the words themselves, but are organisations of this kind.";
  const first =
    matching === 1
      ? "The first lacks some of the words, but is an organisation of this kind."
      : `Some of the first ${matching} lack some of the words, but are organisations of this kind.`;
  return `${first} ${relatedNote("The others", "the words")}`;
}

function noteOf(
  reading: Reading,
  area: string | null,
  { total, matching }: RankedPage,
): string | null {
  const place = reading.place?.name ?? null;
  if (total === 0) return place === null ? null : `Nothing in ${place} matches.`;
  if (area !== null) return `Nothing in ${place} matches. These are in ${area}.`;
  if (matching === total) return null;
  if (matching === 0)
    return isPlaceAlone(reading)
      ? `Nothing is in ${place}. These have it in their name.`
      : someNote;
  const first = matching === 1 ? "One profile has" : `${matching} profiles have`;
  return `${first} all of the words. ${relatedNote("The others", "them")}`;
}
