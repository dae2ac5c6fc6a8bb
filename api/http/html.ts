/** A piece of HTML that is safe to send: only `html` makes one, and what is put into it is escaped. */
export class Html {
  readonly #text: string;
  /** For `html` and for text that is known to be markup, like a chart's path. */
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** What may stand in a template: text and numbers are escaped, pieces of HTML are not; null, undefined and false are nothing. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/**
 * A template of HTML in which every value is escaped, for text and for quoted attributes alike. Values never stand in
 * an unquoted attribute, in a script or in a style: there escaping would not be enough. Throws when one does.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [at, value] of values.entries()) {
    if (isUnquoted(text)) throw new Error(`a value in an unquoted attribute: …${text.slice(-40)}`);
    text += rendered(value) + (strings[at + 1] ?? "");
  }
  return new Html(text);
}

/** Whether what comes next would be the value of an attribute without quotes: after the = of a tag that is open. */
function isUnquoted(text: string): boolean {
  if (!/=\s*$/.test(text.slice(-20))) return false;
  const tag = text.slice(text.lastIndexOf("<")).replaceAll(/"[^"]*"/g, "");
  // A quote that is left is open: what comes next stands in it.
  return tag.startsWith("<") && !tag.includes(">") && !tag.includes('"');
}

function rendered(part: Part): string {
  if (part instanceof Html) return part.toString();
  if (typeof part === "string") return Bun.escapeHTML(part);
  if (typeof part === "number") return String(part);
  if (part === null || part === undefined || part === false) return "";
  if (!Array.isArray(part)) throw new TypeError("a value that is no part of a page");
  return part.map(rendered).join("");
}
