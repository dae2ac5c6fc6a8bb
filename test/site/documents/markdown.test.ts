import { describe, expect, test } from "bun:test";
import { markdownLine, markdownParagraphs } from "#site/parts/markdown.ts";

describe("third-party text in markdown", () => {
  test.each([
    ["Schools for all", "Schools for all"],
    ["# Loud", String.raw`\# Loud`],
    ["- item", String.raw`\- item`],
    ["1. first", String.raw`1\. first`],
    ["[a](javascript:b)", String.raw`\[a\](javascript:b)`],
    ["<b>bold</b>", String.raw`\<b\>bold\</b\>`],
    ["see https://x.example", String.raw`see https\://x.example`],
    ["two\nlines", "two lines"],
    ["hid\u202Eden", "hidden"],
  ])("%j is written as %j", (text, written) => {
    expect(markdownLine(text)).toBe(written);
  });
  test("keeps its paragraphs apart and drops empty ones", () => {
    expect(markdownParagraphs("One\n\n \n\n# Two\n\n")).toBe(`One\n\n${String.raw`\# Two`}`);
  });
});
