import { describe, expect, test } from "bun:test";
import { markdownLine, markdownParagraphs } from "#site/parts/markdown.ts";

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
