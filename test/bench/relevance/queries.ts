import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fold } from "#content/nonprofit/text.ts";
import { randomOf, type Random } from "#scripts/seed/numbers.ts";
import { mistaken } from "../reconcile/damage.ts";

export const kinds = [
  "exact name",
  "part of a name",
  "name with a mistake",
  "cause and place",
  "number",
  "acronym",
] as const;
export type Kind = (typeof kinds)[number];

/** A query with the ids of all organisations that answer it. */
export type Labelled = { kind: Kind; query: string; relevant: ReadonlySet<number> };

type Made = { query: string; relevant: readonly number[] } | null;
type Maker = (random: Random) => Made;

/** The search is changed by one half; the other one is reported. */
export type Half = "tune" | "report";

/**
 * Queries of six kinds with their answers, the same on every machine: `each` of a kind. Labels come from the data, not from
 * this search: names, numbers, places, and causes that registers' codes say (or names in the very words). The halves share no organisation that is
 * looked for by name or number, and no words for a cause.
 */
export function labelledQueries(
  records: readonly NonprofitRecord[],
  { each, half }: { each: number; half: Half },
): Labelled[] {
  const makers = makersFor(records, half);
  return kinds.flatMap((kind, seed) => {
    const random = randomOf(13, seed);
    const found = new Map<string, Labelled>();
    for (let tried = 0; found.size < each && tried < each * 200; tried++) {
      const made = makers[kind](random);
      if (made === null || made.query.length < 3) continue;
      found.set(made.query, { kind, query: made.query, relevant: new Set(made.relevant) });
    }
    return [...found.values()];
  });
}

function makersFor(all: readonly NonprofitRecord[], half: Half): Record<Kind, Maker> {
  const isIn = (at: number) => (at % 2 === 0) === (half === "tune");
  const records = all.filter(({ id }) => isIn(id));
  const byName = Map.groupBy(all, ({ name }) => fold(name));
  const idsOf = (found: readonly NonprofitRecord[] | undefined) => found?.map(({ id }) => id) ?? [];
  const sameName = ({ name }: NonprofitRecord) => idsOf(byName.get(fold(name)));
  const byInitials = Map.groupBy(all, ({ name }) => initials(name));
  const inPlaces = [
    ...Map.groupBy(all, ({ city }) => city ?? ""),
    ...Map.groupBy(all, ({ region }) => region ?? ""),
  ].filter(([place, there]) => place !== "" && there.length >= placeFrom);
  const activities = causeWords(all).filter((_, at) => isIn(at));
  return {
    "exact name": (random) => {
      const record = random.pick(records);
      return { query: record.name, relevant: sameName(record) };
    },
    "part of a name": (random) => {
      const record = random.pick(records);
      const words = fold(record.name).split(" ");
      if (words.length < 4) return null;
      const query = words.toSpliced(random.below(words.length), 1).join(" ");
      return { query, relevant: sameName(record) };
    },
    "name with a mistake": (random) => {
      const record = random.pick(records);
      const words = fold(record.name).split(" ");
      const long = words.flatMap((word, at) => (/^[a-z]{5,}$/.test(word) ? at : []));
      if (long.length === 0) return null;
      const at = random.pick(long);
      const query = words.with(at, mistaken(random, words[at] ?? "")).join(" ");
      return byName.has(query) ? null : { query, relevant: sameName(record) };
    },
    "cause and place": (random) => {
      const [place, there] = random.pick(inPlaces);
      const { words, cause } = random.pick(activities);
      const said = words.split(" ");
      const relevant = there.filter(
        ({ causes, name }) =>
          causes.includes(cause) || said.every((word) => fold(name).split(" ").includes(word)),
      );
      if (relevant.length < relevantFrom) return null;
      const [front, back] = random.pick([
        [words, place],
        [words, `in ${place}`],
        [place, words],
      ]);
      return { query: `${front} ${back}`.toLowerCase(), relevant: idsOf(relevant) };
    },
    number: (random) => {
      const record = random.pick(records);
      const [registration] = record.registrations;
      if (registration?.org_id == null) return null;
      const { org_id, registration_number: number } = registration;
      const digits = number.replaceAll(/\D/g, "");
      const spellings =
        registration.country_code === "US"
          ? [number, digits, `EIN ${number}`, org_id, `${digits.slice(0, 2)} ${digits.slice(2)}`]
          : [number, org_id, `charity no. ${number}`];
      return { query: random.pick(spellings), relevant: [record.id] };
    },
    acronym: (random) => {
      const record = random.pick(records);
      const query = initials(record.name);
      const same = byInitials.get(query) ?? [];
      if (!/^[A-Z]{3,6}$/.test(query) || same.length > sameInitialsMax) return null;
      return { query, relevant: idsOf(same) };
    },
  };
}

const placeFrom = 40;
const relevantFrom = 5;
const sameInitialsMax = 3;

const small = new Set(["of", "the", "and", "for", "in", "a", "an", "to", "at", "on"]);
const legal = new Set(["inc", "incorporated", "corp", "corporation", "ltd", "limited", "llc"]);

/** As people abbreviate: without small words and the legal form. */
const initials = (name: string): string =>
  fold(name)
    .split(" ")
    .filter((word) => !small.has(word) && !legal.has(word))
    .map((word) => word[0] ?? "")
    .join("")
    .toUpperCase();

const tellingFrom = 8;
const tellingShareMin = 0.6;
const phraseWordsMax = 2;

/**
 * What people call a cause: words and pairs of words of at least eight names, most of which registers' codes put under
 * that cause.
 */
function causeWords(records: readonly NonprofitRecord[]): { words: string; cause: string }[] {
  const found = new Map<string, Map<string, number>>();
  const places = new Set(
    records.flatMap(({ city, region }) => fold(`${city ?? ""} ${region ?? ""}`).split(" ")),
  );
  for (const { name, causes } of records) {
    const words = fold(name)
      .split(" ")
      .map((word) => (small.has(word) || legal.has(word) || places.has(word) ? "" : word));
    const phrases = words.flatMap((_, at) =>
      Array.from({ length: phraseWordsMax }, (__, more) => words.slice(at, at + more + 1)),
    );
    for (const phrase of new Set(phrases.map((part) => part.join(" ")))) {
      if (!/^[a-z]{4,}(?: [a-z]{4,})?$/.test(phrase)) continue;
      const counts = found.getOrInsertComputed(phrase, () => new Map());
      counts.set(causes[0] ?? "", (counts.get(causes[0] ?? "") ?? 0) + 1);
    }
  }
  return [...found].flatMap(([words, counts]) => {
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const [cause = "", most = 0] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    const isTelling = cause !== "" && all >= tellingFrom && most >= tellingShareMin * all;
    return isTelling ? [{ words, cause }] : [];
  });
}
