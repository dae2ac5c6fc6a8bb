import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const site = join(import.meta.dirname, "../../site");

/** Names and formats that are the same in every language. */
const everywhere =
  /^(?:Almoner|[A-Z][a-z]+[A-Z]\w+|OpenAPI|MCP|llms\.txt|JSON|CSV|USDC|Solana|[\d\s.,:;·×–—%()“”’"'+/#-]+)$/;

/** Markup without values of attributes, so that what stands between its tags are texts and code in braces. */
function withoutValues(markup: string): string {
  let text = markup.replaceAll("=>", "=").replaceAll(/\s[<>]=?\s/g, " ");
  let before = "";
  const attribute =
    /(<[a-zA-Z][^<>{}]*?)\s(?:[\w:-]+=)?(?:"[^"]*"|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})/g;
  while (text !== before) [before, text] = [text, text.replaceAll(attribute, "$1")];
  return text;
}

/** What a reader would see of a page that stands in the page itself and in no catalogue. */
function ownWords(source: string): string[] {
  const [, code = "", markup = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(
    source.replaceAll(/<pre>[\s\S]*?<\/pre>|^\s*\/\/.*$|\/\*[\s\S]*?\*\/|^import .*$/gm, ""),
  ) ?? ["", "", source];
  const between = [...withoutValues(markup).matchAll(/>([^<>]*)</g)].map(([, text = ""]) =>
    text
      .replaceAll(/\{[^{}]*\}/g, " ")
      .replace(/\{[^]*$/, "")
      .replace(/^[^]*\}/, "")
      .replace(/^\s*\)[^]*/, "")
      .trim(),
  );
  const spoken = [
    ...markup.matchAll(/\b(?:aria-label|placeholder|title|alt|label|hint|description)="([^"]*)"/g),
  ].map(([, text = ""]) => text);
  const inCode = [...`${code}${markup.replaceAll(/=(?:"[^"]*")/g, "")}`.matchAll(/"([^"\n]*)"/g)]
    .map(([, text = ""]) => text)
    .filter((text) => /^\p{Lu}\p{Ll}| \p{L}/u.test(text));
  return [...between, ...spoken, ...inCode].filter(
    (text) => /\p{L}{2}/u.test(text) && !everywhere.test(text),
  );
}

/**
 * Sentences in a script of a page: every text that begins like one. What is thrown is for the log. Rules of CSS, names of
 * keys and of types do not begin so, or have no second word.
 */
function sentencesIn(script: string): string[] {
  const code = script.replaceAll(
    /^\s*(?:\/\/|\*|\/\*).*$|^import .*$|\/\*\*.*\*\/|new Error\((?:"[^"]*"|`[^`]*`)\)/gm,
    "",
  );
  return [...code.matchAll(/"([^"\n]*)"|`([^`]*)`/g)]
    .map(([, text = "", pattern = ""]) => text || pattern)
    .filter((text) => /^\p{Lu}\p{Ll}*(?: \S|.*[.?!…]$)/u.test(text));
}

const files = [...new Glob("{pages,parts,lists,profile,forms}/**/*.astro").scanSync(site)];

test.each(files.toSorted())("the words of %s are in the catalogue", async (file) => {
  expect(ownWords(await Bun.file(join(site, file)).text())).toEqual([]);
});

test.each([...new Glob("browser/**/*.ts").scanSync(site)].toSorted())(
  "the words of %s are in the catalogue",
  async (file) => {
    expect(sentencesIn(await Bun.file(join(site, file)).text())).toEqual([]);
  },
);
