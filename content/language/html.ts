/** Tells Astro not to escape. It is a symbol because compiled pages have their own copy of the class. */
const astroHtml: unique symbol = Symbol.for("astro:html-string");

/** A safe piece of HTML: only a template makes one, and values in it are escaped. */
export class Html {
  readonly #text: string;
  /** For templates, and for text known to be markup, such as a chart's path. */
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

/** The values of a template: text and numbers are escaped, pieces of HTML are not; null, undefined and false are empty. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/**
 * A template of HTML that escapes every value, for text and quoted attributes. Throws if a value is in an unquoted
 * attribute, a script or a style, where escaping would not be enough.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  checkQuotes(strings);
  let text = strings[0] ?? "";
  for (const [at, value] of values.entries()) text += rendered(value) + (strings[at + 1] ?? "");
  return new Html(text);
}

/** `markup` for templates that the formatter may break into lines, where a space between tags does not matter. */
export const html: typeof markup = (strings, ...values) => markup(strings, ...values);

const checked = new WeakSet<TemplateStringsArray>();

/** Checks a template on first use; its values make no difference. */
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

/** Where the next value would be, if escaping is not enough there; else null. */
function unescapedPlace(text: string): string | null {
  const code = /<(script|style)\b(?!.*<\/\1)/is.exec(text)?.[1];
  const tag = text.slice(text.lastIndexOf("<")).replaceAll(/"[^"]*"/g, '""');
  const rest = tag.replaceAll('""', "");
  // A remaining quote is open: the next value is inside it.
  const isOpen = tag.startsWith("<") && !rest.includes(">") && !rest.includes('"');
  if (isOpen && /=\s*[^\s>"]*$/.test(tag)) return "an unquoted attribute";
  return code === undefined || isOpen || rest.includes('"') ? null : `a ${code}`;
}

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
