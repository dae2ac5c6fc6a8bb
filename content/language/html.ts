/** By this Astro knows what it need not escape; the class itself is there twice, for pages are compiled with a copy. */
const astroHtml: unique symbol = Symbol.for("astro:html-string");

/** A piece of HTML that is safe to send: only a template makes one, and what is put into it is escaped. */
export class Html {
  readonly #text: string;
  /** For templates, and for text that is known to be markup, like a chart's path. */
  constructor(text: string) {
    this.#text = text;
  }
  get [astroHtml](): true {
    return true;
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
export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  checkQuotes(strings);
  let text = strings[0] ?? "";
  for (const [at, value] of values.entries()) text += rendered(value) + (strings[at + 1] ?? "");
  return new Html(text);
}

/** The same for templates that the formatter may break into lines, where a space between tags changes nothing. */
export const html: typeof markup = (strings, ...values) => markup(strings, ...values);

const checked = new WeakSet<TemplateStringsArray>();

/** Checks a template when it is used first: its values change nothing. */
function checkQuotes(strings: TemplateStringsArray): void {
  if (checked.has(strings)) return;
  let text = "";
  for (const string of strings.slice(0, -1)) {
    text += string;
    const place = unescapedPlace(text);
    if (place !== null) throw new Error(`a value in ${place}: …${text.slice(-40)}`);
  }
  checked.add(strings);
}

/** Where what comes next would stand, if escaping were not enough there; null elsewhere. */
function unescapedPlace(text: string): string | null {
  const code = /<(script|style)\b(?!.*<\/\1)/is.exec(text)?.[1];
  const tag = text.slice(text.lastIndexOf("<")).replaceAll(/"[^"]*"/g, '""');
  const rest = tag.replaceAll('""', "");
  // A quote that is left is open: what comes next stands in it.
  const isOpen = tag.startsWith("<") && !rest.includes(">") && !rest.includes('"');
  if (isOpen && /=\s*[^\s>"]*$/.test(tag)) return "an unquoted attribute";
  return code === undefined || isOpen || rest.includes('"') ? null : `a ${code}`;
}

/** One part as it stands in HTML. */
export function rendered(part: Part): string {
  if (typeof part === "string") return Bun.escapeHTML(part);
  if (typeof part === "number") return String(part);
  if (part === null || part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map(rendered).join("");
  if (!isHtml(part)) throw new TypeError("a value that is no part of a page");
  return part.toString();
}

const isHtml = (part: Part): part is Html =>
  typeof part === "object" && part !== null && Reflect.get(part, astroHtml) === true;
