import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, english, openTexts, type Texts } from "./texts.ts";

const folder = join(import.meta.dirname, "..", "editorial", "texts");

/** The codes of all languages with a file in content/editorial/texts: English first, the others sorted. */
export const languageCodes: readonly string[] = [
  "en",
  ...readdirSync(folder)
    .filter((file) => file.endsWith(".json") && file !== "en.json")
    .map((file) => file.slice(0, -".json".length))
    .toSorted(),
];

/** The codes except English, for a pattern: "es|fr". Any other first part of an address is no language. */
export const translationCodes: string = languageCodes.slice(1).join("|");

const openLanguage = (code: string): Texts =>
  openTexts(code, JSON.parse(readFileSync(join(folder, `${code}.json`), "utf8")) as Catalogue);

export const languages: ReadonlyMap<string, Texts> = new Map(
  languageCodes.map((code) => [code, code === "en" ? english : openLanguage(code)]),
);

/** The languages except English; their pages are below /{code}. */
export const translations: readonly Texts[] = [...languages.values()].slice(1);
