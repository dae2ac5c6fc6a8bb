import names from "./names.json";
import { type Random, weightedTable } from "./random.ts";

/** The name of an invented organisation, and how it is called in running text. */
export type SampleName = { name: string; short: string };
export type Flavour = keyof typeof names.flavours;

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
export function sampleName(random: Random, asked: NameWishes): SampleName {
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
