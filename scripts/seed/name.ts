import type { Random } from "./random.ts";
import { weightedTable } from "./random.ts";
import names from "./names.json";

/** The name of an invented organisation, and how it is called in running text. */
export type SampleName = { name: string; short: string };
export type Flavour = keyof typeof names.flavours;

type Asked = { flavour: Flavour; themes: readonly string[]; city: string };

/**
 * A name built around a coined or unlikely word, so that it belongs to no real organisation: "Wrenfold Literacy
 * Trust", "Patient Kettle Arts Collective". Different calls may give the same name.
 */
export function sampleName(random: Random, asked: Asked): SampleName {
  return random.weighted(patterns)(random, asked);
}

const typeOf = (random: Random, { flavour }: Asked): string => random.pick(names.types[flavour]);

const patterns = weightedTable<(random: Random, asked: Asked) => SampleName>([
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      return { name: `${short} ${random.pick(asked.themes)} ${typeOf(random, asked)}`, short };
    },
    48,
  ],
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      return { name: `${short} ${typeOf(random, asked)}`, short };
    },
    10,
  ],
  [
    (random, asked) => {
      const short = `${random.pick(names.adjectives)} ${random.pick(names.nouns)}`;
      return { name: `${short} ${random.pick(asked.themes)} ${typeOf(random, asked)}`, short };
    },
    18,
  ],
  [
    (random, asked) => {
      const short = random.some(names.nouns, 2).join(" & ");
      return { name: `${short} ${random.pick(asked.themes)} ${typeOf(random, asked)}`, short };
    },
    8,
  ],
  [
    (random, asked) => ({
      name: `Friends of ${coined(random, asked.flavour)} ${random.pick(names.features)}`,
      short: "the Friends",
    }),
    7,
  ],
  [
    (random, asked) => {
      const short = coined(random, asked.flavour);
      const name = `${short} ${random.pick(asked.themes)} ${typeOf(random, asked)}`;
      return { name: `${name}, ${asked.city} Chapter`, short: `${short} ${asked.city}` };
    },
    5,
  ],
  [
    (random, asked) => {
      const short = `${random.pick(names.adjectives)} ${coined(random, asked.flavour)}`;
      return { name: `${short} ${random.pick(asked.themes)} ${typeOf(random, asked)}`, short };
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
