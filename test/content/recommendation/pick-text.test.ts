import { describe, expect, test } from "bun:test";
import causes from "#content/editorial/causes.json";
import disclosures from "#content/editorial/disclosures.json";
import wording from "#content/editorial/wording.json";
import { describeFaults, sensitiveClaims, wordingFaults } from "#content/nonprofit/text.ts";

const phrasesIn = (text: string) => wordingFaults(text).map(({ phrase }) => phrase);

describe("a text that claims too much", () => {
  test.each([
    ["The best charity in Kenya", ["best"]],
    ["MOST EFFECTIVE way to give", ["MOST EFFECTIVE"]],
    ["the most\n cost-effective programme", ["most\n cost-effective"]],
    ["Highest-impact giving", ["Highest-impact"]],
    ["a top–rated shelter", ["top–rated"]],
    ["We are #1!", ["#1"]],
    ["a leading provider, second to none", ["leading", "second to none"]],
    ["Best practice, and simply the best", ["best"]],
  ])("%p is refused for %p", (text, phrases) => {
    expect(phrasesIn(text)).toEqual(phrases);
  });

  test("is told where the claim stands and what to say instead", () => {
    const [fault] = wordingFaults("Simply the best.");
    expect(fault).toMatchObject({ phrase: "best", at: 11 });
    expect(describeFaults(wordingFaults("Simply the best."))).toContain("recommended for donors");
  });
});

describe("a claim in disguise", () => {
  test.each([
    ["Cyrillic and Greek letters", "the bеst and tοp‑ratеd one", ["bеst", "tοp‑ratеd"]],
    ["joiners that nobody sees", "the be\u200Dst, bes\u200Ct", ["be\u200Dst", "bes\u200Ct"]],
    ["accents", "the be\u0301st, the bést", ["be\u0301st", "bést"]],
    ["styled and full-width letters", "𝐛𝐞𝐬𝐭 ｂｅｓｔ ＃１", ["𝐛𝐞𝐬𝐭", "ｂｅｓｔ", "＃１"]],
    ["a ligature", "ﬁrst-rate", ["ﬁrst-rate"]],
    ["marks between words", "most *effective*, top_rated", ["most *effective", "top_rated"]],
    ["quotes between words", "“highest” impact", ["highest” impact"]],
  ])("of %s is read as what it looks like, and shown as it was written", (_, text, phrases) => {
    expect(phrasesIn(text)).toEqual(phrases);
    for (const { phrase, at } of wordingFaults(text))
      expect(text.slice(at, at + phrase.length)).toBe(phrase);
  });

  test("is sensitive all the same", () => {
    expect(sensitiveClaims("Has an imp\u200Dact. Саves lives: ｅｆｆｉｃｉｅｎｔ.")).toEqual([
      { claim: "impact", phrase: "imp\u200Dact" },
      { claim: "effectiveness", phrase: "ｅｆｆｉｃｉｅｎｔ" },
    ]);
    expect(sensitiveClaims("Sаves lives, and 90 % of every dollar goes to wells.")).toEqual([
      { claim: "impact", phrase: "Sаves lives" },
      { claim: "effectiveness", phrase: "of every dollar" },
    ]);
  });

  test("is found in a long text in one pass", () => {
    const text = "Réseau d’écoles à Zürich, школа «Надежда» 学校。".repeat(1_400);
    expect(wordingFaults(text)).toEqual([]);
  }, 5_000);
});

test.each([
  "Recommended for donors interested in rural water points.",
  "Follows best practice in safeguarding.",
  "A path leading to paid work",
  "Bestwood and Topham are villages; asbestos is removed; misleading signs too.",
  "Order #12 and #100",
  "Лучший центр в Москве, το καλύτερο, el mejor",
  "We do our most. Effective from May, fees end.",
  "",
])("a restrained text %p may stand", (text) => {
  expect(phrasesIn(text)).toEqual([]);
});

test("the directory's own words pass, and so does every suggestion", () => {
  const own = [
    ...causes.map(({ description }) => description),
    ...Object.values(disclosures).flatMap((one) =>
      typeof one === "string" ? one : Object.values(one),
    ),
    ...wording.forbidden.map(({ use }) => use),
  ];
  expect(own.flatMap(phrasesIn)).toEqual([]);
});

test("every cause is described in one to three sentences", () => {
  for (const { description } of causes) {
    expect(description).toMatch(/^[A-Z].{40,300}\.$/u);
  }
});
