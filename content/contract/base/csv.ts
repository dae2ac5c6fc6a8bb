/** Numbers, and what holds no beginning of a formula. */
const isPlain = /^(?:[+-]?\d[\d.,]*|[^=+\-@＝＋－＠]*)$/;
/** What makes a formula of a cell, or of a part of it, that begins with it. */
const marks = /(?<=^|[\s",;])[=+\-@＝＋－＠]/gu;
const isSeparator = /[\s",;]/;

/**
 * A cell in which an apostrophe stands before what a spreadsheet would take for the beginning of a formula, be it the cell's
 * own or, where another delimiter is read, that of a part of it. Numbers stay as they are.
 */
function csvCell(text: string, delimiter: string): string {
  const begins = (at: number) => {
    let start = at;
    while (isSeparator.test(text[start - 1] ?? "")) start--;
    return start === 0 || /[,;\t\r\n]/.test(text.slice(start, at).replaceAll(delimiter, ""));
  };
  const safe = isPlain.test(text)
    ? text
    : text.replace(marks, (mark, at: number) => (begins(at) ? `'${mark}` : mark));
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Cell = string | number | boolean | null | undefined;

/** A line of CSV that a spreadsheet opens without running anything in it; items of a list stand between "; ". Source: RFC 4180. */
export const csvLine = (cells: readonly (Cell | readonly Cell[])[], delimiter = ","): string =>
  `${cells
    .map((cell) => (Array.isArray(cell) ? cell.join("; ") : (cell ?? "")))
    .map((cell) => (typeof cell === "string" ? csvCell(cell, delimiter) : String(cell)))
    .join(delimiter)}\r\n`;
