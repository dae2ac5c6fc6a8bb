import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, english, openTexts, type Texts } from "./texts.ts";

const folder = join(import.meta.dirname, "..", "editorial", "texts");

/** Every language of which there is a file in content/editorial/texts, by its code: English first, then in order. */
export const languageCodes: readonly string[] = [
  "en",
  ...readdirSync(folder)
    .filter((file) => file.endsWith(".json") && file !== "en.json")
    .map((file) => file.slice(0, -".json".length))
    .toSorted(),
];

/** Codes other than English as a part of a pattern: "es|fr". What else stands first in an address is no language. */
export const translationCodes: string = languageCodes.slice(1).join("|");

const openLanguage = (code: string): Texts =>
  openTexts(code, JSON.parse(readFileSync(join(folder, `${code}.json`), "utf8")) as Catalogue);

/** The texts of each language, by its code. */
export const languages: ReadonlyMap<string, Texts> = new Map(
  languageCodes.map((code) => [code, code === "en" ? english : openLanguage(code)]),
);

/** The languages other than English: their pages stand under /{code}. */
export const translations: readonly Texts[] = [...languages.values()].slice(1);
