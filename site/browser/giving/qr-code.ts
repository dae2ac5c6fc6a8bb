import { encode } from "uqr";

const svg = "http://www.w3.org/2000/svg";
/** Whole pixels for a module keep it sharp; where there is less room, the page makes it smaller. */
const modulePixels = 5;
/** Modules that stay white around a code. Source: ISO/IEC 18004. */
const quietZone = 4;

/**
 * A text as a QR code, black on white whatever the page looks like: scanners want it so. `label` is what it is for
 * people who do not see it. No style and no markup, so that no policy of a page stands in its way.
 */
export function drawQrCode(text: string, label: string): SVGSVGElement {
  // A screen has no stains: what helps a camera most is few, large modules.
  const { size, data } = encode(text, { ecc: "L", boostEcc: true, border: quietZone });
  const drawing = document.createElementNS(svg, "svg");
  drawing.setAttribute("viewBox", `0 0 ${size} ${size}`);
  drawing.setAttribute("width", String(size * modulePixels));
  drawing.setAttribute("shape-rendering", "crispEdges");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  drawing.append(path("#fff", `M0 0h${size}v${size}H0z`), path("#000", modulesOf(data)));
  return drawing;
}

/** Dark modules as horizontal bars, so that a code is one short path. */
function modulesOf(rows: readonly (readonly boolean[])[]): string {
  let bars = "";
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x++;
      const length = x - from + 1;
      bars += `M${from} ${y}h${length}v1h-${length}z`;
    }
  }
  return bars;
}

function path(fill: string, d: string): SVGPathElement {
  const element = document.createElementNS(svg, "path");
  element.setAttribute("fill", fill);
  element.setAttribute("d", d);
  return element;
}
