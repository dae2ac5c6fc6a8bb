import { describe, expect, test } from "bun:test";
import countries from "#content/editorial/countries.json";
import { countryCode } from "#content/nonprofit/country.ts";

describe("a country", () => {
  test.each([
    ["Kenya", "KE"],
    ["kEnYa", "KE"],
    ["  kenya ", "KE"],
    ["ke", "KE"],
    ["KEN", "KE"],
    ["404", "KE"],
    ["004", "AF"],
    ["Cote d'Ivoire", "CI"],
    ["Côte d’Ivoire", "CI"],
    ["Ivory Coast", "CI"],
    ["U.S.A.", "US"],
    ["uk", "GB"],
    ["Great Britain", "GB"],
    ["Trinidad and Tobago", "TT"],
    ["Trinidad & Tobago", "TT"],
    ["Türkiye", "TR"],
    ["turkey", "TR"],
    ["xkx", "XK"],
  ])("%p is %s", (text, code) => {
    expect(countryCode(text)).toBe(code);
  });

  test.each(["", "   ", "Atlantis", "Kenya, Uganda", "zz", "1", "constructor"])(
    "%p is none",
    (text) => {
      expect(countryCode(text)).toBeNull();
    },
  );
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
