import { fold } from "#content/nonprofit/text.ts";
import type { SearchWord } from "./query.ts";

/**
 * The half-typed word in the form in which the directory's words are kept, when its completions need looking up;
 * null when there is none. The index matches prefixes of stems: "communi" begins no stem, for "community" is kept
 * as "commun". Under four letters no stem is shorter than what is typed.
 */
export function halfTypedWord(words: readonly SearchWord[]): string | null {
  const last = words.find(({ prefix }) => prefix);
  const [form, ...others] = last?.forms ?? [];
  if (form === undefined || others.length > 0) return null;
  const folded = fold(form);
  return folded.length >= halfTypedLengthMin && !folded.includes(" ") ? folded : null;
}

const halfTypedLengthMin = 3;
const completionsMax = 24;

/** Endings that the Porter stemmer may take off or change, longest chains included. */
const ending =
  /(?:(?:a|i)?(?:bl[ey]|bilit(?:y|ies))|(?:i|a)?t?(?:ion|ional|ionally|ions)|at(?:e|es|ed|ing|or|ors|ive|ives)|(?:i)?z(?:e|es|ed|er|ers|ing|ings|ations?)|ali(?:ty|ties|sm|sms|zes?|zed|zing)|(?:e|a)n(?:ce|ces|cy|cies|t|ts|tly)|ments?|iv(?:e|es|ely|eness|ity|ities)|ical(?:ly)?|icate[sd]?|iciti?(?:y|ies)|fu(?:l|lly|lness)|ness(?:es)?|ous(?:ly|ness)?|i?al(?:ly|s)?|i(?:c|cs|sm|sms|ty|ties|es|ed|ng|ngs)|[ie]ly|e?d|e(?:s|r|rs|d|dly)|ing(?:s|ly)?|ss?es|at|[ai]bl|iou|y|e|s)$/;

/** Endings under which the stem of what is typed is no longer the beginning of it: "any" is kept as "ani". */
const changing = /(?:ys?|ing|ed|ational|izer|enci|anci|aliti|iviti|biliti|logi)$/;

/**
 * Of the directory's words that begin with a half-typed word, those that its stem may not find: what is typed reaches
 * into an ending that stemming takes off, or changes when it is stemmed itself. The others are found by the prefix
 * alone. At most 24, the shortest first.
 */
export function completionsToAdd(halfTyped: string, vocabulary: readonly string[]): string[] {
  const changes = changing.test(halfTyped);
  return vocabulary
    .filter((word) => changes || bareLength(word) <= halfTyped.length)
    .filter((word) => word.length > halfTyped.length && word.length <= wordLengthMax)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, completionsMax);
}

const wordLengthMax = 40;
const endingsMax = 4;

/** How long a word is at least after its endings are taken off; a doubled consonant may become one. */
function bareLength(word: string): number {
  let bare = word.slice(0, wordLengthMax);
  for (let taken = 0; taken < endingsMax; taken++) {
    const end = ending.exec(bare);
    if (end === null || end.index < 2) break;
    bare = bare.slice(0, end.index);
  }
  const { length } = bare;
  if (length === word.length) return length;
  return length + (bare[length - 1] === bare[length - 2] ? 0 : 1);
}
