import en from "#content/editorial/texts/en.json";
import { countryCode, countryName } from "#content/nonprofit/country.ts";
import { dateInWords, factInWords } from "#content/nonprofit/register-facts.ts";
import type { RegisterFact } from "#content/contract/nonprofit.ts";
import { pathIn } from "#content/contract/addresses.ts";
import { filled, type Pattern, type Values } from "./pattern.ts";
import { Html, type Part, rendered } from "./html.ts";

/** The name of a text in content/editorial/texts/en.json. */
export type TextKey = keyof typeof en.texts;

/** The file of one language in content/editorial/texts; its name is the language's code. */
export type Catalogue = {
  /** The language's own name. */
  name: string;
  /** The locale for numbers and dates, if it is not the code: "en-GB". */
  locale?: string;
  texts: Readonly<Record<string, Pattern>>;
  /** Translations of names and descriptions in content/editorial by their English words; none for English. */
  words?: Readonly<Record<string, string>>;
};

export type Texts = ReturnType<typeof openTexts>;

/** The language of a page, and all languages in which the page exists. */
export type PageLanguages = { t: Texts; languages: readonly Texts[] };

const withArticle =
  /^(?:United |Netherlands|Philippines|Gambia|Bahamas|Maldives|Comoros)|Islands$| Republic/;

const isoDate = /^(\d{4})-(\d\d)(?:-(\d\d))?$/;

/** The texts of a catalogue; missing ones are English. */
export function openTexts(language: string, catalogue: Catalogue) {
  const { locale = language } = catalogue;
  // A Map, because keys come from data, which may contain "constructor".
  const patterns = new Map<string, Pattern>(Object.entries({ ...en.texts, ...catalogue.texts }));
  const words = new Map(Object.entries(catalogue.words ?? {}));
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const cents = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  const short = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });
  const plurals = new Intl.PluralRules(locale);
  const days = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
  const months = new Intl.DateTimeFormat(locale, {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  const either = new Intl.ListFormat(locale, { type: "disjunction" });
  const parted = [...patterns].map(([key, pattern]) => {
    const [group = "", name = ""] = key.split(".");
    return { group, text: [name, pattern] as const };
  });
  const ofGroup = new Map(
    Object.entries(Object.groupBy(parted, ({ group }) => group)).map(([group, texts = []]) => [
      group,
      texts.map(({ text }) => text),
    ]),
  );
  const countries = new Intl.DisplayNames(locale, { type: "region" });

  const number = (value: number): string => (Number.isInteger(value) ? whole : cents).format(value);
  const forms = { number, plural: (count: number) => plurals.select(count) };
  // Most texts have no placeholders, and a page has a hundred of them.
  const plain = new Map(
    [...patterns].filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && !entry[1].includes("{"),
    ),
  );
  const formed = (key: string, values: Values): string =>
    plain.get(key) ?? filled(patterns.get(key) ?? key, values, forms);
  const word = (english: string): string => words.get(english) ?? english;
  /** A list is in one language: as the register has it, unless all of it is translated. */
  const listOf = (english: string): string => {
    const parts = english.split("; ");
    const isTranslated = parts.every((part) => words.has(part));
    return isTranslated ? parts.map(word).join(formed("list.separator", {})) : english;
  };
  /** "July 1994" of 1994-07, "2 August 1990" of 1990-08-02; any other text as it is. */
  const date = (text: string): string => {
    if (language === "en") return dateInWords(text);
    const [, year, month, day] = isoDate.exec(text) ?? [];
    if (year === undefined) return text;
    const at = Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1));
    return (day === undefined ? months : days).format(at);
  };
  /** A country's name by its code or English name; null for null. */
  const country = (named: string | null): string | null => {
    if (named === null || language === "en") return countryName(named);
    const code = countryCode(named);
    return code === null ? named : (countries.of(code) ?? named);
  };
  const signOf = (currency: string): string =>
    patterns.has(`currency.${currency}`) ? formed(`currency.${currency}`, {}) : currency;
  const exactly = (value: number, currency: string): string =>
    formed("amount", { amount: number(value), sign: signOf(currency) });
  /** "US$ 3.3 million" for 3312400 USD. */
  const amount = (value: number, currency: string): string => {
    const scale = [1_000_000_000, 1_000_000].find((size) => Math.abs(value) >= size);
    if (scale === undefined) return exactly(Math.round(value), currency);
    const scaled = value / scale;
    const figures = Math.abs(scaled) >= 100 ? number(Math.round(scaled)) : short.format(scaled);
    return formed(scale === 1_000_000 ? "amount.millions" : "amount.billions", {
      count: Math.abs(Number(scaled.toPrecision(2))),
      amount: figures,
      sign: signOf(currency),
    });
  };

  return {
    language,
    /** The locale of numbers and dates: "en-GB". */
    locale,
    name: catalogue.name,
    /** "rtl" for scripts that run from right to left. */
    direction: directionOf(locale),
    /** A text with its placeholders filled; a number called `count` chooses its plural form. */
    text: (key: TextKey, values: Values = {}): string => formed(key, values),
    /** `text` for a text with markup: values are escaped unless they are HTML. */
    html: (key: TextKey, values: Readonly<Record<string, Part>> = {}): Html => {
      const safe: Record<string, string | number> = {};
      for (const name in values) {
        const value = values[name];
        safe[name] = typeof value === "number" ? value : rendered(value);
      }
      return new Html(formed(key, safe));
    },
    /** A text whose name ends with a value from data, for example "field" and "city"; if there is none, the value itself. */
    named: (group: string, name: string, values: Values = {}): string =>
      patterns.has(`${group}.${name}`) ? formed(`${group}.${name}`, values) : name,
    /** The translation of a name or description in content/editorial, by its English words. */
    word,
    number,
    date,
    /** "US$ 250,000": a whole amount in a currency by its ISO 4217 code. */
    exactly,
    /** "a, b or c". */
    either: (choices: readonly string[]): string => either.format(choices),
    country,
    /** A country, by its English name, within a sentence: in English some have an article. */
    countryInSentence: (named: string): string =>
      language === "en" && withArticle.test(named) ? `the ${named}` : (country(named) ?? named),
    /** A register's fact in words; amounts are rounded. */
    fact: (fact: RegisterFact): string => {
      const { value, currency, period, form } = fact;
      if (language === "en") return factInWords(fact);
      if (currency === undefined && period === undefined)
        return words.get(String(value)) ?? listOf(date(String(value)));
      const sum = currency === undefined ? number(Number(value)) : amount(Number(value), currency);
      if (period === undefined) return sum;
      const ends = periodEnd(period);
      const key = ends.length === 7 ? "amount.period" : "amount.period_to_day";
      const dated = formed(key, { amount: sum, date: date(ends) });
      return form === undefined ? dated : `${dated}, ${word(form)}`;
    },
    /** Some groups of texts as JSON for a script's attribute `data-texts`, by name without the group. */
    forScript: (...groups: readonly string[]): string =>
      JSON.stringify(Object.fromEntries(groups.flatMap((group) => ofGroup.get(group) ?? []))),
    /** The path of a page (given in English) in the language. */
    path: (path: string): string => pathIn(language, path),
  };
}

/** "2024-12" for "year to December 2024", the form in answers. */
function periodEnd(period: string): string {
  const day = period.replace("year to ", "");
  const at = Date.parse(`${day} UTC`);
  if (Number.isNaN(at)) return day;
  return new Date(at).toISOString().slice(0, /^\d/.test(day) ? 10 : 7);
}

function directionOf(locale: string): "ltr" | "rtl" {
  const { script = "" } = new Intl.Locale(locale).maximize();
  return rightToLeft.has(script) ? "rtl" : "ltr";
}
const rightToLeft: ReadonlySet<string> = new Set(["Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm"]);

/** English, in which all texts are written first and all answers for programs are given. */
export const english: Texts = openTexts("en", en);
