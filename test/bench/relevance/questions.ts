import { join } from "node:path";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { countryName } from "#content/nonprofit/country.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { fold } from "#content/nonprofit/text.ts";
import { randomOf, type Random } from "#scripts/seed/numbers.ts";
import { mistaken } from "../reconcile/damage.ts";
import asks from "./asks.json";
import others from "./other-questions.json";
import type { Half } from "./queries.ts";

/** A question as people put it, and the nonprofits that answer it; none: right is to say that there is none. */
export type Question = { query: string; relevant: ReadonlySet<number> };

/** What registers' own rows say of an organisation, for labels that owe nothing to the directory. */
type Point = { lat: number; lon: number };
type Row = { codes: readonly string[]; town: string; point: Point | null };
type Labelled = Row & Pick<NonprofitRecord, "id" | "region" | "country_code"> & { text: string };
type Ask = { ntee: readonly string[]; ukcat: readonly string[]; words: string };

/**
 * At least `count` questions: something in a place, something anywhere, a place alone, other languages, a slip of the hand. The
 * same on every machine. The halves share no thing that is asked for. `folder` has the registers.
 */
export function ordinaryQuestions(
  records: readonly NonprofitRecord[],
  { count, half, folder }: { count: number; half: Half; folder: string },
): Question[] {
  const known = labelled(records, rowsOf(folder));
  const places = placesOf(known);
  const mine = asks.filter((_, at) => (at % 2 === 0) === (half === "tune"));
  const random = randomOf(29, half === "tune" ? 1 : 3);
  const found = new Map<string, Question>();
  const add = (query: string, matches: readonly Labelled[]) =>
    found.set(query, { query, relevant: new Set(matches.map(({ id }) => id)) });
  for (const { query, ask, place, only } of others.filter(
    (_, at) => (at % 2 === 0) === (half === "tune"),
  )) {
    const there = known.filter((one) => place === null || isIn(one, place, only));
    add(
      query,
      ask === null
        ? there
        : there.filter(answers(asks.find(({ says }) => says.includes(ask)) ?? nothing)),
    );
  }
  while (found.size < count) {
    const ask = random.pick(mine);
    const say = random.pick(ask.says);
    const all = known.filter(answers(ask));
    const share = random.below(100);
    const { name, there, around } = random.pick(places);
    if (share < 15) add(say, all);
    else if (share < 25) add(random.pick(wholePlace).replace("*", name), there);
    else {
      const words = share < 35 ? withMistake(random, say) : say;
      const template = random.pick(inPlace);
      const ids = new Set((template === nearPlace ? around : there).map(({ id }) => id));
      add(
        template.replace("?", words).replace("*", name),
        all.filter(({ id }) => ids.has(id)),
      );
    }
  }
  return [...found.values()];
}

const nothing: Ask = { ntee: [], ukcat: [], words: "^$" };
const nearPlace = "? near *";
const inPlace = ["? in *", "? *", nearPlace, "* ?", "? in *", "? charities in *"];
const wholePlace = [
  "charities in *",
  "nonprofits in *",
  "charity *",
  "nonprofit organizations in *",
  "*",
];
const placeFrom = 15;

const withMistake = (random: Random, say: string): string => {
  const words = say.split(" ");
  const long = words.flatMap((word, at) => (/^[a-z]{6,}$/.test(word) ? at : []));
  if (long.length === 0) return say;
  const at = random.pick(long);
  return words.with(at, mistaken(random, words[at] ?? "")).join(" ");
};

const answers = ({ ntee, ukcat, words }: Ask) => {
  const pattern = new RegExp(words, "i");
  return ({ codes, text }: Labelled): boolean =>
    codes.some(
      (code) =>
        ukcat.includes(code) ||
        ntee.some((one) => code === `N${one}` || code.startsWith(`N${one}`)),
    ) || pattern.test(text);
};

const isIn = (one: Labelled, place: string, towns: readonly string[] = []): boolean =>
  [one.town, fold(one.region ?? ""), fold(countryName(one.country_code) ?? "")].includes(
    fold(place),
  ) || towns.some((town) => one.town === fold(town));

function placesOf(known: readonly Labelled[]) {
  const names = [
    ...Map.groupBy(known, ({ town }) => town),
    ...Map.groupBy(known, ({ region }) => region ?? ""),
    ...Map.groupBy(known, ({ country_code }) => countryName(country_code) ?? ""),
  ];
  return names
    .filter(([name, there]) => name !== "" && there.length >= placeFrom)
    .map(([name]) => {
      const there = known.filter((one) => isIn(one, name));
      // Near a state or a country is in it.
      const isTown = there.some(({ town }) => town === fold(name));
      return { name, there, around: isTown ? [...there, ...within(known, there)] : there };
    });
}

/** "Near" is what the directory's default says, with what a code's centre may be off by. */
const nearKm = 35;
const kmPerDegree = 111.2;

function within(known: readonly Labelled[], there: readonly Labelled[]): Labelled[] {
  const points = there.flatMap(({ point }) => point ?? []);
  const mean = (of: (point: Point) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const lat = mean((point) => point.lat);
  const lon = mean((point) => point.lon);
  const narrower = Math.cos((lat * Math.PI) / 180);
  return known.filter(
    ({ point }) =>
      point !== null &&
      Math.hypot(point.lat - lat, (point.lon - lon) * narrower) * kmPerDegree <= nearKm,
  );
}

const labelled = (
  records: readonly NonprofitRecord[],
  rows: ReadonlyMap<string, Row>,
): Labelled[] =>
  records.map((record) => {
    const row = record.registrations.flatMap(({ org_id }) => rows.get(org_id ?? "") ?? [])[0];
    const text = [record.name, record.tagline, record.mission].join(" ");
    const { id, region, country_code } = record;
    return {
      id,
      region,
      country_code,
      text,
      codes: row?.codes ?? [],
      point: row?.point ?? null,
      town: row?.town || fold(record.city ?? ""),
    };
  });

/** By org-id. Towns of the UK are those of their postcodes. */
function rowsOf(folder: string): Map<string, Row> {
  const towns = new Map(
    csv(folder, "geo_postal/uk_post_towns.csv.gz").map((row) => {
      const [outward, , town] = Object.values(row);
      return [outward ?? "", fold((town ?? "").split("|")[0] ?? "")] as const;
    }),
  );
  const points = new Map(["US", "GB"].flatMap((country) => pointsOf(folder, country)));
  const american = ["hi", "ri", "eo4"].flatMap((state) =>
    csv(folder, `irs_bmf/${state === "eo4" ? state : `eo_${state}`}.csv.gz`),
  );
  const british = ["sample", "top2000"].flatMap((name) => csv(folder, `uk_ukcat/${name}.csv.gz`));
  return new Map<string, Row>([
    ...american.map(
      (row) =>
        [
          `US-EIN-${row["EIN"]}`,
          {
            codes: [`N${row["NTEE_CD"]}`],
            town: "",
            point: points.get(`US${(row["ZIP"] ?? "").slice(0, 5)}`) ?? null,
          },
        ] as const,
    ),
    ...british.map((row) => {
      const outward = (row["postcode"] ?? "").trim().split(" ")[0] ?? "";
      const codes = (row["UKCAT"] ?? "").split(";");
      return [
        row["org_id"] ?? "",
        { codes, town: towns.get(outward) ?? "", point: points.get(`GB${outward}`) ?? null },
      ] as const;
    }),
  ]);
}

/** GeoNames: country, code, place, six columns of divisions, latitude, longitude, accuracy. */
const pointsOf = (folder: string, country: string): (readonly [string, Point])[] =>
  gunzipSync(readFileSync(join(folder, `geo_postal/geonames_${country}.txt.gz`)))
    .toString()
    .split("\n")
    .map((line) => line.split("\t"))
    .map(([, code, , , , , , , , lat, lon]) => [
      `${country}${code}`,
      { lat: Number(lat), lon: Number(lon) },
    ]);

const csv = (folder: string, path: string): Record<string, string>[] =>
  parse(gunzipSync(readFileSync(join(folder, path))), {
    columns: true,
    relax_column_count: true,
    relax_quotes: true,
  });
