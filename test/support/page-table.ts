import { expect } from "bun:test";
import type { CheerioAPI } from "cheerio";

/**
 * What a page must say: where, as a selector with "@name" at its end for an attribute, and what. A list is the text of each
 * element, a text or pattern stands in the text of all, a number is how many there are. White space is folded.
 */
export type PageRow = readonly [
  where: string,
  what: number | string | RegExp | readonly (string | RegExp | undefined)[],
];

const fold = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** The text, or an attribute, of each element there. */
export function textsAt($: CheerioAPI, where: string): (string | undefined)[] {
  const [, selector = where, attribute] = /^(.*)@([a-z-]+)$/.exec(where) ?? [];
  return $(selector)
    .toArray()
    .map((element) =>
      attribute === undefined ? fold($(element).text()) : $(element).attr(attribute),
    );
}

export function expectPage($: CheerioAPI, rows: readonly PageRow[]): void {
  for (const [where, what] of rows) {
    const texts = textsAt($, where);
    if (typeof what === "number") expect([where, texts.length]).toEqual([where, what]);
    else if (typeof what === "string" || what instanceof RegExp)
      expect(`${where}: ${texts.join(" ")}`).toMatch(what);
    else
      expect([where, ...texts]).toEqual([
        where,
        ...what.map((text) => (text instanceof RegExp ? expect.stringMatching(text) : text)),
      ]);
  }
}
