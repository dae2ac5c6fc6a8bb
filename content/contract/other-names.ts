import others from "#content/editorial/other-names.json";
import { editDistance } from "./base/edit-distance.ts";

const nameLengthMax = 60;
/** A slip of the hand for so many letters, three at most. */
const lettersPerSlip = 3;
const slipsMax = 3;

/** The letters and digits of a name: country_code, countryCode and country-code are one. */
const letters = (name: string): string =>
  name
    .slice(0, nameLengthMax)
    .replaceAll(/[^\p{L}\p{N}]+/gu, "")
    .toLowerCase();

type Names = ReadonlyMap<string, readonly string[]>;
const tableOf = (names: Record<string, string[]>): Names =>
  new Map(Object.entries(names).map(([name, here]) => [letters(name), here]));

/** What parameters and members are called elsewhere, with what that is called here, the likeliest first. */
const sameNames = tableOf(others.same);
/** The same for names that mean nearly so much: another unit, or another form of value. */
const nearNames = tableOf(others.near);

/**
 * The known name that one says which is used elsewhere for the very same (query, countryCode), so that its value can be
 * taken as it is; null where none does.
 */
export const usualName = (name: string, names: readonly string[]): string | null =>
  names.includes(name) ? name : named(letters(name), names, [sameNames]);

function named(name: string, names: readonly string[], tables: readonly Names[]): string | null {
  const exact = names.find((candidate) => letters(candidate) === name);
  const meant = tables.flatMap((table) => table.get(name) ?? []);
  return exact ?? meant.find((candidate) => names.includes(candidate)) ?? null;
}

/** The known name that was meant: by another name, a slip of the hand, or a part in common; null where none is near. */
export function nearestName(text: string, names: readonly string[]): string | null {
  const name = letters(text);
  const slips = Math.min(slipsMax, Math.floor(name.length / lettersPerSlip));
  // The names of elsewhere are misspelt as well: quary is query, and that is q.
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

/** What to say of a name that nothing has here: what does not have it, the nearest, and all. */
export function unknownName(what: string, name: string, names: readonly string[]): string {
  const near = nearestName(name, names);
  const nearest = near === null ? "" : ` The nearest: ${near}.`;
  const all = names.length === 0 ? "There is none." : `There are ${names.join(", ")}.`;
  return `${name.slice(0, 100)} is no ${what} here.${nearest} ${all}`;
}
