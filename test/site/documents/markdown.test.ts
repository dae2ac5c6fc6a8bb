import { describe, expect, test } from "bun:test";
import { markdownLine, markdownParagraphs, pageMarkdown } from "#site/parts/markdown.ts";

describe("third-party text in markdown", () => {
  test.each([
    ["plain words, Émile’s (2026) 10%", "plain words, Émile’s (2026) 10%"],
    ["# Loud", String.raw`\# Loud`],
    ["- item", String.raw`\- item`],
    ["12. item", String.raw`12\. item`],
    ["a\n\n# b", String.raw`a \# b`],
    ["[a](javascript:b)", String.raw`\[a\](javascript:b)`],
    [
      "![x](y) **z** _w_ `c` <b> &amp; ~s~ |",
      "\\!\\[x\\](y) \\*\\*z\\*\\* \\_w\\_ \\`c\\` \\<b\\> \\&amp; \\~s\\~ \\|",
    ],
    ["https://x.example www.x.example", String.raw`https\://x.example www\.x.example`],
    ["\u202Ea\u0000b\u200Bc", "abc"],
    ["", ""],
  ])("%j is written as %j", (text, written) => {
    expect(markdownLine(text)).toBe(written);
  });
  test("keeps its paragraphs apart and drops empty ones", () => {
    expect(markdownParagraphs("One\n\n \n\n# Two\n\n")).toBe(`One\n\n${String.raw`\# Two`}`);
  });
});

test("a page's links lead where they lead on the page, and its tables are tables", () => {
  const head = '<link rel="canonical" href="https://almoner.example/data">';
  const table =
    "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><th>1</th><td><p>2</p><p>3</p></td></tr></tbody></table>";
  const page = `${head}<main><p><a href="#feed">Feed</a> <a href="/">Home</a></p>${table}</main>`;
  expect(pageMarkdown(page, "https://almoner.example")).toBe(
    "[Feed](https://almoner.example/data#feed) [Home](https://almoner.example/)\n\n| A | B |\n| --- | --- |\n| 1 |  2  3  |\n",
  );
});
