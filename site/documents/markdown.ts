import { withoutUnsafe } from "#content/nonprofit/text.ts";

// Bare addresses become links in most dialects, so the colon of "https://" and the dot of "www." count too.
const active = /[\\`*_[\]<>#|~&!]|:(?=\/\/)|(?<=www)\./i;
const activeAll = /[\\`*_[\]<>#|~&!]|:(?=\/\/)|(?<=www)\./gi;
/** Anything but Latin letters and what parts sentences: nearly all texts have none of it, and are told at once. */
const unusual = /[^A-Za-z0-9À-ɏ ,.;:'"()/%?’“”–—-]/;
const startsPlainly = /^[A-Za-zÀ-ɏ]/;
/** What means something only at the start of a line: bullets, rules, underlines, numbers of a list. */
const leading = /^([-+=]|\d{1,9}(?=[.)]))/;

/**
 * Third-party text as plain words on one line of markdown: no heading, list, link, image, HTML or code can come of
 * it, and no invisible character survives.
 */
export function markdownLine(text: string): string {
  const isPlain = startsPlainly.test(text) && !unusual.test(text);
  if (isPlain && !text.includes("://") && !text.includes("www.")) return text;
  const line = withoutUnsafe(text).replaceAll(/\s+/g, " ").trim();
  const escaped = active.test(line) ? line.replaceAll(activeAll, String.raw`\$&`) : line;
  if (!leading.test(escaped)) return escaped;
  return escaped.replace(leading, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}

/** The paragraphs of a third-party text, each as `markdownLine`, with an empty line between them. */
export function markdownParagraphs(text: string): string {
  if (!text.includes("\n")) return markdownLine(text);
  return text
    .split(/\n\s*\n/)
    .map(markdownLine)
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}
