/** Numbers, and what holds no beginning of a formula. */
const isPlain = /^(?:[+-]?\d[\d.,]*|[^=+\-@＝＋－＠]*)$/;
/** Where a cell begins, or may begin, and what would make it a formula. Each run is read once, however long it is. */
const beginnings = /([\s",;]+|^)([=+\-@＝＋－＠]?)/gu;

/**
 * A cell in which an apostrophe stands before what a spreadsheet would take for the beginning of a formula, be it the cell's
 * own or, where another delimiter is read, that of a part of it. Numbers stay as they are.
 */
function csvCell(text: string, delimiter: string): string {
  const splits = (run: string) => /[,;\t\r\n]/.test(run.replaceAll(delimiter, ""));
  const safe = isPlain.test(text)
    ? text
    : text.replace(beginnings, (whole, run: string, mark: string, at: number) =>
        mark !== "" && (at === 0 || splits(run)) ? `${run}'${mark}` : whole,
      );
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Cell = string | number | boolean | null | undefined;

/** A line of CSV that a spreadsheet opens without running anything in it; items of a list stand between "; ". Source: RFC 4180. */
export const csvLine = (cells: readonly (Cell | readonly Cell[])[], delimiter = ","): string =>
  `${cells
    .map((cell) => (Array.isArray(cell) ? cell.join("; ") : (cell ?? "")))
    .map((cell) => (typeof cell === "string" ? csvCell(cell, delimiter) : String(cell)))
    .join(delimiter)}\r\n`;
