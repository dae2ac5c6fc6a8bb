import causes from "./causes.json";
import { type Flavour, sampleName } from "./name.ts";
import places from "./places.json";
import { type Random, randomOf, weightedTable } from "./random.ts";
import { causeIds, type SampleCauseId, wordsOf } from "./words.ts";

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
