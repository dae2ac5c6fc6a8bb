import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withdrawn } from "#content/onboarding/onboarding-status.ts";
import { facetNames, incomeBands } from "#content/contract/browse.ts";
import { linkWords } from "#content/contract/nonprofit.ts";
import causes from "#content/editorial/causes.json";
import forms from "#content/editorial/forms.json";
import refusals from "#content/editorial/refusals.json";
import registerColumns from "#content/editorial/register-columns.json";
import registers from "#content/editorial/registers.json";
import { facetValueName } from "#content/nonprofit/filters.ts";
import { signals } from "#content/recommendation/ranking.ts";
import { consensusSimulation } from "#content/contract/stats.ts";
import standing from "#content/editorial/standing.json";
import { networks } from "#content/giving/network.ts";
import type { Register } from "#content/nonprofit/register-facts.ts";
import en from "#content/editorial/texts/en.json";
import registerNumbers from "#content/editorial/register-numbers.json";
import { readRegistrationNumber } from "#content/register/org-id.ts";
import { filled, type Pattern } from "#content/language/pattern.ts";
import { languages } from "#content/language/languages.ts";
import { hostileNames } from "#test/support/hostile-markup.ts";
import { type Catalogue, english, openTexts } from "#content/language/texts.ts";

test.each([
  ["EE. UU.", "Exenta en EE. UU."],
  ["Kenia", "Exenta en Kenia."],
])("a sentence that ends in %s has one full stop", (place, sentence) => {
  const written = { number: String, plural: () => "other" };
  expect(filled("Exenta en {place}.", { place }, written)).toBe(sentence);
});

const folder = join(import.meta.dirname, "../../../content/editorial/texts");
const catalogues = readdirSync(folder)
  .filter((file) => file !== "en.json")
  .map((file): [string, Catalogue] => [
    file.replace(".json", ""),
    JSON.parse(readFileSync(join(folder, file), "utf8")),
  ]);
const originals: Readonly<Record<string, Pattern>> = en.texts;

const formsOf = (pattern: Pattern | undefined): string[] =>
  typeof pattern === "object" ? Object.values(pattern) : [pattern ?? ""];
/** What a translation has to keep: placeholders, and the tags of markup with their links. */
const keptBy = (text: string): string[] =>
  [...text.matchAll(/\{\w+\}|<[^>]+>/g)].map(([found]) => found).toSorted();

/** What forms ask and say of their questions. */
function questions(asked: Readonly<Record<string, Readonly<Record<string, string>>>>): string[] {
  return Object.values(asked).flatMap((question) =>
    ["label", "hint", "missing", "wrong"].flatMap((part) => question[part] ?? []),
  );
}

/** Names and descriptions that pages show out of the lists of content/editorial. */
const listed = new Set<string>([
  ...causes.flatMap(({ name, organisation, description }) => [name, organisation, description]),
  ...(registers as readonly Register[]).flatMap(({ name, licence, fields = [] }) => [
    name,
    licence.name,
    ...fields.flatMap(({ label, words = {}, form }) => [
      label,
      ...Object.values(words),
      ...Object.values(form?.words ?? {}),
    ]),
  ]),
  ...Object.values(registerColumns.acnc.purposeNames),
  ...incomeBands.map(({ name }) => name),
  ...Object.values(linkWords),
  // Abbreviations are the same everywhere.
  ...registerNumbers.map(({ type }) => type).filter((type) => type.includes(" ")),
  readRegistrationNumber("No 7", "KE").type,
  ...questions(forms.onboard),
  ...questions(forms.correct),
  ...questions(forms.suggested),
  ...Object.values(forms.refusals),
  ...Object.values(refusals).flatMap(({ title, text }) => [title, text]),
  withdrawn,
  ...consensusSimulation.outcomes.flatMap(({ title, says }) => [title, says]),
  ...signals.map(({ description }) => description),
  ...signals.map(({ weight }) => weight).filter((weight) => weight.includes(" to ")),
  ...[standing.standings, standing.missing, standing.deductibility].flatMap((one) =>
    Object.values<string>(one),
  ),
  standing.gone,
  ...Object.values(standing.giver_says).map(({ reason }) => reason),
  ...Object.values(standing.giver_unknown),
  ...["true", "false"].flatMap((value) =>
    (["claimed", "has_website"] as const).map((facet) => facetValueName(facet, value)),
  ),
  facetValueName("accepts", "usdc"),
  facetValueName("cause", "none"),
  ...Object.values(networks).flatMap(({ words: said }) => [said.name, said.notice ?? []].flat()),
]);

describe.each(catalogues)("the catalogue %s", (language, { name, texts, words = {} }) => {
  test("has words for every name in a list, and for no others", () => {
    expect([...listed].filter((said) => words[said] === undefined)).toEqual([]);
    expect(Object.keys(words).filter((said) => !listed.has(said))).toEqual([]);
  });

  test("has the texts of English, and no others", () => {
    expect(Object.keys(originals).filter((key) => texts[key] === undefined)).toEqual([]);
    expect(Object.keys(texts).filter((key) => originals[key] === undefined)).toEqual([]);
    expect(languages.get(language)?.name).toBe(name);
  });

  test("keeps their placeholders and tags", () => {
    const wrong = Object.entries(texts).filter(([key, pattern]) => {
      const [first = ""] = formsOf(originals[key]);
      return formsOf(pattern).some((one) => !Bun.deepEquals(keptBy(one), keptBy(first)));
    });
    expect(wrong.map(([key]) => key)).toEqual([]);
  });

  test("has every plural form that the language needs", () => {
    const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const wrong = Object.entries(texts).filter(
      ([, pattern]) =>
        typeof pattern === "object" &&
        needed.some((form) => form !== "many" && pattern[form] === undefined),
    );
    expect(wrong.map(([key]) => key)).toEqual([]);
  });
});

test("French keeps colons, marks, per cent, dollars and quotation marks on the line of their word", () => {
  const { texts, words = {} } = new Map(catalogues).get("fr") ?? { texts: {} };
  const sentences = [...Object.values(texts).flatMap(formsOf), ...Object.values(words)];
  expect(sentences.filter((sentence) => / [:;?!»%$]|« |\$ US/.test(sentence))).toEqual([]);
});

describe("a language of which little is translated", () => {
  const people = { few: "{count} أشخاص", other: "{count} شخص" };
  const texts = { "frame.search": "بحث", "count.people": people };
  const arabic = openTexts("ar", { name: "العربية", texts, words: { Health: "الصحة" } });

  test("is in English where it has no text", () => {
    expect([arabic.text("frame.search"), arabic.text("frame.causes")]).toEqual(["بحث", "Causes"]);
    expect([arabic.word("Health"), arabic.word("Housing")]).toEqual(["الصحة", "Housing"]);
  });

  test("has its own plural forms, direction and addresses", () => {
    expect(arabic.text("count.people", { count: 3 })).toEndWith("أشخاص");
    expect(arabic.text("count.people", { count: 100 })).toEndWith("شخص");
    expect([arabic.direction, english.direction]).toEqual(["rtl", "ltr"]);
    expect(["/", "/about"].map((path) => arabic.path(path))).toEqual(["/ar", "/ar/about"]);
    expect(english.path("/about")).toBe("/about");
  });
});

const spanish = languages.get("es") ?? english;
const french = languages.get("fr") ?? english;
const income = { name: "income", label: "Income", value: 3_312_400, currency: "USD" };
const of2024 = { ...income, period: "year to December 2024" };
const ofMarch = { ...income, period: "year to 31 March 2025" };
const ofDebt = { ...income, value: -312_400_000_000, period: "a while" };

test.each([
  [english.date("2026-11-22"), "22 November 2026"],
  [spanish.date("2026-11-22"), "22 de noviembre de 2026"],
  [french.date("1994-07"), "juillet 1994"],
  [french.date("soon"), "soon"],
  [english.number(1_234.5), "1,234.50"],
  [spanish.number(12_345), "12.345"],
  [spanish.country("Kenya"), "Kenia"],
  [french.country("US"), "États-Unis"],
  [french.country("Atlantis"), "Atlantis"],
  [french.country("Wales"), "Wales"],
  [french.country(null), null],
  [english.exactly(250_000, "USD"), "US$ 250,000"],
  [spanish.exactly(250_000, "CHF"), "250.000\u00A0CHF"],
  [english.either(["mission", "city", "region"]), "mission, city or region"],
  [french.either(["mission", "ville"]), "mission ou ville"],
  [english.fact(of2024), "US$ 3.3 million, year to December 2024"],
  [spanish.fact(of2024), "3,3 millones de US$, ejercicio cerrado en diciembre de 2024"],
  [french.fact(ofMarch), "3,3 millions de $\u00A0US, exercice clos le 31 mars 2025"],
  [french.fact({ ...income, value: 1_000_000 }), "1 million de $\u00A0US"],
  [spanish.fact(ofDebt), "-312 mil millones de US$, ejercicio cerrado en a while"],
  [spanish.fact({ name: "purposes", label: "", value: "Animals; Recreation" }), "Animales; Recreo"],
  [
    french.fact({ name: "purposes", label: "", value: "Animals; Housing" }),
    "Animaux\u00A0; Logement",
  ],
  [
    french.fact({ name: "purposes", label: "", value: "Animals; Sea rescue" }),
    "Animals; Sea rescue",
  ],
  [spanish.fact({ name: "registered", label: "", value: "1990-08-02" }), "2 de agosto de 1990"],
  [english.named("field", "team_size"), "team size"],
  [english.named("field", "nothing"), "nothing"],
  [String(english.html("profile.instead", { slug: "<b>" })), "The profile in its place: &lt;b&gt;"],
  [french.text("count.people", { count: 0 }), "0 personne"],
])("%s is written as %s", (written, wanted) => {
  expect(written).toBe(wanted);
});

test("a value that is not given is told", () => {
  expect(() => english.text("profile.instead")).toThrow("no slug");
  const plain = { number: String, plural: () => "other" };
  expect(() => filled("{constructor}", {}, plain)).toThrow("no constructor");
});

test.each(hostileNames)("the word “%s”, which every object has, stands for itself", (word) => {
  for (const texts of languages.values())
    expect([texts.word(word), texts.named("field", word)]).toEqual([word, word]);
  for (const facet of facetNames) expect(facetValueName(facet, word)).toBe(word);
});
