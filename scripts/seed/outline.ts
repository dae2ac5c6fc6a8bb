import causes from "./causes.json";
import names from "./names.json";
import places from "./places.json";
import { type Random, randomOf } from "./numbers.ts";

type SampleCauseId = keyof typeof causes;
export const causeIds = Object.keys(causes) as SampleCauseId[];

/** How much is known about an organisation: a register's few facts, some texts, all, or all and claimed. */
type Tier = "thin" | "medium" | "rich" | "verified";

/** The identity of a sample organisation, before its slug is settled and its fields are written. */
export type Outline = ReturnType<typeof outlineAt>;

const countryCodes = Object.keys(places) as (keyof typeof places)[];

const causesByWeight = causeIds.map((id) => [id, causes[id].weight] as const);
const countriesByWeight = countryCodes.map((code) => [code, places[code].weight] as const);

/** This many consecutive profiles include one verified, eight rich, eleven medium and twenty thin ones. */
export const round = 40;
/** Up to this index causes and countries take turns, so that a small directory has each of them. */
const inTurnMax = 400;
const groupsMax = 4;
const actsMax = 6;

/** The organisation with this index (from 0) of the sample with this seed: a pure function of both. */
export function outlineAt(seedNumber: number, index: number) {
  const random = randomOf(seedNumber, index);
  const tier = tierAt(index);
  // Claimed profiles rotate through causes and countries, so that the starter set can cover all of them.
  const turn = tier === "verified" ? index / round : index < inTurnMax ? index : null;
  const country_code =
    turn === null
      ? random.weighted(countriesByWeight)
      : inTurn(countryCodes, turn * 7 + Math.floor(turn / 40));
  const cause = turn === null ? random.weighted(causesByWeight) : inTurn(causeIds, turn);
  const { flavour, places: towns } = places[country_code];
  const [city = "", region = ""] = random.pick(towns);
  const near = causes[cause].near as SampleCauseId[];
  const more = tier === "thin" ? (random.chance(14) ? 1 : 0) : random.below(3);
  const { name, short } = sampleName(random, {
    flavour: flavour as Flavour,
    themes: causes[cause].themes,
    features: causes[cause].features,
    city,
  });
  const work = workOf(random, cause, country_code);
  return {
    index,
    tier,
    name,
    short,
    country_code,
    /** The place of its seat, for the texts; the record of a thin profile may lack it. */
    region,
    city,
    work,
    /** The random numbers, after those that the outline used. */
    random,
    /** The first is the subject of its texts; the record of a thin profile may lack them. */
    causes: [cause, ...random.some(near, more)] as [SampleCauseId, ...SampleCauseId[]],
  };
}

/** Whom it serves, its activities (the main one first) and its aim: the same in all its texts. */
function workOf(random: Random, cause: SampleCauseId, country: string) {
  const { who: groups, acts: activities } = wordsOf(cause, country);
  const [who = "", ...others] = random.some(groups, groupsMax);
  const acts = random.some(activities, actsMax);
  return { who, others, acts, aim: random.pick(causes[cause].aims) };
}

const inTurn = <Item>(items: readonly Item[], turn: number): Item =>
  items[turn % items.length] as Item;

function tierAt(index: number): Tier {
  const place = index % round;
  if (place === 0) return "verified";
  // 7 and 40 have no common factor, so the tiers are scattered over the round.
  const scattered = (place * 7) % round;
  if (scattered <= 8) return "rich";
  return scattered <= 19 ? "medium" : "thin";
}

/** The material for the texts of a cause: groups of people, activities, programmes. */
type CauseWords = {
  who: readonly string[];
  acts: readonly string[];
  programs: readonly { name: string; description: string }[];
};

export const richCountries: ReadonlySet<string> = new Set(
  countryCodes.filter((code) => "rich" in places[code]),
);

const inRichCountries = new Map<SampleCauseId, CauseWords>(
  causeIds.map((id) => {
    const { who, acts, programs, not_in_rich_countries: unfit } = causes[id];
    const fits = (word: string): boolean => !(unfit as string[]).includes(word);
    const fitting = programs.filter(({ name }) => fits(name));
    return [id, { who: who.filter(fits), acts: acts.filter(fits), programs: fitting }];
  }),
);

/** The words of a cause that suit a country: no one hands out bed nets in Norway. */
export const wordsOf = (cause: SampleCauseId, country: string): CauseWords =>
  (richCountries.has(country) ? inRichCountries.get(cause) : null) ?? causes[cause];

type Flavour = keyof typeof names.flavours;

type NameWishes = {
  flavour: Flavour;
  themes: readonly string[];
  /** What an association of friends can be about; empty if that makes no sense for the cause. */
  features: readonly string[];
  city: string;
};

/** The name of an invented organisation, and its short form for running text. */
type SampleName = { name: string; short: string };

/**
 * A name built around a coined or unlikely word, so that it belongs to no real organisation: "Wrenfold Literacy
 * Trust", "Patient Kettle Arts Collective". Different calls may give the same name.
 */
function sampleName(random: Random, wishes: NameWishes): SampleName {
  const { flavour, themes, features, city } = wishes;
  const { adjectives, nouns, types } = names;
  /** What it does and its kind: "Literacy Trust". Avoids "Senior Centre Centre". */
  const subject = (): string => {
    const theme = random.pick(themes);
    const [type = "", other = ""] = random.some(types[flavour], 2);
    return `${theme} ${theme.endsWith(type) ? other : type}`;
  };
  const named = (short: string, rest = subject()) => ({ name: `${short} ${rest}`, short });
  switch (random.weighted(patterns)) {
    case "coined":
      return named(coined(random, flavour));
    case "coined, no theme":
      return named(coined(random, flavour), random.pick(types[flavour]));
    case "unlikely":
      return named(`${random.pick(adjectives)} ${random.pick(nouns)}`);
    case "two nouns":
      return named(random.some(nouns, 2).join(" & "));
    case "friends": {
      const place = coined(random, flavour);
      if (features.length === 0) return named(place);
      return { name: `Friends of ${place} ${random.pick(features)}`, short: "the group" };
    }
    case "chapter": {
      const { name, short } = named(coined(random, flavour));
      return { name: `${name}, ${city} Chapter`, short: `${short} ${city}` };
    }
    case "described":
    default:
      return named(`${random.pick(adjectives)} ${coined(random, flavour)}`);
  }
}

const patterns = [
  ["coined", 48],
  ["coined, no theme", 10],
  ["unlikely", 18],
  ["two nouns", 8],
  ["friends", 7],
  ["chapter", 5],
  ["described", 4],
] as const;

/** An invented proper noun: a beginning and an end with the sound of a language family. */
function coined(random: Random, flavour: Flavour): string {
  const { starts, ends } = names.flavours[flavour];
  const start = random.pick(starts);
  const end = random.pick(ends);
  const last = start.at(-1) ?? "";
  const first = end[0] ?? "";
  const clash = last === first || (isVowel(last) && isVowel(first));
  return (clash ? start.slice(0, -1) : start) + end;
}

const isVowel = (letter: string): boolean => "aeiou".includes(letter);
