import { incomeBands } from "#content/contract/browse.ts";
import causes from "#content/editorial/causes.json";
import type { Texts } from "#content/language/texts.ts";

/** At most `lengthMax` characters of a text on one line; a shortened text ends with "…", after a whole word if possible. */
export function clipped(text: string, lengthMax: number): string {
  const line = text.length > lengthMax * 2 ? text.slice(0, lengthMax * 2) : text;
  const single = line.replaceAll(/\s+/g, " ").trim();
  if (single.length <= lengthMax) return single;
  const cut = single.slice(0, lengthMax - 1);
  const lastSpace = cut.lastIndexOf(" ");
  // A cut in the middle of a surrogate pair would leave half a character.
  const start =
    lastSpace > lengthMax / 2 ? cut.slice(0, lastSpace) : cut.replace(/[\uD800-\uDBFF]$/, "");
  return `${start.replace(unfinished, "")}…`;
}

/** What a cut text may not end with: punctuation, and the mark of a list's first entry, "(a)". */
const unfinished = /(?:[\s,;:.–-]|\((?:[a-z]|[ivx]{2,4}|\d{1,2})\))+$/;

const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** A third-party text for the inside of a sentence: text written from right to left does not reorder the words around it. */
export const isolated = (text: string): string =>
  rightToLeft.test(text) ? `\u2068${text}\u2069` : text;

/** Places in one line, each in its own writing direction. */
export const placesInLine = (places: readonly (string | null)[]): string =>
  joined(
    places.map((place) => (place === null ? null : isolated(place))),
    ", ",
  );

/** Scripts that only one language uses. */
const scripts: readonly (readonly [script: RegExp, language: string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Thai}/u, "th"],
  [/\p{Script=Hebrew}/u, "he"],
  [/\p{Script=Greek}/u, "el"],
  [/\p{Script=Armenian}/u, "hy"],
  [/\p{Script=Georgian}/u, "ka"],
];

/** The language of a third-party text, if its letters tell it; browsers choose voices and glyphs by it. */
export const languageOf = (text: string): string | undefined =>
  /[\u0370-\uFFFF]/.test(text) ? scripts.find(([script]) => script.test(text))?.[1] : undefined;

/** A name that its bearer chose, in quotation marks. */
export const quoted = (name: string): string => `“${name}”`;

/** Joins the parts that are neither null nor empty. */
export const joined = (parts: readonly (string | null)[], separator: string): string =>
  parts.filter((part) => part !== null && part !== "").join(separator);

/** The paragraphs of a text, which empty lines separate; none for null or "". */
export function paragraphs(text: string | null): string[] {
  if (text === null || text === "") return [];
  if (!text.includes("\n")) return [text];
  return text.split(/\n\s*\n/).filter((part) => part.trim() !== "");
}

/** The names of causes and of income bands by id, without the bands "unknown" and "none". */
export function rowNames(t: Texts): Record<string, string> {
  const bands = incomeBands.filter(({ id }) => id !== "unknown" && id !== "none");
  return Object.fromEntries([...causes, ...bands].map(({ id, name }) => [id, t.word(name)]));
}
