import { describe, expect, test } from "bun:test";
import causes from "#content/editorial/causes.json";
import disclosures from "#content/editorial/disclosures.json";
import wording from "#content/editorial/wording.json";
import { describeFaults, wordingFaults } from "#content/rules/wording.ts";

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

describe("a restrained text", () => {
  test.each([
    "Recommended for donors interested in rural water points.",
    "Follows best practice in safeguarding.",
    "A path leading to paid work",
    "Bestwood and Topham are villages; asbestos is removed; misleading signs too.",
    "Order #12 and #100",
    "",
  ])("%p may stand", (text) => {
    expect(phrasesIn(text)).toEqual([]);
  });
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
