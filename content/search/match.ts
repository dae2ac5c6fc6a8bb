import { fold } from "#content/nonprofit/text.ts";

/**
 * What a profile must hold to be found. Said once, and answered by FTS5 (`ftsQuery`) and from postings in memory alike.
 */
export type Match =
  | {
      kind: "phrase";
      text: string;
      /** Whatever begins with the last word of the text is meant as well. */
      prefix: boolean;
    }
  | { kind: "all"; of: readonly Match[] }
  | { kind: "any"; of: readonly Match[] }
  | { kind: "without"; match: Match; unwanted: Match }
  | { kind: "inName"; match: Match };

export type Phrase = Extract<Match, { kind: "phrase" }>;

export const phrase = (text: string, prefix = false): Match => ({ kind: "phrase", text, prefix });

export const allOf = (of: readonly Match[]): Match => only(of) ?? { kind: "all", of };
export const anyOf = (of: readonly Match[]): Match => only(of) ?? { kind: "any", of };
export const without = (match: Match, unwanted: Match): Match => ({
  kind: "without",
  match,
  unwanted,
});
export const inName = (match: Match): Match => ({ kind: "inName", match });

const only = (of: readonly Match[]): Match | undefined => (of.length === 1 ? of[0] : undefined);

/** Every phrase that can be found in what matches; `nameOnly` says that only the name is looked at. */
export function phrasesOf(match: Match, nameOnly = false): { phrase: Phrase; nameOnly: boolean }[] {
  if (match.kind === "phrase") return [{ phrase: match, nameOnly }];
  if (match.kind === "inName") return phrasesOf(match.match, true);
  if (match.kind === "without") return phrasesOf(match.match, nameOnly);
  return match.of.flatMap((part) => phrasesOf(part, nameOnly));
}

/** The query of FTS5. Every word stands in quotes, so no text can be a syntax error. */
export function ftsQuery(match: Match): string {
  if (match.kind === "phrase") {
    return `"${match.text.replaceAll('"', '""')}"${match.prefix ? "*" : ""}`;
  }
  if (match.kind === "inName") return `({name} : ${ftsQuery(match.match)})`;
  if (match.kind === "without") return `(${ftsQuery(match.match)} NOT ${ftsQuery(match.unwanted)})`;
  return `(${match.of.map(ftsQuery).join(match.kind === "all" ? " AND " : " OR ")})`;
}

/** The words of a profile: `stems` as the index keeps them, facets among them; `words` as they are written, folded. */
export type ProfileWords = { id: number; stems: readonly string[]; words: readonly string[] };

/** A match as far as single words tell: its phrases by their stems, in whatever order these stand. */
export type StemMatch =
  | {
      kind: "stems";
      stems: readonly string[];
      /** What the last word was typed as, when it may be half typed. */
      begun: string | null;
    }
  | { kind: "all"; of: readonly StemMatch[] }
  | { kind: "any"; of: readonly StemMatch[] };

/** Takes the phrases of a match apart. Where a name is asked for or something is unwanted, more may match than does. */
export function stemMatch(match: Match, stemsOf: (text: string) => readonly string[]): StemMatch {
  if (match.kind === "phrase") {
    const begun = match.prefix ? fold(match.text.split(" ").at(-1) ?? "") : null;
    return { kind: "stems", stems: stemsOf(match.text), begun };
  }
  if (match.kind === "without" || match.kind === "inName") return stemMatch(match.match, stemsOf);
  return { kind: match.kind, of: different(match.of.map((part) => stemMatch(part, stemsOf))) };
}

/** Completions of a word mostly have the same stem. */
const different = (parts: readonly StemMatch[]): StemMatch[] => [
  ...new Map(parts.map((part) => [JSON.stringify(part), part])).values(),
];

/** Whether a profile with these words may match. Never false for one that does. */
export function mayMatch(match: StemMatch, profile: ProfileWords): boolean {
  if (match.kind === "all") return match.of.every((part) => mayMatch(part, profile));
  if (match.kind === "any") return match.of.some((part) => mayMatch(part, profile));
  const { stems, begun } = match;
  if (begun !== null && profile.words.some((word) => word.startsWith(begun))) return true;
  return stems.every((stem, at) =>
    begun !== null && at === stems.length - 1
      ? profile.stems.some((own) => own.startsWith(stem))
      : profile.stems.includes(stem),
  );
}
