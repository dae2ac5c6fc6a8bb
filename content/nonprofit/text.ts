import { fail, ok, type Result } from "#content/contract/base/result.ts";
import lookalikeLetters from "#content/editorial/lookalike-letters.json";
import wording from "#content/editorial/wording.json";

/** A text in lower case without accents, with single spaces, for sorting and comparing names. */
export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** The letters and digits of a text in lower case: texts with the same ones say the same. */
export const lettersOf = (text: string): string =>
  text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");

/**
 * The first character that no field may contain, as "U+202E", or null. Refused are control characters, bidi controls, stray
 * tag characters, invisible formatting, lone surrogates and noncharacters. Prose may contain line breaks, tabs, ZWJ, ZWNJ
 * and the tags of flag emoji. Linear in the length.
 */
export function unsafeCharacter(text: string, { prose }: { prose: boolean }): string | null {
  const checked = prose ? text.replaceAll(flagEmoji, "").replaceAll(proseOnly, "") : text;
  const character = unsafe.exec(checked)?.[0];
  if (character === undefined) return null;
  const point = Array.from(character).at(-1)?.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A black flag, its tags (at most 16), and the closing tag. Source: Unicode TS 51, "Emoji tag sequence". */
const flagEmoji = /\u{1F3F4}[\u{E0020}-\u{E007E}]{1,16}\u{E007F}/gu;

// Ideographic variation selectors are real writing after a Han character; elsewhere they hide data. Fillers of old Korean
// and the grapheme joiner are real writing too, but would let different names look the same, so only prose may have them.
const proseOnly =
  /[\u034F\n\r\t\u115F\u1160\u200C\u200D]|(?<=\p{Script=Han})[\u{E0100}-\u{E01EF}]/gu;

const unsafe = new RegExp(
  [
    String.raw`\p{Cc}|\p{Cs}|\p{Zl}|\p{Zp}`,
    String.raw`[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]`, // Bidi controls.
    String.raw`[\u{E0000}-\u{E007F}]`, // Tags.
    String.raw`[\u00AD\u034F\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200D\u2060-\u2064\u206A-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFC]`, // Invisible.
    String.raw`[\u{E0100}-\u{E01EF}]|[\uFE00-\uFE0F]{2}`, // Runs of variation selectors carry data.
    String.raw`\p{Noncharacter_Code_Point}`,
  ].join("|"),
  "u",
);

const keptOrUnsafe = new RegExp(
  `(${flagEmoji.source}|${proseOnly.source})|(?:${unsafe.source})`,
  "gu",
);

/** A text without the characters that no field may contain; line breaks and tabs stay. Fast for a clean text. */
export function withoutUnsafe(text: string): string {
  if (!unsafe.test(text)) return text;
  return text.replaceAll(keptOrUnsafe, (_, match: string | undefined) => match ?? "");
}

/** Whether a text has no visible character. */
const isBlank = (text: string): boolean =>
  /^[\s\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);

/** How many characters (code points) a text has. */
export const characterCount = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Reads someone's text: at most `lengthMax` characters, at least one of them visible, none unsafe. */
export function readSentences(
  name: string,
  raw: string,
  lengthMax: number,
): Result<string, string> {
  const text = raw.normalize("NFC").trim();
  const fault = textFault(name, text, { lengthMax, prose: true });
  return fault === null ? ok(text) : fail(fault);
}

/** Why someone's text cannot be used: it is too long, has no visible character or an unsafe one; null if it can. */
export function textFault(
  name: string,
  text: string,
  { lengthMax = Infinity, prose = false }: { lengthMax?: number; prose?: boolean } = {},
): string | null {
  // Test the cheap bound first: a text of n UTF-16 units has at least n/2 characters.
  if (text.length > lengthMax * 2 || characterCount(text) > lengthMax)
    return tooLong(name, lengthMax);
  if (isBlank(text)) return `${name} is empty.`;
  const refused = unsafeCharacter(text, { prose });
  return refused === null ? null : `${name} holds a character that is not allowed (${refused}).`;
}

export const tooLong = (name: string, lengthMax: number): string =>
  `${name} has at most ${lengthMax.toLocaleString("en")} characters.`;

export type PlainLetters = {
  text: string;
  /** The original text of this many characters of `text` from an index on, and its position in the original. */
  written: (at: number, length: number) => { phrase: string; at: number };
};

/**
 * A text as readers perceive it, for finding words: without accents, styles and invisible characters, and with Greek and
 * Cyrillic letters as the Latin ones they look like. Letter case stays. Linear in the length.
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
const folded = new Map<string, string>();

/** One character as plain letters: "" for an accent, several for a ligature. */
function plainOf(character: string): string {
  if (character < "\x80") return character;
  const before = folded.get(character);
  if (before !== undefined) return before;
  const bare = character.normalize("NFKD").replaceAll(unseen, "");
  const plain = Array.from(
    bare,
    (letter) => latin.get(letter) ?? latin.get(letter.toLowerCase()) ?? letter,
  ).join("");
  if (folded.size < knownMax) folded.set(character, plain);
  return plain;
}

const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/** A query without e-mail addresses and telephone numbers, which people put into free text: for logs. */
export const withoutContacts = (text: string): string =>
  text
    .replaceAll(/[^\s@]{1,64}@[^\s@]{1,255}/g, "[address]")
    .replaceAll(/\+?\d(?:[\s().-]{0,2}\d){6,}/g, "[number]");

/** Matches links, e-mail addresses, host names, and 32 characters that may be a wallet. */
export const linkLike = /:\/\/|www\.|\S@\S|[\p{L}\p{N}]\.\p{L}{2}|[1-9A-HJ-NP-Za-km-z]{32}/iu;

/** A claim in a text: its words, its position in characters, and what to write instead. */
export type WordingFault = { phrase: string; at: number; use: string };

/** What may separate two words of a phrase: spaces, hyphens, and marks of emphasis. */
const between = String.raw`[\s\p{Pd}\p{Pc}\p{Pi}\p{Pf}"'*~/·]+`;

/** A match may not have letters or digits next to it: they would make another word. */
const pattern = (phrases: readonly string[]): RegExp => {
  const forms = [...phrases]
    .sort((a, b) => b.length - a.length)
    .map((phrase) => phrase.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .map((phrase) => phrase.replaceAll(/[ -]+/g, between));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms.join("|")})(?![\\p{L}\\p{N}])`, "giu");
};

const harmless = pattern(wording.harmless);
const forbidden = wording.forbidden.map(({ phrases, use }) => ({ claim: pattern(phrases), use }));

/**
 * The claims of a text that a recommendation must not make (best, most effective, top-rated, …), in reading order, each with
 * restrained words to use instead. Disguised letters are read as what they look like. Empty when the text is acceptable.
 */
export function wordingFaults(text: string): WordingFault[] {
  const plain = plainLetters(text);
  // Blank harmless phrases ("best practice") with spaces, so that positions stay correct.
  const read = plain.text.replaceAll(harmless, (phrase) => " ".repeat(phrase.length));
  return forbidden
    .flatMap(({ claim, use }) => hits(claim, read, plain).map((hit) => ({ ...hit, use })))
    .sort((a, b) => a.at - b.at);
}

/** The matches of a pattern, as written in the original. */
const hits = (phrases: RegExp, text: string, { written }: ReturnType<typeof plainLetters>) =>
  [...text.matchAll(phrases)].map(({ 0: { length }, index }) => written(index, length));

const sensitive = wording.sensitive.map(({ claim, phrases }) => ({
  claim: claim as SensitiveClaim["claim"],
  phrases: pattern(phrases),
}));

/** A claim that only a person may let through. */
export type SensitiveClaim = { claim: "impact" | "effectiveness"; phrase: string };

/**
 * Claims of impact and effectiveness in a text, by a closed list (wording.json, "sensitive"). They are allowed, but agreeing
 * agents alone cannot publish them as recommendations.
 */
export function sensitiveClaims(text: string): SensitiveClaim[] {
  const plain = plainLetters(text);
  return sensitive.flatMap(({ claim, phrases }) =>
    hits(phrases, plain.text, plain).map(({ phrase }) => ({ claim, phrase })),
  );
}

/** The faults as one sentence to the writer of the text. */
export const describeFaults = (faults: readonly WordingFault[]): string =>
  faults.map(({ phrase, use }) => `"${phrase}" claims too much: say ${use}`).join("; ");
