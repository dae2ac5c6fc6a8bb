import given from "#content/editorial/register-places.json";
import postTowns from "#content/editorial/uk-post-towns.json";
import { countryOf } from "#content/nonprofit/country.ts";
import { fromPostcode } from "#content/nonprofit/provenance.ts";
import { fold } from "#content/nonprofit/text.ts";
import { readablePlace } from "./names.ts";

/** A nonprofit's place. A part is null if the register does not reliably give it. */
export type Place = { country_code: string | null; region: string | null; city: string | null };

const states = new Map(Object.entries(given.states));
const statesByName = new Map([...states].map(([code, name]) => [name.toUpperCase(), code]));
const territories = new Set(given.territories);
const armedForces = new Map(Object.entries(given.armedForces));
const spellings = new Map<string, string | null>(Object.entries(given.spellings));
const towns = new Map(Object.entries(given.towns));
const marks = given.marks.map(([text = "", code = ""]) => [new RegExp(text), code] as const);
const slips = new Set(given.slips);
const slipEvidence = new RegExp(given.slipEvidence);
const provinces = new Map(
  Object.entries(given.provinces).map(([country, codes]) => [
    country,
    new Map(
      Object.entries(codes).flatMap(([code, name]) => [
        [code, name] as const,
        [name.toUpperCase(), name] as const,
      ]),
    ),
  ]),
);
const notTowns = new RegExp(
  String.raw`(?:^| )(?:\S*\d\S*|${given.notTowns.join("|")})(?= |$)`,
  "g",
);
const anyProvince = [...provinces.values()].flatMap((names) => [...names.keys()]);
const provinceAtEnd = new RegExp(`^(.*?)\\s*\\b(${longestFirst(anyProvince).join("|")})$`);
const stateAtEnd = new RegExp(
  `^(.*?)\\s*\\b(?<!\\bBAJA )(${longestFirst([...states.keys(), ...statesByName.keys()]).join("|")})( \\d{5}(?:-?\\d{4})?)?$`,
);

/** Countries with the same code as a state and five-digit post codes. */
const ownCodes = new Set(["DE", "ID", "IL"]);

/**
 * The place of a row of the IRS master file. Without a state, CITY holds the country in one of 163 spellings and STREET the
 * town and post code; territories are countries of their own (ISO 3166), and military post is in the United States, in no
 * town.
 */
export function bmfPlace({
  STREET,
  CITY,
  STATE,
}: Record<"STREET" | "CITY" | "STATE", string>): Place {
  if (territories.has(STATE)) {
    // "ST THOMAS US" is the beginning of "St Thomas USVI".
    const city = readablePlace(CITY.replace(/ US(?:VI?)?$/, "")) || null;
    return { country_code: STATE, region: null, city };
  }
  const forces = armedForces.get(STATE);
  if (forces !== undefined) return { country_code: "US", region: forces, city: null };
  if (STATE !== "") {
    const written = readablePlace(inFull(CITY, STATE)) || null;
    return { country_code: "US", region: states.get(STATE) ?? null, city: written };
  }
  return foreignPlace(
    STREET.replaceAll(/[\s,]+/g, " ")
      .replace(/[ .]+$/, "")
      .trim(),
    CITY.trim(),
  );
}

const wholeCities = new Map(Object.entries(given.cities.whole));
const firstWords = new Map(Object.entries(given.cities.first));
const cityWords = new Map(Object.entries(given.cities.words));

/** "EAST PROVIDENCE" for "E PROVIDENCE": the register has room for 13 letters. Removes a state at the end. */
function inFull(city: string, state: string): string {
  const words = city.endsWith(` ${state}`) ? city.slice(0, -3) : city;
  if (!words.includes(" ")) return wholeCities.get(words) ?? words;
  return (
    wholeCities.get(city) ??
    words
      .split(" ")
      .map(
        (word, at) => (at === 0 ? firstWords.get(word) : undefined) ?? cityWords.get(word) ?? word,
      )
      .join(" ")
  );
}

const townsByCode = new Map(
  Object.entries(postTowns.towns).flatMap(([town, codes]) =>
    codes.split(",").map((code) => [code, town] as const),
  ),
);
const alsoByCode = new Map(Object.entries(postTowns.also));
const townsByName = new Map(Object.keys(postTowns.towns).map((town) => [town.toUpperCase(), town]));
const ukPostcode = /^([A-Z]{1,2}\d[A-Z\d]?)(?: ?([\dO][A-Z]{0,2}))?\W*$/;

/**
 * The post town of a UK postcode, and what it was derived from: "from postcode EH14". If the first half has several towns:
 * the one of the longest known prefix, else the one in the organisation's name, else the first.
 */
export function postTown(postcode: string, name: string): { city: string; rule: string } | null {
  const [, district = "", rest = ""] = ukPostcode.exec(postcode.trim().toUpperCase()) ?? [];
  const rule = `${fromPostcode}${district}`;
  for (let length = rest.length; length > 0; length--) {
    const city = townsByCode.get(`${district} ${rest.slice(0, length)}`);
    if (city !== undefined) return { city, rule };
  }
  const named = alsoByCode.get(district)?.find((town) => fold(name).includes(fold(town)));
  const city = named ?? townsByCode.get(district);
  return city === undefined ? null : { city, rule };
}

/** The post town in place of a postcode, even if cut off after eight letters; null for none or several. */
export function townInsteadOfPostcode(text: string): string | null {
  const written = text.trim().toUpperCase();
  // A text that also begins the name of a county is ambiguous.
  if (written.length < 3 || postTowns.cut.includes(written)) return null;
  const whole = townsByName.get(written);
  if (whole !== undefined || written.length !== 8) return whole ?? null;
  const begun = [...townsByName].filter(([town]) => town.startsWith(written));
  return begun.length === 1 ? (begun[0]?.[1] ?? null) : null;
}

/** The part of the master file that holds rows without a state. */
export const bmfForeign = "foreign";

/** The name of a state or province by its code or name, in any letter case; null for any other text. */
export const provinceName = (country: string, text: string): string | null =>
  provinces.get(country)?.get(text.trim().toUpperCase()) ?? null;

function foreignPlace(street: string, named: string): Place {
  const marked = marks.find(([mark]) => mark.test(street));
  if (marked !== undefined) {
    return { country_code: marked[1], region: null, city: townOf(street, marked[1]).city };
  }
  const town = towns.get(named);
  if (town !== undefined) return { country_code: town, region: null, city: readablePlace(named) };
  const country_code = foreignCountry(named);
  const american = armedForcesPlace(street) ?? americanPlace(street, country_code);
  if (american !== null) return american;
  // These are the first entries in the register's list of countries, and almost always chosen by mistake.
  if (slips.has(named) && !slipEvidence.test(street)) {
    const zip = / (\d{5})(?:-?\d{4})?$/.test(` ${street}`);
    return {
      country_code: zip ? "US" : null,
      region: null,
      city: zip ? townOf(street, null).city : null,
    };
  }
  return { country_code, ...townOf(street, country_code) };
}

const foreignCountry = (named: string): string | null => {
  const spelt = spellings.get(named);
  return spelt === undefined ? countryOf(named) : spelt;
};

/** "APO AE 09012" or "APO 09012": a post office of the armed forces. */
function armedForcesPlace(street: string): Place | null {
  const forces = /\b[AFD]PO (AE|AP|AA|09|34|96)(?:\d{3})?\b/.exec(street)?.[1];
  if (forces === undefined) return null;
  return { country_code: "US", region: armedForces.get(forces) ?? null, city: null };
}

/** "YARDLEY PA 19067" under any country: state and ZIP code give the true place. */
function americanPlace(street: string, country: string | null): Place | null {
  const [, before = "", state, zip] = stateAtEnd.exec(street) ?? [];
  if (state === undefined || country === "IT" || (state === country && ownCodes.has(state)))
    return null;
  const code = statesByName.get(state);
  // A state's code without a ZIP code may mean anything; its full name is clear enough.
  if (zip === undefined && code === undefined) return null;
  const region = states.get(code ?? state) ?? null;
  return { country_code: "US", region, city: townName(withoutState(before)) };
}

const withoutState = (text: string): string => stateAtEnd.exec(text)?.[1] ?? text;

/** Town and region in a foreign street line: what remains without post codes, if that is at most three words. */
function townOf(street: string, country: string | null): Omit<Place, "country_code"> {
  const bare = street
    // Some write I for 1 and O for 0.
    .replace(/ [A-Z]{1,2}\d[A-Z\d]? ?[\dIO][A-Z]{2}$/, "")
    .replace(/ [A-Z]\d[A-Z] ?\d[A-Z]\d$/, "")
    .replaceAll(notTowns, "")
    .trim();
  if (/^\d{1,3}\b|BOX|^LOCAL$/.test(street)) return { city: null, region: null };
  const [, before = "", code = ""] = provinceAtEnd.exec(bare) ?? [];
  const region = country === null ? null : provinceName(country, code);
  const town = region === null ? bare : before;
  const usTown = country === "VI" ? town.replace(/ (?:VI|VIRGIN ISLANDS)$/, "") : town;
  return { city: townName(usTown), region };
}

function townName(text: string): string | null {
  const once = text === "PAGO PAGO" ? text : text.replace(/^(.+) \1$/, "$1");
  const words = once.split(" ").filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  // "TEL AVIV ISRAEL" ends with the country.
  if (words.length > 1 && last.length > 3 && countryOf(last) !== null && last !== "MEXICO")
    words.pop();
  // Remove the rest of a post code or province code: "ROMA RM".
  while (/^(?:[A-Z]{1,2}|-)$/.test(words.at(-1) ?? "")) words.pop();
  const town = words.join(" ");
  // Road Town, Street and Chester le Street are towns.
  const isNoTown = /\d|(?<! LE) (?:AVENUE|ROAD|STREET)\b/.test(town);
  return words.length === 0 || words.length > 3 || isNoTown ? null : readablePlace(town);
}

function longestFirst(names: readonly string[]): string[] {
  return names.toSorted((a, b) => b.length - a.length);
}
