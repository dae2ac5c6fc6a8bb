import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, type Font } from "fontkitten";

/** One letter: its outline, and how far the next one stands from it, in parts of the size. */
type Letter = { outline: string; advance: number; unitsPerEm: number };

/**
 * Letters of one look, from the fonts of the pages; throws for one that the font lacks. `bolder` thickens outlines by this
 * part of the size.
 */
type Face = { letter(character: string): Letter; bolder: number };

const fontFile = (name: string): Font => {
  const font = create(
    readFileSync(join(import.meta.dirname, "../../content/editorial/fonts", `${name}.woff2`)),
  );
  if (font.isCollection) throw new Error(`${name} holds several fonts`);
  return font;
};

function openFace(name: string, bolder = 0): Face {
  let font: Font | undefined;
  const letters = new Map<string, Letter>();
  const find = (character: string): Letter => {
    const code = character.codePointAt(0) ?? 0;
    font ??= fontFile(name);
    // A picture never shows boxes.
    if (!font.hasGlyphForCodePoint(code)) throw new Error(`${name} has no letter ${character}`);
    const { path, advanceWidth } = font.glyphForCodePoint(code);
    const { unitsPerEm } = font;
    return { outline: path.toSVG(), advance: advanceWidth / unitsPerEm, unitsPerEm };
  };
  return {
    letter: (character) => letters.getOrInsertComputed(character, find),
    bolder,
  };
}

export const serif = openFace("fraunces");
export const sans = openFace("figtree");
export const boldSans = openFace("figtree", 0.032);

/** Width of a text at a size in pixels. */
export function widthOf(text: string, face: Face, size: number): number {
  let width = 0;
  for (const character of text) width += face.letter(character).advance;
  return width * size;
}

/** The text as lines that are no wider. */
export function wrapped(
  text: string,
  face: Face,
  { size, width }: { size: number; width: number },
): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && widthOf(longer, face, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A line as paths of SVG, its base line beginning at a place. Letters are outlines: nothing depends on the fonts of the machine. */
export function lineSvg(
  text: string,
  face: Face,
  { x, y, size, colour }: { x: number; y: number; size: number; colour: string },
): string {
  let at = x;
  let paths = "";
  for (const character of text) {
    const { outline, advance, unitsPerEm } = face.letter(character);
    const scale = size / unitsPerEm;
    const stroke = face.bolder * unitsPerEm;
    const thicker = stroke === 0 ? "" : ` stroke="${colour}" stroke-width="${stroke}"`;
    paths += `<path d="${outline}" transform="translate(${at.toFixed(1)} ${y}) scale(${scale} ${-scale})"${thicker}/>`;
    at += advance * size;
  }
  return `<g fill="${colour}">${paths}</g>`;
}
