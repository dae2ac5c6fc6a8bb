import { expect, test } from "bun:test";
import countries from "#content/editorial/countries.json";
import { countryCode } from "#content/nonprofit/country.ts";

test.each([
  ["KE", ["Kenya", "kEnYa", "  kenya ", "ke", "KEN", "404"]],
  ["CI", ["Cote d'Ivoire", "Côte d’Ivoire", "Ivory Coast"]],
  ["US", ["U.S.A."]],
  ["GB", ["uk", "Great Britain"]],
  ["TT", ["Trinidad and Tobago", "Trinidad & Tobago"]],
  [null, ["", "   ", "Atlantis", "Kenya, Uganda", "zz", "1", "constructor"]],
])("the country %s is written as %j", (code, texts) => {
  expect(texts.filter((text) => countryCode(text) !== code)).toEqual([]);
});

test("every name, code and alias finds its own country", () => {
  const lost = countries.flatMap(({ code, alpha3, numeric = code, name, aliases }) =>
    [code, alpha3, numeric, name, ...aliases].filter((text) => countryCode(text) !== code),
  );
  expect(lost).toEqual([]);
});

test("codes are complete and unique", () => {
  expect(countries).toHaveLength(250);
  expect(new Set(countries.map(({ code }) => code)).size).toBe(250);
  expect(new Set(countries.map(({ alpha3 }) => alpha3)).size).toBe(250);
});
