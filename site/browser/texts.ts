import { filled, type Pattern, type Values } from "#content/language/fill.ts";

/** Texts of a script by their names, in the language of the page: the page hands them over in `data-texts`. */
export type ScriptTexts = Readonly<Record<string, Pattern>>;

/** Says a text of a script with its values. */
export type Say = (name: string, values?: Values) => string;

/** Says the texts that an element hands over. */
export const sayingOf = ({ dataset }: HTMLElement): Say =>
  sayIn(JSON.parse(dataset["texts"] ?? "{}") as ScriptTexts, document.documentElement.lang);

/** Says texts in a language; a name without a text stands for itself. */
export function sayIn(texts: ScriptTexts, language: string): Say {
  const numbers = new Intl.NumberFormat(language);
  const plurals = new Intl.PluralRules(language);
  return (name, values = {}) =>
    filled(texts[name] ?? name, values, {
      number: (value) => numbers.format(value),
      plural: (count) => plurals.select(count),
    });
}

/** Where a page of the directory, named by its English address, is in the language of this page. */
export const pathHere = (path: string): string => {
  const { lang } = document.documentElement;
  return lang === "en" || lang === "" || !path.startsWith("/") ? path : `/${lang}${path}`;
};
