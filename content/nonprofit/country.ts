import countries from "#content/editorial/countries.json";
import registerPlaces from "#content/editorial/register-places.json";
import { fold } from "./text.ts";

const names = new Map(countries.map(({ code, name }) => [code, name]));
/** Spanish and French names come from the CLDR. If one is also another country's English name, the English name wins. */
const inLanguage = ["es", "fr"].map((code) => new Intl.DisplayNames(code, { type: "region" }));
const codes = new Map([
  ...inLanguage.flatMap((language) =>
    countries.map(({ code }) => [fold(language.of(code) ?? code), code] as const),
  ),
  ...countries.flatMap(({ code, alpha3, numeric = code, name, aliases }) =>
    [code, alpha3, numeric, name, ...aliases].map((text) => [fold(text), code] as const),
  ),
]);
const codesOfParts = new Map(
  countries.flatMap(({ code, parts = [] }) => parts.map((part) => [fold(part), code] as const)),
);

/** The country's English name; null for null. Stored data holds only codes of the list. */
export const countryName = (code: string | null): string | null =>
  code === null ? null : (names.get(code) ?? code);

/**
 * The ISO 3166-1 alpha-2 code of a country given by its English name, a common alias, its Spanish or French name, or its
 * code of two or three letters or three digits, in any letter case; null for any other text.
 */
export const countryCode = (text: string): string | null => codes.get(fold(text)) ?? null;

/** `countryCode` for what is sent, where the name of a part ("Scotland") means its country. */
export const countryOf = (text: string): string | null =>
  countryCode(text) ?? codesOfParts.get(fold(text)) ?? null;

/** The states of the United States: names by code. */
export const states: ReadonlyMap<string, string> = new Map(Object.entries(registerPlaces.states));
