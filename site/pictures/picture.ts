import { Resvg } from "@resvg/resvg-js";
import worldMap from "#content/editorial/world-map.json";
import { boldSans, drawable, lineSvg, sans, serif, widthOf, wrapped } from "./lettering.ts";

/** What a picture that other sites show of a page says. `country` is an ISO 3166 code, marked on the map. */
export type Pictured = {
  kicker: string;
  title: string;
  line: string;
  country: string | null;
  /** Whether the organisation has claimed its profile. */
  verified: boolean;
  /** Whether the directory is a sample. */
  isSample: boolean;
};

const pictureWidth = 1_200;
const pictureHeight = 630;

// The colours of the pages by light, as in content/editorial/house.css: a picture has no dark form.
const colours = {
  ground: "#fcfaf5",
  land: "#f1ebde",
  marked: "#f6dba4",
  ink: "#18211e",
  quiet: "#55605b",
  accent: "#0f5a49",
  gold: "#e9a83a",
  light: "#ffffff",
};

const left = 72;
const textWidth = pictureWidth - 2 * left;
const footTop = 534;
/** From the largest that fits. */
const titleSizes = [
  { size: 96, linesMax: 2 },
  { size: 80, linesMax: 3 },
  { size: 62, linesMax: 4 },
  { size: 50, linesMax: 5 },
] as const;

const shapes = worldMap as Readonly<Record<string, string>>;
const land = Object.values(shapes).join("");

/** Whether a title can be drawn in the letters that there are. */
export const canDraw = (title: string): boolean => drawable(title, boldSans) !== null;

/**
 * A picture of 1200 by 630 pixels, as PNG. The same words give the same bytes. Throws for a title that cannot be drawn;
 * other words that cannot are left out. About 30 ms.
 */
export function drawPicture(shown: Pictured): Uint8Array {
  const svg = pictureSvg(shown);
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

function pictureSvg({ kicker, title, line, country, verified, isSample }: Pictured): string {
  const face = drawable(title, serif) === null ? boldSans : serif;
  const shownTitle = drawable(title, face);
  if (shownTitle === null) throw new Error("the title has letters that no font has");
  const { lines, size } = titleLines(shownTitle, face);
  const below = drawable(line, sans) ?? "";
  const noteSize = 34;
  const notes = wrapped(below, sans, { size: noteSize, width: textWidth, linesMax: 2 }).lines;
  const kickerSize = 32;
  const titleStep = Math.round(size * 1.1);
  const height = kickerSize * 1.6 + lines.length * titleStep + 24 + notes.length * noteSize * 1.35;
  let y = Math.max(96, (footTop - height) / 2 + kickerSize);
  let text = lineSvg(drawable(kicker, sans) ?? "", boldSans, {
    x: left,
    y,
    size: kickerSize,
    colour: colours.accent,
  });
  y += kickerSize * 0.6;
  for (const one of lines) {
    y += titleStep;
    text += lineSvg(one, face, { x: left - 3, y, size, colour: colours.ink });
  }
  y += 24;
  for (const one of notes) {
    y += noteSize * 1.35;
    text += lineSvg(one, sans, { x: left, y, size: noteSize, colour: colours.quiet });
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pictureWidth}" height="${pictureHeight}">
<rect width="100%" height="100%" fill="${colours.ground}"/>
${mapSvg(country)}
${text}
${footSvg(isSample ? "Invented sample data" : verified ? "Claimed by the organisation" : "Open directory of nonprofits")}
</svg>`;
}

function titleLines(title: string, face: typeof serif) {
  for (const { size, linesMax } of titleSizes) {
    const { lines, isCut } = wrapped(title, face, { size, width: textWidth, linesMax });
    if (!isCut || size === titleSizes.at(-1)?.size) return { lines, size };
  }
  throw new Error("there is no size for titles");
}

/** The land of the world behind the words, a country in it marked. */
function mapSvg(country: string | null): string {
  const marked = shapes[country ?? ""];
  const shape = marked === undefined ? "" : `<path d="${marked}" fill="${colours.marked}"/>`;
  return `<g transform="translate(-100 -16) scale(1.4286)" shape-rendering="crispEdges"><path d="${land}" fill="${colours.land}"/>${shape}</g>`;
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
