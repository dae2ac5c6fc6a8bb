import wording from "#content/editorial/wording.json";
import { plainLetters } from "./text.ts";

/** A claim found in a text: as written, where it begins (characters), and what may be said instead. */
export type WordingFault = { phrase: string; at: number; use: string };

/** What may stand between two words of a phrase: spaces, hyphens, and marks that set one of them off. */
const between = String.raw`[\s\p{Pd}\p{Pc}\p{Pi}\p{Pf}"'*~/·]+`;

/** Letters and digits on either side would make it another word. */
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
 * The claims of a text that a recommendation must not make (best, most effective, top-rated, …), in reading order,
 * each with restrained words to use instead. Letters in disguise are read as what they look like. Empty: the text may
 * stand. Source: spec, "Ranking weights".
 */
export function wordingFaults(text: string): WordingFault[] {
  const plain = plainLetters(text);
  // Harmless phrases ("best practice") are blanked in place, so that positions stay true.
  const read = plain.text.replaceAll(harmless, (phrase) => " ".repeat(phrase.length));
  return forbidden
    .flatMap(({ claim, use }) => hits(claim, read, plain).map((hit) => ({ ...hit, use })))
    .sort((a, b) => a.at - b.at);
}

/** What of a text fits, as it is written. */
const hits = (phrases: RegExp, text: string, { written }: ReturnType<typeof plainLetters>) =>
  [...text.matchAll(phrases)].map(({ 0: { length }, index }) => written(index, length));

const sensitive = wording.sensitive.map(({ claim, phrases }) => ({
  claim: claim as SensitiveClaim["claim"],
  phrases: pattern(phrases),
}));

/** A claim that only a person may let through. */
export type SensitiveClaim = { claim: "impact" | "effectiveness"; phrase: string };

/**
 * What a text says of impact and effectiveness, by a closed list (wording.json, "sensitive"): allowed words, but agents'
 * agreement alone does not make them recommendations. Source: spec, "Versioning" 3.
 */
export function sensitiveClaims(text: string): SensitiveClaim[] {
  const plain = plainLetters(text);
  return sensitive.flatMap(({ claim, phrases }) =>
    hits(phrases, plain.text, plain).map(({ phrase }) => ({ claim, phrase })),
  );
}

/** The faults as one sentence for the writer of the text. */
export const describeFaults = (faults: readonly WordingFault[]): string =>
  faults.map(({ phrase, use }) => `"${phrase}" claims too much: say ${use}`).join("; ");
