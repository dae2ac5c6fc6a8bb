import assert from "node:assert/strict";
import { Resvg } from "@resvg/resvg-js";
import worldMap from "#content/editorial/world-map.json";
import { boldSans, lineSvg, sans, serif, widthOf, wrapped } from "./lettering.ts";

/** What a picture that other sites show of a page says. */
export type PictureWords = {
  kicker: string;
  title: string;
  line: string;
  /** Whether the directory is a sample. */
  isSample: boolean;
};

const pictureWidth = 1_200;
const pictureHeight = 630;

// The colours of the pages by light, as in content/editorial/house.css: a picture has no dark form.
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

/** A picture of 1200 by 630 pixels, as PNG. The same words give the same bytes. About 30 ms. */
export function drawPicture(words: PictureWords): Uint8Array {
  const svg = pictureSvg(words);
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

function pictureSvg({ kicker, title, line, isSample }: PictureWords): string {
  const titles = wrapped(title, serif, { size: titleSize, width: textWidth });
  const notes = wrapped(line, sans, { size: lineSize, width: textWidth });
  const [titleStep, lineStep] = [titleSize * 1.1, lineSize * 1.35];
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

/** The mark and the name of the directory; at the right, what it says of the picture. */
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
