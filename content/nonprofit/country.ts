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
  ...countries.flatMap(({ code, alpha3, numeric = code, name, aliases, parts = [] }) =>
    [code, alpha3, numeric, name, ...aliases, ...parts].map((text) => [fold(text), code] as const),
  ),
]);

/** The country's English name; null for null. Stored data holds only codes of the list. */
export const countryName = (code: string | null): string | null =>
  code === null ? null : (names.get(code) ?? code);

/**
 * The ISO 3166-1 alpha-2 code of a country given by its English name, a common alias, its Spanish or French name, the name
 * of a part of it ("Scotland"), or its code of two or three letters or three digits, in any letter case; null for any other
 * text.
 */
export const countryCode = (text: string): string | null => codes.get(fold(text)) ?? null;

const parts = new Set(countries.flatMap((country) => country.parts ?? []).map(fold));

/** Whether a text names a part of a country, like Scotland. */
export const isPartOfCountry = (text: string): boolean => parts.has(fold(text));

/** The states of the United States: names by code. */
export const states: ReadonlyMap<string, string> = new Map(Object.entries(registerPlaces.states));
