import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, english, openTexts, type Texts } from "./texts.ts";

const folder = join(import.meta.dirname, "..", "editorial", "texts");

/** Every language of which there is a file in content/editorial/texts, English first, then by code. */
export const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ...readdirSync(folder)
    .filter((file) => file.endsWith(".json") && file !== "en.json")
    .toSorted()
    .map((file): [string, Texts] => {
      const code = file.slice(0, -".json".length);
      const catalogue = JSON.parse(readFileSync(join(folder, file), "utf8")) as Catalogue;
      return [code, openTexts(code, catalogue)];
    }),
]);

/** The languages other than English: their pages stand under /{code}. */
export const translations: readonly Texts[] = [...languages.values()].slice(1);

/** Their codes as a part of a pattern: "es|fr". What else stands first in an address is no language. */
export const translationCodes: string = translations.map(({ language }) => language).join("|");
