import countries from "#content/editorial/countries.json";
import { fold } from "./text.ts";

const names = new Map(countries.map(({ code, name }) => [code, name]));
const codes = new Map(
  countries.flatMap(({ code, alpha3, name, aliases }) =>
    [code, alpha3, name, ...aliases].map((text) => [fold(text), code] as const),
  ),
);

/** The country's name in English, or null for none. Codes are a closed list in stored data. */
export const countryName = (code: string | null): string | null =>
  code === null ? null : (names.get(code) ?? code);

/**
 * The ISO 3166-1 alpha-2 code of a country named in any letter case by its English name, a usual other name of it,
 * or its two- or three-letter code; null for any other text. Source: decisions, "Search".
 */
export const countryCode = (text: string): string | null => codes.get(fold(text)) ?? null;
