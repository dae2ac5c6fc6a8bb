import { escapedText } from "#site/parts/markdown.ts";

/** What stands before and after the text of an element; an element that is not named here is but its text. */
const marks: Readonly<Record<string, { before: string; after?: string }>> = {
  h1: { before: "\n\n# ", after: "\n\n" },
  h2: { before: "\n\n## ", after: "\n\n" },
  h3: { before: "\n\n### ", after: "\n\n" },
  p: { before: "\n\n", after: "\n\n" },
  li: { before: "\n- " },
  ul: { before: "\n\n", after: "\n\n" },
  ol: { before: "\n\n", after: "\n\n" },
  dl: { before: "\n\n", after: "\n\n" },
  dt: { before: "\n- ", after: ": " },
  table: { before: "\n\n", after: "\n\n" },
  tr: { before: "\n|" },
  th: { before: " ", after: " |" },
  td: { before: " ", after: " |" },
  pre: { before: "\n\n```\n", after: "\n```\n\n" },
  code: { before: "`", after: "`" },
  strong: { before: "**", after: "**" },
  br: { before: "\n" },
};

/** Of no use without a browser. */
const skipped: ReadonlySet<string> = new Set([
  "script",
  "style",
  "form",
  "button",
  "svg",
  "template",
]);

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#34": '"',
  "#39": "'",
  "#x27": "'",
  nbsp: " ",
};
const decoded = (text: string): string =>
  text.replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole);

/**
 * What a page says, for models: the words, lists, tables and links of its <main>, without forms and scripts. Links are
 * absolute. For pages of which there is one: it costs as much as drawing the page.
 */
export function pageMarkdown(page: string, baseUrl: string): string {
  let text = "";
  let [hidden, code] = [0, 0];
  const add = (part: string): void => {
    if (hidden === 0) text += part;
  };
  new HTMLRewriter()
    .on("main *", {
      element: (element) => {
        const { tagName } = element;
        const href = element.getAttribute("href");
        const isHidden = skipped.has(tagName) || element.hasAttribute("hidden");
        const isCode = tagName === "code" || tagName === "pre";
        // In a block of code the mark is the block's.
        const { before = "", after = "" } = isCode && code > 0 ? {} : (marks[tagName] ?? {});
        add(href === null ? before : "[");
        if (!element.canHaveContent) return;
        hidden += Number(isHidden);
        code += Number(isCode);
        element.onEndTag(() => {
          hidden -= Number(isHidden);
          code -= Number(isCode);
          add(href === null ? after : `](${new URL(href, baseUrl).href})`);
        });
      },
      text: (chunk) => {
        const words = decoded(chunk.text);
        add(code > 0 ? words : escapedText(words.replaceAll(/\s+/g, " ")));
      },
    })
    .transform(page);
  return `${text
    .replaceAll(/ *\n */g, "\n")
    .replaceAll(/\n-\n+(?=#)/g, "\n\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
