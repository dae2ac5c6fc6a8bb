import type { ImpactMetric, Program } from "#content/contract/nonprofit.ts";
import countries from "#content/editorial/countries.json";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import causes from "./causes.json";
import { paidFromUsd, rounded, type Random } from "./numbers.ts";
import { type Outline, wordsOf } from "./outline.ts";
import sentences from "./sentences.json";

type Figures = Pick<
  NonprofitRecord,
  "founded_year" | "team_size" | "beneficiaries_per_year" | "annual_budget_usd"
>;
type TextPart = "tagline" | "mission" | "description" | "programs" | "metrics";

const numbers = new Intl.NumberFormat("en");
const countryNames = new Map(countries.map(({ code, name }) => [code, name]));

/** Tagline, mission, description, programmes and figures, each if `has` says so, for the primary cause. */
export function sampleTexts(
  outline: Outline,
  has: (part: TextPart) => boolean,
  figures: Figures,
): Pick<NonprofitRecord, "tagline" | "mission" | "description" | "programs" | "impact_metrics"> {
  const values = slotsOf(outline, figures);
  return {
    tagline: has("tagline") ? oneSentence(outline.random, "taglines", values) : null,
    mission: has("mission") ? oneSentence(outline.random, "missions", values) : null,
    description: has("description") ? description(outline, figures, values) : null,
    programs: has("programs") ? programs(outline, figures, values) : [],
    impact_metrics: has("metrics") ? metrics(outline, figures) : [],
  };
}

/** The facts that an organisation's sentences may use. */
export function slotsOf(
  { name, short, country_code, region, city, work }: Outline,
  { founded_year, team_size, beneficiaries_per_year }: Figures,
): Slots {
  return {
    name,
    short,
    region: region === city ? `the ${region} area` : region,
    city,
    who: work.who,
    other: byTurns(work.others),
    act: byTurns(work.acts),
    aim: work.aim,
    country: inSentence(countryNames.get(country_code) ?? country_code),
    year: founded_year === null ? null : String(founded_year),
    team: team_size === null || team_size < 3 ? null : numbers.format(team_size),
    number:
      beneficiaries_per_year === null ? null : numbers.format(rounded(beneficiaries_per_year)),
  };
}

/** A country's name in running text, where some take an article. */
const inSentence = (country: string): string =>
  /^(United|Netherlands|Philippines)/.test(country) ? `the ${country}` : country;

function description({ random, tier }: Outline, figures: Figures, values: Slots): string {
  const middles = tier === "medium" ? random.between(1, 2) : random.between(2, 4);
  const first = [
    ...sentencesOf(random, "openings", values, 1),
    ...sentencesOf(random, "middles", values, middles),
  ];
  const staff = staffing(figures);
  const second = [
    ...(staff !== null && random.chance(60) ? sentencesOf(random, staff, values, 1) : []),
    ...sentencesOf(random, "closings", values, tier === "medium" ? 1 : random.between(1, 2)),
  ];
  return `${first.join(" ")}\n\n${second.join(" ")}`;
}

/** Who does the work in the texts: nothing if it is not known whether they are paid. */
function staffing({ team_size, annual_budget_usd }: Figures): "people" | "volunteers" | null {
  if (team_size !== null) return "people";
  return annual_budget_usd === null || annual_budget_usd < paidFromUsd ? "volunteers" : null;
}

function programs(
  { random, tier, city, region, country_code, causes: [cause] }: Outline,
  figures: Figures,
  values: Slots,
): Program[] {
  const count = tier === "medium" ? 1 : random.between(tier === "verified" ? 2 : 1, 4);
  let left = figures.beneficiaries_per_year;
  return random.some(wordsOf(cause, country_code).programs, count).map((program) => {
    const served =
      left === null || random.chance(30)
        ? null
        : rounded(Math.floor((left * random.between(20, 70)) / 100));
    if (left !== null && served !== null) left -= served;
    return {
      name: program.name,
      description: fill(program.description, values),
      beneficiaries_per_year: served,
      location: random.chance(75)
        ? random.pick(city === region ? [city] : [city, city, region, `${city}, ${region}`])
        : null,
    };
  });
}

/** Figures in a plausible relation to the people reached. */
function metrics({ random, tier, causes: [cause] }: Outline, figures: Figures): ImpactMetric[] {
  const count = tier === "medium" ? 1 : random.between(1, 4);
  const reached = figures.beneficiaries_per_year ?? random.between(40, 900);
  return random
    .some(causes[cause].metrics, count)
    .map(({ name, unit, period, per_beneficiary }) => {
      const years = period === "cumulative" ? random.between(2, 9) : 1;
      const counted = Math.floor(
        (reached * per_beneficiary * years * random.between(60, 140)) / 100,
      );
      const value = per_beneficiary > 0 ? Math.max(1, rounded(counted)) : ratio(random, unit);
      return { name, value: String(value), unit, period };
    });
}

/** A share or a waiting time does not grow with the number of people. */
const ratio = (random: Random, unit: string): number =>
  unit === "days" ? random.between(2, 30) : random.between(51, 89);

/**
 * Values for the {braces} of a sentence; a capital, {Act}, begins a sentence. A function returns a new value each time. A
 * sentence with a null or absent value is not used.
 */
export type Slots = Readonly<Record<string, string | null | (() => string)>>;

/** The text with its slots filled; null when a value is absent. Values may contain slots, one level deep. */
function fill(source: string, values: Slots): string | null {
  let isWhole = true;
  const filled = source.replaceAll(/\{(\w+)\}/g, (_, slot: string) => {
    const key = slot.charAt(0).toLowerCase() + slot.slice(1);
    // Once a value is absent, no further ones are drawn.
    const text = isWhole ? values[key] : null;
    const value = typeof text === "function" ? text() : (text ?? null);
    const inner = value?.includes("{") ? fill(value, values) : value;
    if (inner === null) isWhole = false;
    return inner === null || slot === key ? (inner ?? "") : capital(inner);
  });
  return isWhole ? filled : null;
}

/** Returns the items in turn, over and over. */
function byTurns(items: readonly string[]): () => string {
  let turn = 0;
  return () => items[turn++ % items.length] ?? "";
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `count` different sentences of a kind, or fewer when too few can be filled. */
export function sentencesOf(
  random: Random,
  kind: keyof typeof sentences,
  values: Slots,
  count: number,
): string[] {
  const filled: string[] = [];
  // Two to spare, because a sentence may need a fact that this organisation lacks.
  for (const source of random.some(sentences[kind], count + 2)) {
    const text = fill(source, values);
    if (text !== null) filled.push(text);
    if (filled.length === count) break;
  }
  return filled;
}

export const oneSentence = (
  random: Random,
  kind: keyof typeof sentences,
  values: Slots,
): string | null => sentencesOf(random, kind, values, 1)[0] ?? null;
