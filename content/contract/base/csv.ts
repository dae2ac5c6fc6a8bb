/** Numbers, and texts without a character that can begin a formula. */
const isPlain = /^(?:[+-]?\d[\d.,]*|[^=+\-@＝＋－＠]*)$/;
/** Characters that begin a formula at the start of a cell or of a part of it. */
const marks = /(?<=^|[\s",;])[=+\-@＝＋－＠]/gu;
const isSeparator = /[\s",;]/;

/**
 * A cell with an apostrophe before anything that a spreadsheet would run as a formula, at the start of the cell or, for
 * programs that use another delimiter, of a part of it. Numbers stay unchanged.
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

/** A line of CSV (RFC 4180) in which a spreadsheet runs nothing; items of a list are separated by "; ". */
export const csvLine = (cells: readonly (Cell | readonly Cell[])[], delimiter = ","): string =>
  `${cells
    .map((cell) => (Array.isArray(cell) ? cell.join("; ") : (cell ?? "")))
    .map((cell) => (typeof cell === "string" ? csvCell(cell, delimiter) : String(cell)))
    .join(delimiter)}\r\n`;
