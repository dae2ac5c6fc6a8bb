import { filled, type Pattern, type Values } from "#content/language/pattern.ts";

/** Texts of a script by name, in the page's language; the page passes them in `data-texts`. */
export type ScriptTexts = Readonly<Record<string, Pattern>>;

/** Returns a text of a script, filled with values. */
export type Say = (name: string, values?: Values) => string;

/** Returns a `Say` for the texts that an element carries. */
export const sayingOf = ({ dataset }: HTMLElement): Say =>
  sayIn(JSON.parse(dataset["texts"] ?? "{}") as ScriptTexts, document.documentElement.lang);

/** Returns a `Say` in a language; a name without a text gives the name itself. */
export function sayIn(texts: ScriptTexts, language: string): Say {
  // As many decimals as USDC has.
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 6 });
  const plurals = new Intl.PluralRules(language);
  return (name, values = {}) =>
    filled(texts[name] ?? name, values, {
      number: (value) => numbers.format(value),
      plural: (count) => plurals.select(count),
    });
}

/** The path, in this page's language, of a page named by its English path. */
export const pathHere = (path: string): string => {
  const { lang } = document.documentElement;
  return lang === "en" || lang === "" || !path.startsWith("/") ? path : `/${lang}${path}`;
};
