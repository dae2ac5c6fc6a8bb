import countries from "#content/editorial/countries.json";
import registerPlaces from "#content/editorial/register-places.json";
import { fold } from "./text.ts";

const names = new Map(countries.map(({ code, name }) => [code, name]));
/** Names in Spanish and French come from the CLDR; where one of them is another country's English name, that holds. */
const inLanguage = ["es", "fr"].map((code) => new Intl.DisplayNames(code, { type: "region" }));
const codes = new Map([
  ...inLanguage.flatMap((language) =>
    countries.map(({ code }) => [fold(language.of(code) ?? code), code] as const),
  ),
  ...countries.flatMap(({ code, alpha3, numeric = code, name, aliases }) =>
    [code, alpha3, numeric, name, ...aliases].map((text) => [fold(text), code] as const),
  ),
]);

/** The country's name in English, or null for none. Codes are a closed list in stored data. */
export const countryName = (code: string | null): string | null =>
  code === null ? null : (names.get(code) ?? code);

/**
 * The ISO 3166-1 alpha-2 code of a country named in any letter case by its English name, a usual other name of it, its
 * Spanish or French name, or its code of two or three letters or three digits; null for any other text. Source: decisions, "Search".
 */
export const countryCode = (text: string): string | null => codes.get(fold(text)) ?? null;

/** Names of the states of the United States by their codes. */
export const states: ReadonlyMap<string, string> = new Map(Object.entries(registerPlaces.states));
