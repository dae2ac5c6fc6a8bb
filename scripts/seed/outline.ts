import causes from "./causes.json";
import names from "./names.json";
import places from "./places.json";
import { type Random, randomOf, weightedTable } from "./random.ts";

type SampleCauseId = keyof typeof causes;
export const causeIds = Object.keys(causes) as SampleCauseId[];

/** How much is known of an organisation: a register's few facts, some texts, all, or all and claimed. */
type Tier = "thin" | "medium" | "rich" | "verified";

/** Who and where an organisation of the sample is, before its slug is settled and its fields are written. */
export type Outline = {
  index: number;
  tier: Tier;
  name: string;
  short: string;
  country_code: string;
  /** Of its seat, for the texts; thin profiles may leave them out of the record. */
  region: string;
  city: string;
  /** The first is what its texts are about; a thin profile may leave them out of the record. */
  causes: [SampleCauseId, ...SampleCauseId[]];
  /** Whom it serves, what it does (first things first) and what for: the same in all its texts. */
  work: { who: string; others: string[]; acts: string[]; aim: string };
  /** Goes on where the outline stopped. */
  random: Random;
};

const countryCodes = Object.keys(places) as (keyof typeof places)[];

const causesByWeight = weightedTable(causeIds.map((id) => [id, causes[id].weight]));
const countriesByWeight = weightedTable(countryCodes.map((code) => [code, places[code].weight]));

/** Every run of this many profiles holds one verified, eight rich, eleven medium and twenty thin ones. */
export const round = 40;
/** Up to here causes and countries come in turn, so that a small directory too has each of them. */
const inTurnMax = 400;
const groupsMax = 4;
const actsMax = 6;

/** The organisation with this index (from 0) of the sample with this seed: a pure function of both. */
export function outlineAt(seedNumber: number, index: number): Outline {
  const random = randomOf(seedNumber, index);
  const tier = tierAt(index);
  // Claimed profiles take causes and countries in turn: each has some, and the starter set can cover all.
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
    region,
    city,
    work,
    random,
    causes: [cause, ...random.some(near, more)],
  };
}

function workOf(random: Random, cause: SampleCauseId, country: string): Outline["work"] {
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
  // 7 and 40 have no common factor: the tiers lie scattered over the round.
  const scattered = (place * 7) % round;
  if (scattered <= 8) return "rich";
  return scattered <= 19 ? "medium" : "thin";
}

/** What the texts of a cause are made of: groups of people, activities, programmes. */
type CauseWords = {
  who: readonly string[];
  acts: readonly string[];
  programs: readonly { name: string; description: string }[];
};

export const richCountries: ReadonlySet<string> = new Set([
  "US",
  "GB",
  "CA",
  "AU",
  "IE",
  "NZ",
  "FR",
  "ES",
  "PT",
  "IT",
  "CL",
  "DE",
  "NL",
  "SE",
  "NO",
  "DK",
  "PL",
]);

const everywhere = new Map<SampleCauseId, CauseWords>(causeIds.map((id) => [id, causes[id]]));
const inRichCountries = new Map<SampleCauseId, CauseWords>(
  causeIds.map((id) => {
    const { who, acts, programs, not_in_rich_countries } = causes[id];
    const fits = (word: string): boolean => !(not_in_rich_countries as string[]).includes(word);
    return [
      id,
      {
        who: who.filter(fits),
        acts: acts.filter(fits),
        programs: programs.filter(({ name }) => fits(name)),
      },
    ];
  }),
);

/** No one hands out bed nets in Norway: the words of a cause that suit a country. */
export const wordsOf = (cause: SampleCauseId, country: string): CauseWords =>
  (richCountries.has(country) ? inRichCountries : everywhere).get(cause) ?? causes[cause];

/** The name of an invented organisation, and how it is called in running text. */
type SampleName = { name: string; short: string };
type Flavour = keyof typeof names.flavours;

type NameWishes = {
  flavour: Flavour;
  themes: readonly string[];
  /** What an association of friends can be about; empty when that makes no sense for the cause. */
  features: readonly string[];
  city: string;
};

/**
 * A name built around a coined or unlikely word, so that it belongs to no real organisation: "Wrenfold Literacy
 * Trust", "Patient Kettle Arts Collective". Different calls may give the same name.
 */
function sampleName(random: Random, asked: NameWishes): SampleName {
  return random.weighted(patterns)(random, asked);
}

/** What it does and what kind of body it is: "Literacy Trust". No "Senior Centre Centre". */
function subject(random: Random, { flavour, themes }: NameWishes): string {
  const theme = random.pick(themes);
  const [type = "", other = ""] = random.some(names.types[flavour], 2);
  return `${theme} ${theme.endsWith(type) ? other : type}`;
}

const patterns = weightedTable<(random: Random, asked: NameWishes) => SampleName>([
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      return { name: `${short} ${subject(random, asked)}`, short };
    },
    48,
  ],
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      return { name: `${short} ${random.pick(names.types[asked.flavour])}`, short };
    },
    10,
  ],
  [
    (random, asked) => {
      const short = `${random.pick(names.adjectives)} ${random.pick(names.nouns)}`;
      return { name: `${short} ${subject(random, asked)}`, short };
    },
    18,
  ],
  [
    (random, asked) => {
      const short = random.some(names.nouns, 2).join(" & ");
      return { name: `${short} ${subject(random, asked)}`, short };
    },
    8,
  ],
  [
    (random, asked) => {
      const place = coined(random, asked.flavour);
      return asked.features.length === 0
        ? { name: `${place} ${subject(random, asked)}`, short: place }
        : { name: `Friends of ${place} ${random.pick(asked.features)}`, short: "the group" };
    },
    7,
  ],
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      const name = `${short} ${subject(random, asked)}`;
      return { name: `${name}, ${asked.city} Chapter`, short: `${short} ${asked.city}` };
    },
    5,
  ],
  [
    (random, asked) => {
      const short = `${random.pick(names.adjectives)} ${coined(random, asked.flavour)}`;
      return { name: `${short} ${subject(random, asked)}`, short };
    },
    4,
  ],
]);

/** A proper noun that means nothing: a beginning and an end in the sound of a family of languages. */
function coined(random: Random, flavour: Flavour): string {
  const { starts, ends } = names.flavours[flavour];
  const start = random.pick(starts);
  const end = random.pick(ends);
  const [last, first] = [start.at(-1) ?? "", end[0] ?? ""];
  const clash = last === first || (isVowel(last) && isVowel(first));
  return (clash ? start.slice(0, -1) : start) + end;
}

const isVowel = (letter: string): boolean => "aeiou".includes(letter);
