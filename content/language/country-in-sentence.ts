import type { Texts } from "./texts.ts";

const withArticle =
  /^(?:United |Netherlands|Philippines|Gambia|Bahamas|Maldives|Comoros)|Islands$| Republic/;

/** A country, by its English name, as it stands within a sentence: English has an article before some. */
export const countryInSentence = (country: string, t: Texts): string =>
  t.language === "en" && withArticle.test(country)
    ? `the ${country}`
    : (t.country(country) ?? country);
