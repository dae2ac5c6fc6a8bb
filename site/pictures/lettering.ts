import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, type Font } from "fontkitten";

/** One letter: its outline, and how far the next one stands from it, in parts of the size. */
type Letter = { outline: string; advance: number; unitsPerEm: number };

/** Letters of one look, from the fonts of the pages. `bolder` thickens outlines by this part of the size. */
export type Face = { letter(character: string): Letter | null; bolder: number };

const fontFile = (name: string): Font => {
  const font = create(
    readFileSync(join(import.meta.dirname, "../../content/editorial/fonts", `${name}.woff2`)),
  );
  if (font.isCollection) throw new Error(`${name} holds several fonts`);
  return font;
};

function openFace(names: readonly string[], bolder = 0): Face {
  let fonts: Font[] | undefined;
  const letters = new Map<string, Letter | null>();
  const find = (character: string): Letter | null => {
    const code = character.codePointAt(0) ?? 0;
    fonts ??= names.map(fontFile);
    const font = fonts.find((one) => one.hasGlyphForCodePoint(code));
    if (font === undefined) return null;
    const { path, advanceWidth } = font.glyphForCodePoint(code);
    const { unitsPerEm } = font;
    return { outline: path.toSVG(), advance: advanceWidth / unitsPerEm, unitsPerEm };
  };
  return {
    letter: (character) => letters.getOrInsertComputed(character, find),
    bolder,
  };
}

export const serif = openFace(["fraunces"]);
export const sans = openFace(["figtree", "figtree-ext"]);
/** For headings with letters that the serif lacks. */
export const boldSans = openFace(["figtree", "figtree-ext"], 0.032);

const withoutOutline =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Variation_Selector}\p{Cf}\u20E3]/gu;

/**
 * A text on one line as it can be drawn: composed, without emoji and marks that no one sees. Null when a letter is left
 * that the face lacks, or nothing is: a picture never shows boxes.
 */
export function drawable(text: string, face: Face): string | null {
  const line = text
    .slice(0, readMax)
    .normalize("NFC")
    .replaceAll(withoutOutline, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return line !== "" && Array.from(line).every((one) => face.letter(one) !== null) ? line : null;
}
/** Of a longer text only the beginning could be seen. */
const readMax = 400;

/** Width of a drawable text at a size in pixels. */
export function widthOf(text: string, face: Face, size: number): number {
  let width = 0;
  for (const character of text) width += face.letter(character)?.advance ?? 0;
  return width * size;
}

/** The text as lines that are no wider, at most `linesMax` of them; what does not fit is cut, with "…" at its end. */
export function wrapped(
  text: string,
  face: Face,
  { size, width, linesMax }: { size: number; width: number; linesMax: number },
): { lines: string[]; isCut: boolean } {
  const fits = (line: string) => widthOf(line, face, size) <= width;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((whole) => pieces(whole, fits))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
    if (lines.length === linesMax) {
      lines[linesMax - 1] = cut(lines[linesMax - 1] ?? "", fits);
      return { lines, isCut: true };
    }
  }
  return { lines: [...lines, line], isCut: false };
}

/** A word in pieces none of which is wider than a line. */
function pieces(word: string, fits: (line: string) => boolean): string[] {
  if (fits(word)) return [word];
  const found: string[] = [];
  let piece = "";
  for (const character of word) {
    if (!fits(piece + character) && piece !== "") {
      found.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...found, piece];
}

/** Cut at a word, unless little would be left. */
function cut(line: string, fits: (line: string) => boolean): string {
  let kept = line;
  while (kept !== "" && !fits(`${kept}…`)) kept = kept.slice(0, -1);
  const lastSpace = kept.length < line.length ? kept.lastIndexOf(" ") : -1;
  const whole = lastSpace > kept.length / 2 ? kept.slice(0, lastSpace) : kept;
  return `${whole.replace(/[\s,;:.–-]+$/, "")}…`;
}

/** A line as paths of SVG, its base line beginning at a place. Letters are outlines, so that no text of anybody is markup. */
export function lineSvg(
  text: string,
  face: Face,
  { x, y, size, colour }: { x: number; y: number; size: number; colour: string },
): string {
  let at = x;
  let paths = "";
  for (const character of text) {
    const letter = face.letter(character);
    if (letter === null) continue;
    const scale = size / letter.unitsPerEm;
    const stroke = face.bolder * letter.unitsPerEm;
    const thicker = stroke === 0 ? "" : ` stroke="${colour}" stroke-width="${stroke}"`;
    paths += `<path d="${letter.outline}" transform="translate(${at.toFixed(1)} ${y}) scale(${scale} ${-scale})"${thicker}/>`;
    at += letter.advance * size;
  }
  return `<g fill="${colour}">${paths}</g>`;
}
