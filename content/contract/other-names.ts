import others from "#content/editorial/other-names.json";
import { editDistance } from "./base/edit-distance.ts";

const nameLengthMax = 60;
/** One typing error is allowed per this many letters, three at most. */
const lettersPerSlip = 3;
const slipsMax = 3;

/** The letters and digits of a name, so that country_code, countryCode and country-code are equal. */
const letters = (name: string): string =>
  name
    .slice(0, nameLengthMax)
    .replaceAll(/[^\p{L}\p{N}]+/gu, "")
    .toLowerCase();

type Names = ReadonlyMap<string, readonly string[]>;
const tableOf = (names: Record<string, string[]>): Names =>
  new Map(Object.entries(names).map(([name, here]) => [letters(name), here]));

/** Names that other APIs use, with ours, the likeliest first. */
const sameNames = tableOf(others.same);
/** Names with almost the same meaning: another unit, or another form of value. */
const nearNames = tableOf(others.near);

/**
 * The known name for an equivalent name from elsewhere (query, countryCode), so that its value can be used unchanged; null
 * if there is none.
 */
export const usualName = (name: string, names: readonly string[]): string | null =>
  names.includes(name) ? name : named(letters(name), names, [sameNames]);

function named(name: string, names: readonly string[], tables: readonly Names[]): string | null {
  const exact = names.find((candidate) => letters(candidate) === name);
  const meant = tables.flatMap((table) => table.get(name) ?? []);
  return exact ?? meant.find((candidate) => names.includes(candidate)) ?? null;
}

/** The known name that was probably meant, despite another name, a typing error or a common part; null if none is near. */
export function nearestName(text: string, names: readonly string[]): string | null {
  const name = letters(text);
  const slips = Math.min(slipsMax, Math.floor(name.length / lettersPerSlip));
  // Names from elsewhere can be misspelt too: quary is query, which is q.
  const [slipped] = [...names, ...sameNames.keys()]
    .map((candidate) => ({
      one: candidate,
      distance: editDistance(name, letters(candidate), slips),
    }))
    .filter(({ one }) => named(letters(one), names, [sameNames]) !== null)
    .filter(({ distance }) => distance <= slips)
    .sort((a, b) => a.distance - b.distance);
  return (
    named(name, names, [sameNames, nearNames]) ??
    (slipped === undefined ? null : named(letters(slipped.one), names, [sameNames])) ??
    names.find((candidate) => sharesPart(text.slice(0, nameLengthMax), candidate)) ??
    null
  );
}

const sharesPart = (name: string, other: string): boolean =>
  name.split("_").includes(other) || other.split("_").includes(name);

/** The message about an unknown name: what does not have it, the nearest name, and all names. */
export function unknownName(what: string, name: string, names: readonly string[]): string {
  const near = nearestName(name, names);
  const nearest = near === null ? "" : ` The nearest: ${near}.`;
  const all = names.length === 0 ? "There is none." : `There are ${names.join(", ")}.`;
  return `${name.slice(0, 100)} is no ${what} here.${nearest} ${all}`;
}
