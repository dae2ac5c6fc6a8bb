import { similarTo } from "#content/nonprofit/near-name.ts";
import { initialsOf } from "#content/nonprofit/search-facets.ts";
import { fold } from "#content/nonprofit/text.ts";
import { type Named, nonprofitIdOf, scoredMax, type SearchIndex } from "./index-store.ts";
import { allOf, anyOf, type FtsMatch, inName } from "./query.ts";
import type { Reading } from "./reading.ts";
import { tellingText, textOf } from "./understand.ts";

type Plan = {
  /** All that is found. */
  match: FtsMatch;
  /** The part of it that is put in order by bm25. */
  scored: FtsMatch;
  /** Profiles with the words in their name stand in front of all others. */
  named: FtsMatch;
  /** Places that stand next. */
  front: readonly number[];
  /** The number of matches when it is known already. */
  total: number | null;
  /** Whether anything has all of the words, when that is known already. */
  hasAll?: boolean;
};

export type Ranked = {
  total: number;
  ids: number[];
  /** Whether anything has all of the words. */
  hasAll: boolean;
};

export type Asked = {
  /** What every result must match as well. */
  filters: readonly FtsMatch[];
  /** What was typed when the words are a guess: the names nearest to it stand first. Null when they are not. */
  guessed: string | null;
  limit: number;
  offset: number;
};

const noMatch = '""';

/**
 * One page of what a reading matches: all of the words when that gives at least `limit` matches, else any of them, with
 * those that have all in front. Names with all the words stand before the rest, wherever they are.
 */
export async function rankedPage(
  index: SearchIndex,
  reading: Reading,
  asked: Asked,
): Promise<Ranked> {
  const plan = await planFor(index, reading, asked);
  const { total, ids } = await pageOf(index, plan, reading, asked);
  return { total, ids, hasAll: plan.hasAll ?? total > 0 };
}

async function planFor(index: SearchIndex, reading: Reading, asked: Asked): Promise<Plan> {
  const { rest, cause } = reading;
  const matching = matcher(reading, asked.filters);
  if (rest.length === 0) {
    const match = matching();
    return { match, scored: match, named: matching(noMatch), front: [], total: null };
  }
  const isWhole = cause?.isWhole === true;
  const all = matching(allOf(rest), ...(isWhole ? [cause.match] : []));
  const both = cause === null ? [] : [allOf([anyOf(rest), cause.match])];
  const named = matching(inName(allOf(rest)));
  const plan = {
    match: all,
    scored: matching(allOf(rest), ...both),
    named,
    front: [],
    total: null,
  };
  if (rest.length === 1 && (cause === null || isWhole)) return plan;
  const front = await index.first(all, asked.limit);
  return front.length >= asked.limit ? plan : someWords(index, reading, { asked, front, named });
}

/** Any of the words, with `front`, which have all of them, before the others; then what is of the cause. */
async function someWords(
  index: SearchIndex,
  reading: Reading,
  { asked, front, named }: { asked: Asked; front: readonly number[]; named: FtsMatch },
): Promise<Plan> {
  const { rest, cause } = reading;
  const matching = matcher(reading, asked.filters);
  const ofCause = cause === null ? [] : [cause.match];
  const match = matching(anyOf(rest), ...ofCause);
  const [total = 0, ...counts] = await index.counts([match, ...rest]);
  const both = ofCause.map((one) => allOf([anyOf(rest), one]));
  const isPart = cause !== null && !cause.isWhole;
  return {
    match,
    scored: matching(anyOf(rarest(rest, counts)), ...both),
    named: front.length > 0 ? named : noMatch,
    front: [...front, ...(isPart ? await index.first(matching(cause.match), asked.limit) : [])],
    total,
    hasAll: front.length > 0,
  };
}

/**
 * What has any of the matches, in the place and with the filters; without any, all in the place. Names with all of the
 * words and the place among them match wherever they are.
 */
function matcher({ each, place }: Reading, filters: readonly FtsMatch[]) {
  const names = place === null ? [] : [inName(allOf(each))];
  const inside = place === null ? [] : [place.match];
  return (...matches: FtsMatch[]): FtsMatch => {
    const wanted = matches.length === 0 ? inside : [anyOf(matches), ...inside];
    return allOf([anyOf([...names, allOf(wanted)]), ...filters]);
  };
}

/** The rarest word, and as many more as can be scored with it: very common words tell profiles apart the least. */
function rarest(words: readonly FtsMatch[], counts: readonly number[]): FtsMatch[] {
  const found = words
    .map((match, at) => ({ match, count: counts[at] ?? 0 }))
    .sort((a, b) => a.count - b.count || (a.match < b.match ? -1 : 1));
  let sum = 0;
  const few = found.filter(({ count }) => (sum += count) <= scoredMax);
  return (few.length > 0 ? few : found.slice(0, 1)).map(({ match }) => match);
}

async function pageOf(
  index: SearchIndex,
  { match, scored, named, front, total }: Plan,
  reading: Reading,
  { guessed, limit, offset }: Asked,
): Promise<{ total: number; ids: number[] }> {
  const best = await index.best(scored, named);
  const inFront = new Set(front);
  // A set keeps the order in which places were first put in.
  const head = [
    ...new Set([
      ...(guessed === null ? byName(best.named, reading) : bySimilarity(best.named, guessed)),
      ...best.places.filter((place) => inFront.has(place)),
      ...front,
      ...best.places,
    ]),
  ];
  const isWhole = match === scored && best.places.length < scoredMax;
  const found = total ?? (isWhole ? best.places.length : await index.count(match));
  const places = head.slice(offset, offset + limit);
  if (places.length < limit && offset + places.length < found) {
    const behind = { limit: limit - places.length, offset: Math.max(0, offset - head.length) };
    places.push(...(await index.rest(match, head, behind)));
  }
  return { total: found, ids: places.map(nonprofitIdOf) };
}

const typedText = ({ words }: Reading): string => tellingText(words.map(textOf).join(" "));

/**
 * First the name that is the text as it was typed, then those that begin with it or have it as their initials, then those
 * with all of the words, the place included, then those with all but the place; in each, the shorter names first. bm25 measures a profile by the
 * length of all its texts, and so cannot tell that "Youth Outreach" is more exactly what was asked for than a longer name.
 */
function byName(named: readonly Named[], reading: Reading): number[] {
  const typed = typedText(reading);
  const words = typed.split(" ");
  const restWords = reading.restWords.map(fold);
  const nearness = (name: string, original: string) => {
    if (name === typed) return 0;
    if (name.startsWith(typed)) return 1;
    if (initialsOf(original) === typed) return 2;
    if (words.every((word) => name.includes(word))) return 3;
    return restWords.every((word) => name.includes(word)) ? 4 : 5;
  };
  return named
    .map(({ place, name }) => ({ place, text: tellingText(name), original: name }))
    .map((one) => ({ ...one, nearness: nearness(one.text, one.original) }))
    .sort((a, b) => a.nearness - b.nearness || a.text.length - b.text.length || a.place - b.place)
    .map(({ place }) => place);
}

function bySimilarity(named: readonly Named[], typed: string): number[] {
  const similarity = similarTo(typed);
  return named
    .map(({ place, name }) => ({ place, nearness: similarity(name) }))
    .sort((a, b) => b.nearness - a.nearness || a.place - b.place)
    .map(({ place }) => place);
}
