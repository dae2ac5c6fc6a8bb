import assert from "node:assert/strict";
import worldMap from "#content/editorial/world-map.json";
import { Resvg } from "@resvg/resvg-js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Font, create } from "fontkitten";

/** The words of a picture that other sites show for a page. */
export type PictureWords = {
  kicker: string;
  title: string;
  line: string;
  /** Whether the directory is a sample. */
  isSample: boolean;
};

const pictureWidth = 1_200;
const pictureHeight = 630;

// The pages' light colours, as in content/editorial/house.css: a picture has no dark form.
const colours = {
  ground: "#fcfaf5",
  land: "#f1ebde",
  ink: "#18211e",
  quiet: "#55605b",
  accent: "#0f5a49",
  gold: "#e9a83a",
  light: "#ffffff",
};

const left = 72;
const textWidth = pictureWidth - 2 * left;
const footTop = 534;
const kickerSize = 32;
const titleSize = 96;
const lineSize = 34;

const land = Object.values(worldMap).join("");

/** Draws a picture of 1200 by 630 pixels, as PNG. The same words give the same bytes. Takes about 30 ms. */
export function drawPicture(words: PictureWords): Uint8Array {
  const svg = pictureSvg(words);
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

function pictureSvg({ kicker, title, line, isSample }: PictureWords): string {
  const titles = wrapped(title, serif, { size: titleSize, width: textWidth });
  const notes = wrapped(line, sans, { size: lineSize, width: textWidth });
  const titleStep = titleSize * 1.1;
  const lineStep = lineSize * 1.35;
  const height = kickerSize * 1.6 + titles.length * titleStep + 24 + notes.length * lineStep;
  const top = Math.max(left, (footTop - height) / 2);
  assert(top + height < footTop, `the picture has no room for all words of ${title}`);
  let y = top + kickerSize;
  let text = lineSvg(kicker, boldSans, { x: left, y, size: kickerSize, colour: colours.accent });
  y += kickerSize * 0.6;
  for (const part of titles) {
    y += titleStep;
    text += lineSvg(part, serif, { x: left - 3, y, size: titleSize, colour: colours.ink });
  }
  y += 24;
  for (const part of notes) {
    y += lineStep;
    text += lineSvg(part, sans, { x: left, y, size: lineSize, colour: colours.quiet });
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pictureWidth}" height="${pictureHeight}">
<rect width="100%" height="100%" fill="${colours.ground}"/>
<g transform="translate(-100 -16) scale(1.4286)" shape-rendering="crispEdges"><path d="${land}" fill="${colours.land}"/></g>
${text}
${footSvg(isSample ? "Invented sample data" : "Open directory of nonprofits")}
</svg>`;
}

/** The logo and the name of the directory; at the right, the text of `says`. */
function footSvg(says: string): string {
  const y = footTop + 61;
  const name = lineSvg("Almoner", serif, { x: left + 62, y, size: 42, colour: colours.light });
  const from = pictureWidth - left;
  const note = lineSvg(says, sans, {
    x: from - widthOf(says, sans, 28),
    y: y - 3,
    size: 28,
    colour: colours.light,
  });
  return `<rect y="${footTop}" width="100%" height="${pictureHeight - footTop}" fill="${colours.accent}"/>
<g transform="translate(${left - 6} ${footTop + 22}) scale(1.65)"><circle cx="16" cy="9.5" r="4.5" fill="${colours.gold}"/><path d="M4 15.5h24c0 7-5.4 12.5-12 12.5S4 22.5 4 15.5z" fill="${colours.light}"/></g>
${name}${note}`;
}

/** One letter: its outline, and the distance to the next one as a fraction of the size. */
type Letter = { outline: string; advance: number; unitsPerEm: number };

/**
 * A typeface from the fonts of the pages. `letter` throws for a letter that the font lacks; `bolder` thickens outlines by
 * this fraction of the size.
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
    // Otherwise the picture would show a box.
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

/** Width of a text, in pixels, at a size in pixels. */
export function widthOf(text: string, face: Face, size: number): number {
  let width = 0;
  for (const character of text) width += face.letter(character).advance;
  return width * size;
}

/** Breaks a text at spaces into lines of at most `width` pixels; a single word may be wider. */
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

/** A line as SVG paths, its baseline starting at (x, y). Letters are outlines, so the machine's fonts do not matter. */
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
