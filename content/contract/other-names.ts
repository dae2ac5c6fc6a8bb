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
export const usualName = (given: string, known: readonly string[]): string | null =>
  known.includes(given) ? given : named(letters(given), known, [sameNames]);

function named(name: string, known: readonly string[], tables: readonly Names[]): string | null {
  const own = known.find((one) => letters(one) === name);
  const meant = tables.flatMap((table) => table.get(name) ?? []);
  return own ?? meant.find((one) => known.includes(one)) ?? null;
}

/** The known name that was meant: by another name, a slip of the hand, or a part in common; null where none is near. */
export function nearestName(given: string, known: readonly string[]): string | null {
  const name = letters(given);
  const slips = Math.min(slipsMax, Math.floor(name.length / lettersPerSlip));
  // The names of elsewhere are misspelt as well: quary is query, and that is q.
  const [slipped] = [...known, ...sameNames.keys()]
    .map((one) => ({ one, distance: editDistance(name, letters(one), slips) }))
    .filter(({ one }) => named(letters(one), known, [sameNames]) !== null)
    .filter(({ distance }) => distance <= slips)
    .sort((a, b) => a.distance - b.distance);
  return (
    named(name, known, [sameNames, nearNames]) ??
    (slipped === undefined ? null : named(letters(slipped.one), known, [sameNames])) ??
    known.find((one) => sharesPart(given.slice(0, nameLengthMax), one)) ??
    null
  );
}

const sharesPart = (name: string, known: string): boolean =>
  name.split("_").includes(known) || known.split("_").includes(name);

/** What to say of a name that nothing has here: what does not have it, the nearest, and all. */
export function unknownName(what: string, given: string, known: readonly string[]): string {
  const near = nearestName(given, known);
  const nearest = near === null ? "" : ` The nearest: ${near}.`;
  const all = known.length === 0 ? "There is none." : `There are ${known.join(", ")}.`;
  return `${given.slice(0, 100)} is no ${what} here.${nearest} ${all}`;
}
